"""Compile the kernels of a fresh checkout once, before tests are timed: `python tests/kernels.py`, which `make test` does.

What is compiled is kept beside the sources, so this takes seconds the first time and nothing afterwards.
"""

import tempfile
from pathlib import Path

import sundog
from linked_tables import package, random_homes, tables_of

TABLE = {
    "name": "kernels",
    "fields": [{"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}} for name in "abc"],
}


def compile_all() -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "epsilon": 50.0,
            "delta": 1e-6,
            "dataset": "kernels",
            "seed": 1,
            "confirmed": True,
            "ledger": Path(folder) / "l",
        }
        sundog.Synthesizer(package(visits=9), **options).fit(tables_of(random_homes(60, seed=1))).sample(20)
        rows = {
            name: [(place * step) % 10 for place in range(200)] for name, step in zip("abc", (1, 3, 7), strict=True)
        }
        for method in ("auto", "private-gsd", "mst"):
            options |= {"dataset": method}
            sundog.Synthesizer(TABLE, method=method, **options).fit(rows).sample(20)


if __name__ == "__main__":
    compile_all()
