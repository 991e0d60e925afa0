"""Groups of options: each is a dataclass, declared once; commands receive it whole.

Those that Python users have too are the API's own (api/options.py): their fields carry a type and a meaning, and become
options here. What a terminal cannot give as such (a mapping of settings) is read in `_read`.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from sundog.api.options import Charged, Consent, Privacy
from sundog.cli import options as o
from sundog.cli.output import read_settings
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.api.making import Private
    from sundog.domain import Dialect, Schema
    from sundog.private.table import PrivateTable

KINDS = {
    "workload": Path | None,
    "public": str | None,
    "ledger": Path | None,
    "sign": Path | None,
    "settings": list[str] | None,
}
"""Fields that Python users may also give as objects, as a terminal gives them."""
FLAGS = {
    "settings": ("--set", "NAME=VALUE"),
    "confirmed": ("--yes", None),
    "accept_unreviewed": ("--accept-unreviewed", None),
    "new_account": ("--new-account", None),
}


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How text files are written: what is given here takes precedence over what the schema's `dialect` says."""

    delimiter: o.Delimiter = None
    encoding: Annotated[str | None, "A text file's encoding, such as windows-1252; default: utf-8."] = None
    quote: Annotated[str | None, "The quote character of a text file; '' for none; default: \"."] = None
    escape: Annotated[str | None, "What escapes a quote in a quoted cell, such as '\\'; default: doubling."] = None
    decimal: Annotated[str | None, "The decimal mark of numbers in text; default: a point."] = None
    thousands: Annotated[str | None, "The mark between groups of digits in text; default: none."] = None
    signs: o.Signs = None
    header: o.Header = None
    multiline: o.Multiline = None

    def given(self) -> dict[str, Any]:
        """The keys of the dialect that are given."""
        keys = {
            "delimiter": self.delimiter,
            "encoding": self.encoding,
            "quoteChar": self.quote,
            "escapeChar": self.escape,
            "decimalChar": self.decimal,
            "groupChar": self.thousands,
            "bareNumber": None if self.signs is None else not self.signs,
            "header": self.header,
            "multiline": self.multiline,
        }
        return {key: value for key, value in keys.items() if value is not None}

    def amend(self, schema: "Schema") -> "Schema":
        """The schema with what is given."""
        return schema.with_dialect(self.given())


@dataclass(frozen=True, kw_only=True)
class TableOptions(TextOptions):
    """Where the private table is, and how it is read."""

    data: o.Data
    sql: o.Sql = None

    def open(self, dialect: "Dialect") -> "PrivateTable":
        """The table, closed to everything but the curator."""
        from sundog.private.table import PrivateTable

        return PrivateTable(self.data, dialect=dialect, sql=self.sql)


@dataclass(frozen=True, kw_only=True)
class CountedOptions(TableOptions):
    """The private table, and what counts it."""

    engine: o.Engine = None
    master: o.Master = None
    push_down: o.PushDown = False

    def private(self) -> "Private":
        """The table as it is named."""
        from sundog.api.making import Private

        if self.engine is None and self.master is not None:
            raise UserError("--master: it names a Spark cluster; add --engine spark.")
        if self.engine is not None and self.push_down:
            raise UserError(
                "--push-down: a database server counts, so there is nothing for --engine to do; leave one out."
            )
        return Private(self.data, self.sql, None if self.engine is None else self.master or "local[*]", self.push_down)


@dataclass(frozen=True)
class Paying:
    """All that spending needs: the budget and who is protected, the account, and what the owner says yes to."""

    privacy: Privacy
    charged: Charged
    consent: Consent


@dataclass(frozen=True)
class Writing:
    """How results are written."""

    format: o.Format = "csv"
    force: o.Force = False
    json: o.AsJson = False


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command for Typer in which each dataclass parameter is spread out into its fields, groups within it too."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        flat += _spread(groups[parameter.name]) if parameter.name in groups else [_keyword(parameter, hints)]

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = _gathered(kind, given)
        command(**given)

    del call.__wrapped__
    call.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return call


def _spread(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(kind).parameters.values():
        inner = hints[parameter.name]
        flat += _spread(inner) if is_dataclass(inner) else [_keyword(parameter, hints)]
    return flat


def _gathered(kind: Any, given: dict[str, Any]) -> Any:
    """The dataclass of a group; its options are taken out of what was given."""
    hints = get_type_hints(kind)
    return kind(
        **{
            field.name: _gathered(hints[field.name], given)
            if is_dataclass(hints[field.name])
            else _read(field.name, given.pop(field.name))
            for field in fields(kind)
        }
    )


def _keyword(parameter: inspect.Parameter, hints: dict[str, Any]) -> inspect.Parameter:
    annotation = _option(parameter.name, hints[parameter.name])
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation)


def _option(name: str, hint: Any) -> Any:
    """A field with its meaning as an option; what is one already stays."""
    kind, *notes = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    if not notes or not isinstance(notes[0], str):
        return hint
    flag, metavar = FLAGS.get(name, (f"--{name.replace('_', '-')}", None))
    return Annotated[KINDS.get(name, kind), typer.Option(flag, metavar=metavar, help=notes[0])]


def _read(name: str, given: Any) -> Any:
    return read_settings(given) if name == "settings" else given
