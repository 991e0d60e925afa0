"""sundog compare: which method suits these released measurements? By public values only; it costs no privacy."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.cli import options as o
from sundog.cli.output import progress, say

if TYPE_CHECKING:
    from sundog.methods.compare import Standing


def compare(
    released: Annotated[Path, typer.Argument(help="The file that `sundog measure` or `synthesize` wrote.")],
    *,
    method: Annotated[list[str] | None, typer.Option(help="A method to compare (repeatable); default: all.")] = None,
    folds: Annotated[int, typer.Option(help="In how many parts measurements are held out in turn.")] = 3,
    seed: Annotated[int, typer.Option(help="Fixes the parts and the fits.")] = 0,
    json: o.AsJson = False,
) -> None:
    """Fit several methods to parts of the measurements and rank them by how well they predict the rest."""
    with progress("starting") as report:
        from sundog.methods.compare import compare as compare_methods
        from sundog.released import Released

        standings = compare_methods(
            Released.load(released), methods=method or (), folds=folds, seed=seed, report=report
        )
    say({"ranking": [_document(standing) for standing in standings]}, _table(standings), as_json=json)


def _document(standing: "Standing") -> dict[str, Any]:
    document = {"method": standing.method, "heldOut": standing.held_out, "fit": standing.fit}
    return document | ({"refused": standing.refused} if standing.refused else {})


def _table(standings: list["Standing"]) -> list[str]:
    width = max(len(standing.method) for standing in standings)
    lines = [f"{'method':{width}}  held out     fit   (1 = noise level, lower is better)"]
    for standing in standings:
        if standing.refused:
            lines.append(f"{standing.method:{width}}  {standing.refused}")
        else:
            lines.append(f"{standing.method:{width}}  {_number(standing.held_out)}  {_number(standing.fit)}")
    if all(standing.held_out is None for standing in standings):
        lines.append("Too few tables of several columns were measured to hold some out: ranked by fit alone.")
    return lines


def _number(value: float | None) -> str:
    return f"{'-' if value is None else format(value, '.2f'):>8}"
