"""sundog evaluate: how alike synthetic tables are to the real one. CONFIDENTIAL: it looks at real rows without noise."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.options import Charged
from sundog.api.writing import prepare_file, write_confidential
from sundog.cli import options as o
from sundog.cli.groups import TextOptions, grouped
from sundog.cli.output import load_schema, progress, say
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.api.evaluation import Evaluation
    from sundog.domain import Schema

Real = Annotated[str, typer.Option("--real", help="The real table; the disclosure is written into the ledger.")]
Test = Annotated[str | None, typer.Option("--test", help="Real rows that the synthesizer never saw, for learning.")]
Synthetic = Annotated[Path, typer.Option("--synthetic", help="The synthetic table, made by Sundog or another tool.")]
Compare = Annotated[list[Path] | None, typer.Option("--compare", help="More synthetic tables, side by side.")]
More = Annotated[list[Path] | None, typer.Argument(help="Further tables after --compare.", metavar="[FILE ...]")]
ReleasedFile = Annotated[
    Path | None, typer.Option("--released", help="A released.json whose queries are the workload.")
]
Html = Annotated[Path | None, typer.Option("--html", help="Write a page for people (mode 0600).")]
CommonColumns = Annotated[bool, typer.Option("--common-columns", help="Compare only the columns that all tables have.")]
Learning = Annotated[
    bool | None,
    typer.Option("--learning/--no-learning", help="Train models; default: if scikit-learn is there."),
]
Analyses = Annotated[
    list[str] | None,
    typer.Option("--analysis", help="An analysis to do on both tables, such as 'income ~ age + sex'; may be repeated."),
]
Scores = Annotated[Path | None, typer.Option("--scores", help="Write the scores as a Parquet table (mode 0600).")]
Seed = Annotated[int, typer.Option(help="Draws the random queries; keep it to compare with other evaluations.")]


@dataclass(frozen=True, kw_only=True)
class EvaluatedTables(TextOptions):
    """The tables that are compared."""

    real: Real
    synthetic: Synthetic
    more: More = None
    compare: Compare = None
    test: Test = None


@dataclass(frozen=True)
class Comparing:
    """How they are compared."""

    released: ReleasedFile = None
    common_columns: CommonColumns = False
    learning: Learning = None
    analysis: Analyses = None
    seed: Seed = 0


@grouped
def evaluate(
    tables: EvaluatedTables,
    *,
    schema: o.SchemaFile,
    comparing: Comparing,
    charged: Charged,
    html: Html = None,
    scores: Scores = None,
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Compare synthetic tables with the real one. CONFIDENTIAL: not for release; the ledger records the disclosure."""
    with progress("starting") as report:
        from sundog.api.evaluate import evaluate_tables
        from sundog.api.making import linked_names
        from sundog.released import Released

        for written in (html, scores):
            if written is not None:
                prepare_file(written, force=force)
        public = tables.amend(load_schema(schema, linked=True))
        if linked_names(public):
            _evaluate_linked(tables, public, comparing, charged=charged, as_json=json, files=(html, scores))
            return
        found = evaluate_tables(
            tables.real,
            _named([tables.synthetic, *(tables.compare or []), *(tables.more or [])]),
            schema=public,
            test=tables.test,
            released=None if comparing.released is None else Released.load(comparing.released),
            dataset=charged.account(public.name, tables.real),
            ledger=charged.ledger,
            new_account=charged.new_account,
            common_columns=comparing.common_columns,
            learning=comparing.learning,
            analyses=comparing.analysis or (),
            seed=comparing.seed,
            progress=report,
        )
        if html is not None:
            write_confidential(html, found.to_html())
        if scores is not None:
            found.to_parquet(scores)
    files = [f"{kind} (mode 0600): {path}" for kind, path in (("Page", html), ("Scores", scores)) if path is not None]
    say(found.to_json(), [*text_lines(found), *files], as_json=json)


def _evaluate_linked(
    tables: EvaluatedTables,
    schema: "Schema",
    comparing: Comparing,
    *,
    charged: Charged,
    as_json: bool,
    files: tuple[Path | None, Path | None],
) -> None:
    """The figures of linked tables; they are one package against another, in words and JSON."""
    from sundog.api.evaluate_linked import evaluate_linked

    if any([*files, tables.more, tables.compare, tables.test, comparing.released, comparing.analysis]):
        raise UserError(
            "evaluate: of linked tables one release is compared with the real tables, in text or --json; leave out --html, "
            "--scores, --compare, --test, --released and --analysis."
        )
    found = evaluate_linked(
        tables.real,
        tables.synthetic,
        schema=schema,
        dataset=charged.account(schema.name, tables.real),
        ledger=charged.ledger,
        new_account=charged.new_account,
        learning=comparing.learning,
        seed=comparing.seed,
    )
    say(found.to_json(), found.to_lines(), as_json=as_json)


def _named(paths: list[Path]) -> dict[str, Path]:
    """Each file under its name; under its path where two names agree."""
    if len(set(paths)) < len(paths):
        raise UserError("evaluate: the same synthetic table is named twice; name each once.")
    names = [path.name for path in paths]
    return {name if names.count(name) == 1 else str(path): path for name, path in zip(names, paths, strict=True)}


def text_lines(found: "Evaluation") -> list[str]:
    """The verdict, then the scores as a table: one line per metric, one column per table, the best marked."""
    document = found.to_json()
    learned = [{"name": "trained on real rows", "scores": document["trainedOnRealRows"]}] if found.reference else []
    shown = document["tables"] + document["baselines"] + learned
    widths = [max(len(table["name"]), 10) for table in shown]
    lines = [document["brand"], "", *found.verdict, "", _line("", [table["name"] for table in shown], widths)]
    for name, facts in document["metrics"].items():
        values = [table["scores"].get(name, {}).get("value") for table in shown]
        judged = [value for value in values[: len(found.tables)] if value is not None]
        best = (max if facts["better"] == "higher" else min)(judged)
        marks = [_number(value, best=len(judged) > 1 and value == best) for value in values]
        lines.append(_line(f"{name} ({facts['better']} is better)", marks, widths))
        lines += _protected(shown, widths) if name == "protected" else []
    lines += [f"{table.name}: {note}" for table in found.tables for note in table.notes]
    return [*lines, *found.notes]


def _protected(shown: list[dict[str, Any]], widths: list[int]) -> list[str]:
    """One line per protected statistic, where there are several: one that did not move hides in their mean."""
    parts = [table["scores"].get("protected", {}).get("parts", {}) for table in shown]
    keys = list(dict.fromkeys(key for each in parts for key in each))
    lines = [_line(f"  {key}", [_number(each.get(key), best=False) for each in parts], widths) for key in keys]
    return lines if len(lines) > 1 else []


def _line(label: str, cells: list[str], widths: list[int]) -> str:
    return f"{label:<40}" + "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _number(value: float | None, *, best: bool) -> str:
    """Four digits that matter, three for small numbers; the best of several is starred."""
    if value is None:
        return "-"
    return (f"{value:.4f}" if abs(value) >= 0.1 else f"{value:.3g}") + ("*" if best else " ")
