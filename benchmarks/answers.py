"""How often 95 % intervals of answers hold the exact value: fresh releases of three tables, the same questions each time.

Releases are made by `auto`, whole; questions that no released table covers are answered from the synthetic rows. The constants of those
answers (sundog/estimate/guesses.py) and of the insides of bins (sundog/estimate/tilt.py) were fitted to other tables than these.

python benchmarks/answers.py [--releases 68] [--json]      (of each table: 204 in all)
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import harness
from harness import DATA, Case, bars, markdown, publish

SHORT = {"releases": 17, "seeds": 1}
FULL = {"releases": 68, "seeds": 1}
CHUNK = 17
"""Releases per process."""
TABLES: dict[str, dict[str, Any]] = {
    "adult": {
        "columns": ["age", "education", "marital-status", "sex", "hours-per-week", "income"],
        "epsilon": 1.0,
        "rows": 20_000,
        "asked": [
            {"by": "education"},
            {"by": ["sex", "income"]},
            {"by": ["age", "income"]},
            {"by": "income", "where": "age >= 65"},
            {"by": "sex", "where": "'hours-per-week' > 42"},
            {"by": "sex", "mean": ["age", "hours-per-week"]},
            {"sum": "hours-per-week", "by": "income"},
            {"share": "marital-status", "where": "age < 32"},
            {"share": "income=>50K", "by": "education"},
            {"quantile": {"age": [0.25, 0.5, 0.9]}, "mean": "age"},
            {"quantile": {"age": 0.5}, "by": "income"},
            {"by": ["sex", "marital-status"], "where": "age > 50"},
        ],
    },
    "acs2024_ny_income": {
        "columns": ["AGEP", "SCHL", "WKHP", "SEX", "income_gt_50k"],
        "epsilon": 0.5,
        "rows": 10_000,
        "asked": [
            {"by": "SCHL"},
            {"by": ["SEX", "income_gt_50k"]},
            {"by": ["AGEP", "SEX"]},
            {"by": "income_gt_50k", "where": "AGEP >= 55 and AGEP < 66"},
            {"by": "SEX", "mean": ["AGEP", "WKHP"]},
            {"share": "SEX", "where": "WKHP < 33"},
            {"quantile": {"WKHP": [0.25, 0.75], "AGEP": 0.5}},
            {"quantile": {"AGEP": 0.75}, "by": "SEX"},
            {"by": ["SEX", "SCHL"], "where": "AGEP > 40"},
        ],
    },
    "bank_marketing": {
        "columns": ["age", "balance", "duration", "job", "housing", "y"],
        "epsilon": 2.0,
        "rows": 15_000,
        "asked": [
            {"by": ["job", "y"]},
            {"by": ["housing", "y"]},
            {"by": "y", "where": "duration > 500"},
            {"by": "housing", "where": "balance < 0 or balance > 2500"},
            {"by": "y", "mean": ["duration", "age"]},
            {"sum": "balance", "mean": "balance"},
            {"share": "y=yes", "by": "job"},
            {"share": "housing", "where": "age >= 35 and age < 45"},
            {"quantile": {"duration": [0.1, 0.5, 0.9], "balance": 0.5}},
            {"quantile": {"duration": 0.5}, "by": "y"},
            {"by": ["job", "housing"], "where": "duration < 100"},
        ],
    },
}


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Some releases of one table: hits and answers by origin and statistic."""
    import numpy as np
    from pyarrow import parquet

    from sundog.domain import Schema
    from sundog.sources import open_table

    facts = TABLES[settings["table"]]
    document = dict(Schema.load(DATA / f"{settings['table']}.schema.json").to_json())
    document["fields"] = [field for field in document["fields"] if field["name"] in facts["columns"]]
    document["targets"] = []
    schema = Schema.from_json(document)
    table = parquet.read_table(DATA / f"{settings['table']}.parquet", columns=facts["columns"])
    table = table.take(np.random.default_rng(0).permutation(len(table))[: facts["rows"]])
    rows = open_table(table).read(schema)
    hits: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for release in range(settings["releases"]):
        answers = _release(table, schema, facts["epsilon"], seed=seed * 1000 + release)
        for words in facts["asked"]:
            for name, hit, number in _asked(answers, rows, words):
                hits[name][0] += hit
                hits[name][1] += number
    return {name: list(numbers) for name, numbers in sorted(hits.items())}


def _release(table: Any, schema: Any, epsilon: float, *, seed: int) -> Any:
    """What answers from a fresh release."""
    from sundog import Synthesizer
    from sundog.api.answer import Answers

    with tempfile.TemporaryDirectory() as folder:
        made = Synthesizer(
            schema, epsilon=epsilon, delta=1e-6, dataset="answers", seed=seed, ledger=Path(folder) / "ledger"
        ).fit(table)
    return Answers(made.released, made.model.rows)


def _asked(answers: Any, rows: Any, words: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """For every statistic of a question its origin and name, the intervals that hold the exact value, and their number."""
    import numpy as np

    from sundog.api.answer import Asked, question_of
    from sundog.estimate.guesses import guessed_answer
    from sundog.estimate.questions import by_axes, released_answer

    question = question_of(answers.released.schema, Asked(**words))
    by = by_axes(answers.evidence, question, answers.released.schema)
    for statistic in question.statistics:
        found = released_answer(answers.evidence, question, statistic, by=by)
        if found is None:
            found = guessed_answer(answers._rows, answers._misfit, question, statistic, by=by)
        exact = _exact(rows, question, statistic, by, answers.evidence, found)
        there = ~np.isnan(exact)
        held = (found.low - 1e-9 <= exact) & (exact <= found.high + 1e-9)
        yield f"{found.origin}: {statistic.kind}", int(held[there].sum()), int(there.sum())


def _exact(rows: Any, question: Any, statistic: Any, by: Any, evidence: Any, found: Any) -> Any:
    """The exact answers, by the same cells."""
    import numpy as np

    from sundog.domain.axis import Axis
    from sundog.domain.conditions import satisfied
    from sundog.estimate.question import bounds_of

    held = np.ones(len(rows), bool) if question.where is None else satisfied(question.where, rows)
    cells = np.zeros(len(rows), dtype=np.int64)
    for axis in by:
        cells = cells * axis.size + rows.cells(axis)
    made = np.full(found.estimate.shape, np.nan)
    if statistic.kind == "count":
        made[:, 0] = np.bincount(cells[held], minlength=len(made))
        return made
    column, codes = rows.schema.column(statistic.column), rows.column(statistic.column)
    lowest, reach = bounds_of(column)
    top = max(column.size - column.nullable - 1, 1)
    if statistic.kind == "share" and statistic.label is None:
        pooled = evidence.pooled(tuple(n for n in rows.schema.names if n in question.columns(statistic)))
        guessed = found.origin == "synthetic" or pooled is None
        axis = Axis.of(column) if guessed else pooled.axes[pooled.columns.index(column.name)]
        parts = [rows.cells(axis) == cell for cell in range(axis.size)]
    elif statistic.kind == "share":
        parts = [satisfied(statistic.label, rows)]
    for cell in range(len(made)):
        kept = held & (cells == cell)
        if statistic.kind == "share":
            if kept.any():
                made[cell] = [(kept & part).sum() / kept.sum() for part in parts]
            continue
        values = lowest + reach * codes[kept & (codes != (-1 if column.missing is None else column.missing))] / top
        if statistic.kind == "sum":
            made[cell, 0] = values.sum()
        elif len(values):
            place = int(np.ceil((statistic.probability or 0.5) * len(values))) - 1
            made[cell, 0] = values.mean() if statistic.kind == "mean" else np.sort(values)[place]
    return made


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """Coverage by table, origin and statistic."""
    if not DATA.is_dir():
        return {"absent": str(DATA)}
    cases = [Case(table, {"table": table, "releases": CHUNK}) for table in TABLES]
    sums: dict[str, dict[str, list[int]]] = {}
    cpu: dict[str, list[float]] = {}
    for line in harness.run("answers", cases, work=work, seeds=range(-(-sizes["releases"] // CHUNK)), fresh=fresh):
        name = line["settings"]["table"]
        cpu.setdefault(name, []).append(line["cpu_s"] / CHUNK)
        into = sums.setdefault(name, {})
        for kind, (hits, count) in line.get("result", {}).items():
            total = into.setdefault(kind, [0, 0])
            total[0], total[1] = total[0] + hits, total[1] + count
    lines = {name: _coverage(found) | {"CPU s per release": fmean(cpu[name])} for name, found in sums.items()}
    lines["all tables"] = _coverage(_together(sums))
    publish("answers", lines, table=table(lines), picture=bars(lines, {"measured": "measured", "composed": "composed"}))
    return lines


def _together(sums: Mapping[str, Mapping[str, list[int]]]) -> dict[str, list[int]]:
    made: dict[str, list[int]] = {}
    for found in sums.values():
        for kind, (hits, count) in found.items():
            total = made.setdefault(kind, [0, 0])
            total[0], total[1] = total[0] + hits, total[1] + count
    return made


def _coverage(found: Mapping[str, list[int]]) -> dict[str, float]:
    """Per cent of intervals that hold the exact value: by origin, and by origin and statistic."""
    origins: dict[str, list[int]] = {}
    for kind, (hits, count) in found.items():
        total = origins.setdefault(kind.partition(":")[0], [0, 0])
        total[0], total[1] = total[0] + hits, total[1] + count
    made = {name: 100 * hits / count for name, (hits, count) in origins.items() if count}
    made |= {f"{name} answers": float(count) for name, (_, count) in origins.items()}
    return made | {kind: 100 * hits / count for kind, (hits, count) in found.items() if count}


def table(result: Mapping[str, Any]) -> str:
    """One line per table."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    columns = dict.fromkeys(name for numbers in result.values() for name in numbers)
    return markdown(result, {name: name for name in columns}, first="% covered")


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--releases", type=int, default=FULL["releases"])
    parser.add_argument("--seeds", type=int, default=1)
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
