"""Structure that no pair of columns shows: parities of two to seven flags, a chessboard of two numbers, strokes of letters.

    python benchmarks/high_order.py [--tables parity-3 strokes] [--methods auto aim] [--epsilons 1 5] [--seeds 3] [--json]

All tables are made up: 20,000 rows and 11 flags with a parity of some of them as the target; two numbers whose cell of a
chessboard is the target, beside four other numbers; 10,000 strokes of ten letters, seven numbers each (where it begins and ends,
its length, its slope, its place in the letter), with the letter as the target. The accuracy is that of boosting, trained on synthetic rows and tested on
others of the same law; TV2 says what pairs cost.
"""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import Case, bars, publish
from methods_table import REFERENCES

FLAGS = 11
TABLES = (*(f"parity-{k}" for k in range(2, 8)), "chessboard", "strokes")
METHODS = ("auto", "aim", "private-gsd", REFERENCES[0])
COLUMNS = {"accuracy": "accuracy", "tv2": "TV2", "wider": "wider tables", "fit_cpu_s": "CPU s"}


def cases_of(tables: Any, methods: Any, epsilons: Any) -> list[Case]:
    """One case per table, method and epsilon."""
    return [
        Case(f"{table}, {method}, {epsilon:g}", {"table": table, "method": method, "epsilon": epsilon})
        for table in tables
        for epsilon in epsilons
        for method in methods
    ]


SHORT = {"cases": cases_of(["parity-3"], ["auto"], [5.0]), "seeds": 1}
FULL = {"cases": cases_of(TABLES, METHODS, [1.0, 5.0]), "seeds": 3}


def _number(name: str) -> dict[str, Any]:
    return {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 99, "required": True}}


def _labels(name: str, labels: list[str]) -> dict[str, Any]:
    return {"name": name, "type": "string", "categories": labels, "constraints": {"required": True}}


def parity(k: int, rows: int, seed: int) -> tuple[dict[str, Any], Any]:
    """Flags, and the parity of k of them."""
    import numpy as np

    bits = np.random.default_rng(seed).integers(0, 2, (rows, FLAGS))
    columns = {f"x{j}": bits[:, j].astype(str) for j in range(FLAGS)}
    return _table(columns, (bits[:, :k].sum(axis=1) % 2).astype(str), [_labels(name, ["0", "1"]) for name in columns])


def chessboard(rows: int, seed: int) -> tuple[dict[str, Any], Any]:
    """Whether a point lies on a black field of a board of four by four, and four numbers that say nothing."""
    import numpy as np

    points = np.random.default_rng(seed).integers(0, 100, (rows, 6))
    columns = {f"x{j}": points[:, j] for j in range(6)}
    black = (points[:, 0] // 25 + points[:, 1] // 25) % 2
    return _table(columns, black.astype(str), [_number(name) for name in columns])


def strokes(rows: int, seed: int) -> tuple[dict[str, Any], Any]:
    """Strokes of letters: every letter has five of its own, drawn with a trembling hand."""
    import numpy as np

    shapes = np.random.default_rng(7).integers(10, 90, (10, 5, 4))  # the same letters for all seeds
    random = np.random.default_rng(seed)
    letter, place = random.integers(0, 10, rows), random.integers(0, 5, rows)
    ends = np.clip(shapes[letter, place] + random.normal(0, 4, (rows, 4)), 0, 99)
    across, up = ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1]
    columns = {
        "x1": ends[:, 0], "y1": ends[:, 1], "x2": ends[:, 2], "y2": ends[:, 3],
        "length": np.hypot(across, up) / 1.5, "slope": 50 + 49 * np.arctan2(up, across) / np.pi, "place": 20.0 * place,
    }  # fmt: skip
    whole = {name: np.clip(np.rint(values), 0, 99).astype(int) for name, values in columns.items()}
    return _table(whole, np.array([f"letter {k}" for k in range(10)])[letter], [_number(name) for name in whole])


def _table(columns: Mapping[str, Any], target: Any, fields: list[dict[str, Any]]) -> tuple[dict[str, Any], Any]:
    import numpy as np
    import pyarrow as pa

    labels = [str(label) for label in np.unique(target)]
    document = {"name": "made-up", "targets": ["y"], "fields": [*fields, _labels("y", labels)]}
    return document, pa.table({**columns, "y": target})


def made_up(name: str, seed: int) -> tuple[dict[str, Any], Any]:
    """The schema document and the rows of one table."""
    if name == "chessboard":
        return chessboard(20_000, seed)
    return strokes(10_000, seed) if name == "strokes" else parity(int(name.removeprefix("parity-")), 20_000, seed)


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Synthesise, train on the rows, and test on others."""
    import sundog

    (document, train), (_, test) = (made_up(settings["table"], place) for place in (2 * seed, 2 * seed + 1))
    start, wide, rows = time.process_time(), 0, train
    with tempfile.TemporaryDirectory() as folder:
        places = {"ledger": Path(folder) / "ledger.sqlite", "seed": seed}
        if settings["method"] not in REFERENCES:
            budget = {"epsilon": settings["epsilon"], "delta": 1e-9, "method": settings["method"]}
            fitted = sundog.Synthesizer(document, **budget, **places).fit(train)
            rows = fitted.sample()
            wide = len({m.query for m in fitted.released.measurements if len(m.query.columns) > 2})
        seconds = time.process_time() - start
        found = sundog.evaluate_tables(train, {"made": rows}, schema=document, test=test, learning=True, **places)
    scores = found.tables[0].scores
    accuracy = 1 - scores["boosting_error"].value
    return {"accuracy": accuracy, "tv2": scores["tv2"].value, "wider": wide, "fit_cpu_s": seconds}


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """The means over the seeds, case by case."""
    result = harness.means("high_order", sizes, work=work, fresh=fresh)
    publish("high_order", result, table=table(result), picture=bars(result["cases"], COLUMNS))
    return result


def table(result: Mapping[str, Any]) -> str:
    """One line per table, method and epsilon."""
    return harness.means_table(result, COLUMNS)


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=(1.0, 5.0))
    parser.add_argument("--seeds", type=int, default=3)

    def sizes(given: dict[str, Any]) -> dict[str, Any]:
        return {"cases": cases_of(given["tables"], given["methods"], given["epsilons"]), "seeds": given["seeds"]}

    harness.command(parser, run=run, table=table, sizes=sizes)


if __name__ == "__main__":
    main()
