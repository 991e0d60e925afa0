"""evaluate_linked: synthetic linked tables beside the real ones. CONFIDENTIAL: computed on real rows without noise.

The real tables come through the one door that writes the disclosure into the ledger first (private.disclose).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.api.linked import located
from sundog.api.options import Charged
from sundog.api.writing import linked_name
from sundog.domain import Schema
from sundog.domain.linked.reading import declared
from sundog.domain.linked.views import LinkedSchema
from sundog.errors import UserError
from sundog.evaluate.linked import LinkedScore, Viewed, linked_scores
from sundog.evaluate.reading import open_synthetic
from sundog.private.disclose import BRAND, disclose_views
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTables
from sundog.random.keys import key_of
from sundog.sources.linked import LinkedSource


@dataclass(frozen=True)
class LinkedEvaluation:
    """The figures, and those of a floor: the real tables with their children dealt to random parents."""

    brand: str
    dataset: str
    scores: tuple[LinkedScore, ...]
    floor: tuple[LinkedScore, ...]
    rowless: tuple[str, ...] = ()
    """Tables that have no rows on one side, so that most figures are left out."""

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain JSON."""
        return {
            "brand": self.brand,
            "dataset": self.dataset,
            "scores": [_plain(score) for score in self.scores],
            "childrenDealtToRandomParents": [_plain(score) for score in self.floor],
            "tablesWithoutRows": list(self.rowless),
        }

    def to_lines(self) -> list[str]:
        """The same for people."""
        known = {(score.table, score.name): score.value for score in self.floor}
        lines = [self.brand, "", f"{'table':<20}{'figure':<34}{'synthetic':>10}{'dealt at random':>18}"]
        for score in self.scores:
            floor = known.get((score.table, score.name))
            shown = "-" if floor is None else f"{floor:.4f}"
            name = f"{score.name} ({score.better} is better)"
            lines.append(f"{score.table:<20}{name:<34}{score.value:>10.4f}{shown:>18}")
        named = ", ".join(repr(name) for name in self.rowless)
        return [
            *lines,
            "",
            *([f"Without rows in the real or in the synthetic tables, so not compared: {named}."] if named else []),
            "Dealt at random: the real tables, with the rows of each child table given to random parents.",
        ]


def _plain(score: LinkedScore) -> dict[str, Any]:
    return {"table": score.table, "name": score.name, "value": score.value, "better": score.better}


def evaluate_linked(
    real: Any,
    synthetic: Any,
    *,
    schema: Schema | Mapping[str, Any] | str | Path,
    dataset: str | None = None,
    ledger: Ledger | str | Path | None = None,
    new_account: bool = False,
    learning: bool | None = None,
    seed: int = 0,
) -> LinkedEvaluation:
    """Compare synthetic linked tables (frames by name, or a release folder) with the real ones.

    Args:
        real: the real tables, by name or where they lie; they are disclosed to this computation, and the ledger says so.
        synthetic: the tables to judge, by name, or the folder of a release.
        schema: the Data Package, a document or the path of one.
        dataset: the ledger's account; by default the package's name.
        ledger: the ledger, or its path.
        new_account: open a new account although its name looks like that of an existing one.
        learning: train a model (needs scikit-learn); by default where it is installed.
        seed: draws which parents the floor's children get.
    """
    public = declared(schema)
    if not isinstance(public, LinkedSchema):
        raise UserError("evaluate_linked: the schema is of one table; use evaluate_tables.")
    charged = Charged.to(ledger, dataset, new_account=new_account)
    account = charged.account(public.name)
    schemas = {table.name: table.schema for table in public.package.tables}
    sources = {name: open_synthetic(table, schemas[name]) for name, table in _synthetic(public, synthetic).items()}
    made = LinkedSource(public.package, sources)
    made.check(public.names)
    private = PrivateTables(public.package, located(public.package, real))
    held = disclose_views(private, public, purpose="evaluation", dataset=account, ledger=charged.open_ledger())
    scores = linked_scores(public, real=held, synthetic=made, learning=learning)
    floor = linked_scores(public, real=held, synthetic=held.dealt(key_of(seed)), learning=learning)
    return LinkedEvaluation(BRAND, account, tuple(scores), tuple(floor), _rowless(public, (held, made)))


def _rowless(schema: LinkedSchema, sides: Sequence[Viewed]) -> tuple[str, ...]:
    """The tables that have no rows on some side."""
    names = [table.name for table in schema.package.tables]
    return tuple(name for name in names if not all(len(side.parents_of(name)[0]) for side in sides))


def _synthetic(schema: LinkedSchema, given: Any) -> dict[str, Any]:
    """Frames by name, or the files of a release."""
    if isinstance(given, Mapping):
        return located(schema.package, given)
    if not isinstance(given, str | Path):
        raise UserError(
            f"evaluate: the synthetic tables are a {type(given).__name__}; give a mapping of names to tables, or the folder of a release."
        )
    folder = Path(given)
    found: dict[str, Any] = {}
    for table in schema.package.tables:
        names = [folder / linked_name(table.name, ending) for ending in ("csv", "parquet")]
        there = next((path for path in names if path.exists()), None)
        if there is None:
            raise UserError(
                f"evaluate: {str(folder)!r} holds no synthetic table {table.name!r}; name the folder of a release."
            )
        found[table.name] = str(there)
    return found
