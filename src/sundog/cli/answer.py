"""sundog answer: numbers from a release, each with an interval and its origin. No private data; no cost."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.writing import prepare_file
from sundog.cli import options as o
from sundog.cli.groups import grouped
from sundog.cli.output import say
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.api.answer import Asked
    from sundog.released import Released
    from sundog.report.answer_table import AnswerTable

Folder = Annotated[Path, typer.Argument(help="The folder of a release, or its released.json.")]
By = Annotated[str | None, typer.Option(help="One to three columns, separated by commas.")]
Where = Annotated[str | None, typer.Option(help='A condition, such as "age >= 65 and sex = female".')]
Share = Annotated[list[str] | None, typer.Option(metavar="COLUMN[=LABEL]", help="Shares of a column's labels.")]
Mean = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="The mean of a numeric column.")]
Sum = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="The sum of a numeric column.")]
Quantile = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN=P,...", help="Quantiles, such as waiting_minutes=0.5,0.9.")
]
Count = Annotated[
    bool, typer.Option("--count", help="Counts as well; they come by themselves if nothing else is asked.")
]
Confidence = Annotated[float, typer.Option(help="How sure the intervals are.")]
Csv = Annotated[Path | None, typer.Option("--csv", help="Write the answers into a CSV file.")]


@dataclass(frozen=True)
class Asking:
    """What is asked of a release: statistics, groups and a condition."""

    by: By = None
    where: Where = None
    count: Count = False
    share: Share = None
    mean: Mean = None
    sum: Sum = None
    quantile: Quantile = None
    confidence: Confidence = 0.95


@grouped
def answer(folder: Folder, *, asking: Asking, csv: Csv = None, force: o.Force = False, json: o.AsJson = False) -> None:
    """Answer questions from a release: counts, shares, means, sums, quantiles, each with an interval and its origin.

    Public values only; it costs no privacy. Repeat --mean, --share and so on to ask for several. Of linked tables, columns are
    written TABLE.COLUMN.
    """
    from sundog.api.answer import Asked
    from sundog.api.release_folder import refuse_inside_release
    from sundog.released import Released

    path = folder / "released.json" if folder.is_dir() else folder
    released = Released.load(path)
    read = {"by": _columns(asking.by, released.schema.widened.names), "quantile": _quantiles(asking.quantile)}
    asked = Asked(**(vars(asking) | read))
    if csv is not None:
        refuse_inside_release(csv)
        prepare_file(csv, force=force)
    found = _answered(released, asked, path)
    if csv is not None:
        from pyarrow import csv as arrow_csv

        arrow_csv.write_csv(found.to_arrow(), csv, arrow_csv.WriteOptions(quoting_style="needed"))
    lines = [f"Answers: {csv} ({len(found)} lines)", *found.notes()] if csv is not None else [found.to_text()]
    say(found.to_json(), lines, as_json=json)


def _answered(released: "Released", asked: "Asked", path: Path) -> "AnswerTable":
    """The answers from a release; synthetic rows are made only where a question needs them."""
    from sundog.api.answer import Answers, question_of
    from sundog.api.answer_linked import ask_linked
    from sundog.api.making import linked_names

    def rows() -> Any:
        from sundog.api.model import load

        if not (path.parent / "model.json").exists():
            raise UserError(
                f"{str(path.parent)!r} holds measurements but no model, and this question needs synthetic rows, since no released "
                "measurement covers it; make them with: sundog generate."
            )
        return load(path.parent).rows()

    if linked_names(released.schema):
        return ask_linked(released, rows, asked)
    return Answers(released, rows).ask(question_of(released.schema.widened, asked), where=asked.where)


def _columns(text: str | None, names: tuple[str, ...]) -> list[str]:
    """Names separated by commas; a column whose own name has a comma may be given alone."""
    if text is None or text in names:
        return [] if text is None else [text]
    return [name.strip() for name in text.split(",")]


def _quantiles(given: list[str] | None) -> dict[str, list[float]]:
    made: dict[str, list[float]] = {}
    for text in given or []:
        found = re.fullmatch(r"(.+)=([0-9.]+(?:,[0-9.]+)*)", text)
        try:
            probabilities = [float(part) for part in found[2].split(",")] if found else []
        except ValueError:
            probabilities = []
        if found is None or not probabilities:
            raise UserError(f"--quantile: found {text!r}; write COLUMN=0.5 or COLUMN=0.5,0.9.")
        made.setdefault(found[1], []).extend(probabilities)
    return made
