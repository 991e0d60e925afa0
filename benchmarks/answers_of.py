"""What benchmarks of workloads share: spend a budget by a recipe on a public table, and the errors of what comes out.

Accounted for as in the papers: one row replaced, so that the number of rows n is public, and delta 1/n^2. Errors are
|proportion on the synthetic rows - proportion on the table| over all answers of the workload as it was asked, against
exact answers (these tables are public).
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from harness import DATA

NOT_MODELLED = {"adult": ["split"]}
"""Columns that split a table for prediction."""


def schema_of(data: str, *, only_labels: bool = False) -> Any:
    """The table's schema, or that of its categorical columns."""
    from sundog.domain import Numeric, Schema

    document = json.loads((DATA / f"{data}.schema.json").read_text(encoding="utf-8"))
    left_out = [*NOT_MODELLED.get(data, [])]
    if only_labels:
        left_out += [c.name for c in Schema.from_json(document).columns if isinstance(c, Numeric)]
    document["fields"] = [field for field in document["fields"] if field["name"] not in left_out]
    return Schema.from_json(document)


def paper_halfspaces(schema: Any, count: int) -> Any:
    """Random halfspaces as the Private-GSD paper draws them: theta ~ N(0, 1/d) over d columns, tau ~ N(0, 1).

    On the integer grid of the query class: every direction is scaled so that its largest coefficient is 127. (The package's
    own random halfspaces put their thresholds in the middle of public bounds, where answers are the hardest.)
    """
    from sundog.queries.halfspace import GRID, MOST, Halfspaces, width

    widths = tuple(width(column) for column in schema.columns)
    random = np.random.default_rng(0)
    theta = random.normal(size=(count, sum(widths))) / np.sqrt(len(widths))
    scale = MOST / np.abs(theta).max(axis=1, keepdims=True)
    cuts = np.floor(random.normal(size=(count, 1)) * scale * GRID).astype(np.int64)
    return (Halfspaces(schema.names, widths, np.rint(theta * scale).astype(np.int16), cuts),)


def measured(recipe: Any, schema: Any, data: str, *, epsilon: float, seed: int) -> tuple[dict[str, float], Any, Any]:
    """One run of a recipe: CPU seconds, memory and errors; what was released, and the generator's state.

    A run on 50 rows comes first, so that nothing is compiled in the time that counts.
    """
    with tempfile.TemporaryDirectory(prefix="sundog-benchmark-") as folder:
        fitted(recipe, schema, first_rows(data, Path(folder)), epsilon=epsilon, seed=0)
        begin = time.process_time()
        released, state = fitted(recipe, schema, DATA / f"{data}.parquet", epsilon=epsilon, seed=seed)
        seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return {"fit_cpu_s": seconds, "peak_mb": peak} | errors(recipe, schema, state, released, data), released, state


def fitted(recipe: Any, schema: Any, table: Path, *, epsilon: float, seed: int) -> Any:
    """Spend epsilon on a table and fit."""
    from pyarrow import parquet

    from sundog.domain.unit import PrivacyUnit
    from sundog.methods.loop import run
    from sundog.private.accountant import Budget
    from sundog.private.curator import Curator
    from sundog.private.ledger import Ledger
    from sundog.private.spending import Spending
    from sundog.private.table import PrivateTable
    from sundog.random.keys import key_of

    with tempfile.TemporaryDirectory(prefix="sundog-ledger-") as folder:
        spending = Spending(
            Budget(epsilon=epsilon, delta=1 / parquet.read_metadata(table).num_rows ** 2),
            recipe.name,
            unit=PrivacyUnit("replace"),
            accounting="zcdp" if recipe.rule.selects else "gaussian",
            ledger=Ledger(Path(folder) / "ledger.db"),
        )
        curator = Curator(PrivateTable(table), schema, spending=spending)
        return run(key_of(seed), curator, recipe=recipe, report=lambda _: None)


def first_rows(data: str, folder: Path) -> Path:
    """The first 50 rows as a table of their own."""
    import duckdb

    little = folder / "little.parquet"
    duckdb.sql(f"COPY (SELECT * FROM '{DATA / data}.parquet' LIMIT 50) TO '{little}' (FORMAT parquet)")
    return little


def errors(recipe: Any, schema: Any, state: Any, released: Any, data: str) -> dict[str, float]:
    """The mean and largest error over all answers of the workload as it was asked."""
    from sundog.queries import answer
    from sundog.sources import open_table

    queries = recipe.workload(schema)
    if recipe.bins is not None:
        queries = recipe.bins.rebin(queries, released)
    rows = open_table(str(DATA / f"{data}.parquet")).read(schema)
    parts = [recipe.generator.answer(state, query) - answer(query, rows) / len(rows) for query in queries]
    difference = np.abs(np.concatenate(parts))
    return {"mean_error": float(difference.mean()), "max_error": float(difference.max()), "answers": len(difference)}
