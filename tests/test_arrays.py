"""Every array that reaches a compiled kernel is checked where it enters: kernels check no bounds themselves."""

import json
from pathlib import Path

import numpy as np
import pytest

import sundog
from sundog import Schema, UserError
from sundog.arrays import whole_array
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.evaluate.base import Comparison
from sundog.queries import AtLeast, BinaryTree, Halfspaces, Marginal, Ranges, SigmoidSum, answer, load_query

REQUIRED = {"required": True}
SCHEMA = Schema.from_json(
    {
        "fields": [
            {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 9} | REQUIRED},
            {"name": "b", "type": "integer", "constraints": {"minimum": 0, "maximum": 10**12} | REQUIRED},
            *({"name": f"n{k}", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}} for k in range(12)),
        ]
    }
)
ROWS = Rows(SCHEMA, tuple(np.zeros(3, dtype=np.int64) for _ in SCHEMA.columns))


@pytest.mark.parametrize(
    "given",
    [
        [[1.5]],
        [[True]],
        [["1"]],
        [[2**70]],
        [[None]],
        [[1], [2, 3]],
        [1],
        [[[1]]],
        [[-(2**63)]],
        [[float("nan")]],
        "12",
        {},
    ],
)
def test_what_is_no_array_of_whole_numbers_is_refused(given):
    with pytest.raises(UserError, match=r"^numbers: "):
        whole_array("numbers", given, dimensions=2)


def test_whole_numbers_pass_as_they_are():
    made = whole_array("numbers", np.array([[1, 2], [3, 4]], dtype=np.uint8).T, dimensions=2, least=1, most=4)
    assert made.dtype == np.int64
    assert made.flags.c_contiguous
    assert made.tolist() == [[1, 3], [2, 4]]


RANGES = {"query": "ranges", "columns": ["a"], "which": [[0]], "low": [[0]], "high": [[5]]}
HALFSPACES = {"query": "halfspaces", "columns": ["a"], "theta": [[127]], "thresholds": [[0, 5]]}
MARGINAL = {"query": "marginal", "axes": [{"column": "a", "starts": [0, 5]}]}
TREE = {"query": "tree", "columns": ["a"], "levels": 2}
SIGMOID = {"query": "sigmoid", "columns": ["a"], "weights": [1.0], "threshold": 0.5}
ATLEAST = MARGINAL | {"query": "at_least", "least": 1}
CELLS = MARGINAL | {"query": "cells", "places": [0, 1]}
WRONG = [
    (CELLS, {"places": [0, 2]}),
    (CELLS, {"places": [0, 0]}),
    (CELLS, {"places": []}),
    (CELLS, {"places": [-1]}),
    (CELLS, {"places": [0.5]}),
    (RANGES, {"which": [[1]]}),
    (RANGES, {"which": [[-2]]}),
    (RANGES, {"which": [[0, 0]]}),
    (RANGES, {"which": [[0.5]]}),
    (RANGES, {"low": [[0], [1]]}),
    (RANGES, {"high": [[2**64]]}),
    (RANGES, {"which": []}),
    (RANGES, {"columns": []}),
    (HALFSPACES, {"theta": [[-32768]]}),
    (HALFSPACES, {"theta": [[128]]}),
    (HALFSPACES, {"theta": [[1.9]]}),
    (HALFSPACES, {"theta": [[1, 1]]}),
    (HALFSPACES, {"thresholds": [[5, 0]]}),
    (HALFSPACES, {"thresholds": [[2**63 - 1, -(2**63) + 1]]}),
    (HALFSPACES, {"thresholds": [[0.5]]}),
    (HALFSPACES, {"thresholds": [[]]}),
    (MARGINAL, {"axes": [{"column": "a", "groups": [0] * 9 + [10**6]}]}),
    (MARGINAL, {"axes": [{"column": "a", "groups": [0] * 9 + [-1]}]}),
    (MARGINAL, {"axes": [{"column": "a", "groups": [0] * 8}]}),
    (MARGINAL, {"axes": [{"column": "a", "groups": []}]}),
    (MARGINAL, {"axes": [{"column": "a", "starts": [0, 10]}]}),
    (MARGINAL, {"axes": [{"column": "a", "starts": [0.5]}]}),
    (MARGINAL, {"axes": [{"column": "a", "starts": [-1]}]}),
    (MARGINAL, {"axes": [{"column": "a"}, {"column": "b"}]}),
    (TREE, {"levels": 2.5}),
    (TREE, {"levels": 21}),
    (TREE, {"columns": [f"n{k}" for k in range(12)], "levels": 20}),
    (SIGMOID, {"weights": [1e12]}),
    (SIGMOID, {"weights": [float("nan")]}),
    (SIGMOID, {"weights": [1.0, 1.0]}),
    (SIGMOID, {"threshold": 1e300}),
    (SIGMOID, {"threshold": "high"}),
    (SIGMOID, {"sharpness": 0}),
    (SIGMOID, {"sharpness": 101}),
    (SIGMOID, {"sharpness": float("nan")}),
    (SIGMOID, {"sharpness": True}),
    (SIGMOID, {"sharpness": "steep"}),
    (ATLEAST, {"least": 1.5}),
    (ATLEAST, {"least": 2}),
]


@pytest.mark.parametrize("document", [RANGES, HALFSPACES, MARGINAL, TREE, SIGMOID, ATLEAST], ids=lambda d: d["query"])
def test_what_is_right_is_counted(document):
    assert answer(load_query(document, SCHEMA), ROWS).sum() > 0


@pytest.mark.parametrize(("document", "change"), WRONG, ids=lambda part: json.dumps(part)[:40])
def test_what_a_file_says_wrongly_never_reaches_a_kernel(document, change):
    with pytest.raises(UserError):
        load_query(document | change, SCHEMA)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ranges(("a",), np.array([[1]]), np.array([[0]]), np.array([[5]])),
        lambda: Halfspaces(("a",), (1,), np.array([[-32768]], dtype=np.int16), np.array([[0]])),
        lambda: Axis("a", size=2, codes=10, groups=(0,) * 9 + (5,)),
        lambda: Axis("a", size=2, codes=10, starts=(0, 10)),
        lambda: Axis("a", size=2, codes=10, starts=(5, 0)),
        lambda: Axis("a", size=3, codes=10),
        lambda: Marginal((Axis("b", size=10**12, codes=10**12),)),
        lambda: AtLeast(Marginal.of(SCHEMA, *(f"n{k}" for k in range(12)), bins=2), True),
        lambda: SigmoidSum(("a",), (1e9,), 0.0),
        lambda: BinaryTree.of(SCHEMA, *(f"n{k}" for k in range(12)), levels=5),
        lambda: Marginal.of(SCHEMA, "a").add(ROWS, np.zeros(3, dtype=np.int64)),
        lambda: Rows(SCHEMA, ROWS.codes[:-1]),
        lambda: Rows(SCHEMA, (np.array([10, 0, 0]), *ROWS.codes[1:])),
        lambda: Rows(SCHEMA, (np.array([-1, 0, 0]), *ROWS.codes[1:])),
        lambda: Rows(SCHEMA, (np.array([0.0, 0, 0]), *ROWS.codes[1:])),
        lambda: Rows(SCHEMA, (np.array([0, 0]), *ROWS.codes[1:])),
    ],
)
def test_what_python_users_make_wrongly_never_reaches_a_kernel(make):
    with pytest.raises(UserError):
        make()


KERNELS = {
    "queries/marginal.py": "cells of Rows, checked against the column; totals by shape",
    "queries/ranges.py": "whole_array, when the query is made",
    "queries/halfspace.py": "whole_array, when the query is made",
    "sources/cells.py": "bytes of its own blocks, by their length",
    "evaluate/total_variation.py": "cells of Rows of one schema",
    "evaluate/prefixes.py": "codes of Rows of one schema; its own queries",
    "evaluate/sparse_queries.py": "cells of Rows of one schema; its own queries",
    "evaluate/halfspaces.py": "codes of Rows of one schema; its own weights",
    "postprocess/tilt.py": "its own floats, by their length",
    "postprocess/resample.py": "cells of Rows",
    "generate/particles/kernels.py": "floats clipped to the histogram",
    "generate/particles/sliced_projection.py": "its own floats, by their length",
    "generate/genetic/candidates.py": "codes of Rows; its own random numbers, below their bounds",
    "generate/genetic/calls.py": "queries that were checked when they were made",
    "generate/pooled/parts.py": "cells of the search, below the sizes of their axes; its own parts",
    "generate/linked/moves.py": "every table against the cells, where the search begins",
    "generate/graphical/elimination.py": "its own graph",
    "generate/graphical/message_passing.py": "tables of declared shapes",
}
"""Every module with a compiled kernel, and where what it indexes by was checked."""


def test_every_compiled_kernel_is_known():
    """A new kernel needs a line above: what it indexes by, and where that was checked."""
    source = Path(sundog.__file__).parent
    found = {path.relative_to(source).as_posix() for path in source.rglob("*.py") if "@njit" in path.read_text("utf-8")}
    assert found == set(KERNELS)


def test_tables_of_different_schemas_are_not_compared():
    other = Schema.from_json(
        {"fields": [{"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]}
    )
    rows = Rows(other, (np.full(3, 99),))
    for given in ({"synthetic": rows}, {"synthetic": ROWS, "test": rows}, {"synthetic": ROWS, "baseline": rows}):
        with pytest.raises(UserError, match="encoded by different schemas"):
            Comparison(ROWS, **given)
    Comparison(ROWS, ROWS, test=ROWS)
