"""sundog plan: what a budget buys, before anything is spent. It reads a schema and no data."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from sundog.api.writing import prepare_file
from sundog.cli import options as o
from sundog.cli.groups import grouped
from sundog.cli.output import say
from sundog.errors import UserError

SchemaPath = Annotated[Path, typer.Argument(help="The public schema (Table Schema JSON).")]
RowsAssumed = Annotated[int, typer.Option("--rows", help="How many rows there are, or are assumed to be.")]
Epsilons = Annotated[str, typer.Option("--epsilon", help="Budgets to look at, separated by commas.")]
Delta = Annotated[float, typer.Option(help="The chance that epsilon does not hold.")]
Method = Annotated[str, typer.Option(help="The method; errors of pairs are predicted for auto.")]
Neighbours = Annotated[
    Literal["add-remove", "replace"],
    typer.Option("--neighbours", help="add-remove: the number of rows is private; replace: it is public."),
]
RowsPerUnit = Annotated[int, typer.Option(help="How many rows of one person are used at most.")]
ColumnError = Annotated[
    str | None, typer.Option(metavar="PERCENT", help="Solve for epsilon: the error wanted of every column, such as 1%.")
]
PairError = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN=]PERCENT", help="The same for all pairs, or for those with a column; may be repeated."
    ),
]
Html = Annotated[Path | None, typer.Option("--html", help="Write a page with a picture.")]


@dataclass(frozen=True)
class Assumed:
    """The budgets to look at, and what they are spent on."""

    rows: RowsAssumed
    epsilon: Epsilons = "0.1,1,3"
    delta: Delta = 1e-9
    method: Method = "auto"
    neighbours: Neighbours = "add-remove"
    rows_per_unit: RowsPerUnit = 1


@dataclass(frozen=True)
class Wanted:
    """The errors to solve for."""

    column_error: ColumnError = None
    pair_error: PairError = None


@grouped
def plan(
    schema: SchemaPath,
    *,
    assumed: Assumed,
    wanted: Wanted,
    html: Html = None,
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Predict the errors of columns, pairs, means and medians for a range of epsilons, or find the epsilon that is needed.

    It reads the schema and no data, and spends nothing.
    """
    from sundog.api.plan import plan as make_plan

    made = make_plan(
        schema,
        **(vars(assumed) | {"epsilon": [_number("--epsilon", part) for part in assumed.epsilon.split(",")]}),
        column_error=None if wanted.column_error is None else _share("--column-error", wanted.column_error),
        pair_error=_pair_errors(wanted.pair_error),
    )
    if html is not None:
        prepare_file(html, force=force)
        html.write_text(made.to_html(), encoding="utf-8")
    say(made.to_json(), [made.to_text(), *([f"Page: {html}"] if html else [])], as_json=json)


def _pair_errors(given: list[str] | None) -> dict[str, float]:
    made = {}
    for text in given or []:
        column, equals, error = text.rpartition("=")
        made[column if equals else "*"] = _share("--pair-error", error)
    return made


def _share(option: str, text: str) -> float:
    """A share as people write it: 1% or 0.01."""
    cut = text.strip()
    return _number(option, cut.removesuffix("%")) / (100 if cut.endswith("%") else 1)


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{option}: found {text!r}; it must be a number, such as 1.") from None
