"""Groups of options that several commands take: each is a dataclass, declared once; commands receive it whole."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from sundog.cli import options as o

if TYPE_CHECKING:
    from sundog.domain.unit import PrivacyUnit
    from sundog.private.ledger import Ledger
    from sundog.private.table import PrivateTable


@dataclass(frozen=True)
class TableOptions:
    """The private table and its account."""

    data: o.Data
    delimiter: o.Delimiter = None
    sql: o.Sql = None
    dataset: o.Dataset = None
    ledger: o.LedgerFile = None

    def account(self, schema_name: str | None) -> str:
        """The ledger's account: as given, else the schema's name, else the data file's."""
        return self.dataset or schema_name or Path(self.data).name.split(".")[0] or "unnamed"

    def open(self) -> "PrivateTable":
        """The table, closed to everything but the curator."""
        from sundog.private.table import PrivateTable

        return PrivateTable(self.data, delimiter=self.delimiter, sql=self.sql)

    def open_ledger(self) -> "Ledger":
        """The ledger."""
        from sundog.private.ledger import Ledger

        return Ledger(self.ledger)


@dataclass(frozen=True)
class PrivacyOptions:
    """The budget and the unit that it protects."""

    epsilon: o.Epsilon = None
    delta: o.Delta = None
    rho: o.Rho = None
    neighbours: o.NeighboursOption = "add-remove"
    unit: o.Unit = None
    rows_per_unit: o.RowsPerUnit = 1

    def protected_unit(self) -> "PrivacyUnit":
        """The neighbour relation and the unit."""
        from sundog.domain.unit import PrivacyUnit

        return PrivacyUnit(self.neighbours, self.unit, self.rows_per_unit)


@dataclass(frozen=True)
class MethodOptions:
    """How the synthetic rows are made."""

    method: o.Method = "auto"
    workload: o.WorkloadFile = None
    set: o.Set = None
    public: o.Public = None
    adjust: o.Adjust = None
    adjust_share: o.AdjustShare = 0.2
    seed: o.Seed = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command for Typer in which each dataclass parameter is spread out into its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        flat += _spread(groups[parameter.name]) if parameter.name in groups else [_keyword(parameter, hints)]

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})  # type: ignore[operator]
        command(**given)

    del call.__wrapped__
    call.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return call


def _spread(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [_keyword(parameter, hints) for parameter in inspect.signature(kind).parameters.values()]


def _keyword(parameter: inspect.Parameter, hints: dict[str, Any]) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
