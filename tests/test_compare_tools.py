"""The comparison of tools: budgets under other neighbours, limits of a child, results that resume. No other tool is needed."""

import argparse
import json
import math
import resource
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def compare(tmp_path, monkeypatch):
    """The command, with its results in a folder of the test."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import compare_tools

    monkeypatch.setattr(compare_tools, "FOLDER", tmp_path)
    monkeypatch.setattr(compare_tools, "judge", lambda store: None)
    yield compare_tools
    for name in [name for name in sys.modules if name.split(".")[0] in ("compare_tools", "harness", "peers")]:
        sys.modules.pop(name)


@pytest.fixture
def options():
    return argparse.Namespace(
        tools=["sundog mst"],
        tables=["adult"],
        epsilons=[10.0, 0.3, 1.0],
        seeds=1,
        minutes=1.0,
        fresh=False,
        retry=False,
    )


def outcomes(compare, monkeypatch, *answers):
    """Cells end as told, one after the other; the epsilons that were run."""
    left, tried = list(answers), []

    def ended(tool, cell, options):
        tried.append(cell.epsilon)
        return {"outcome": left.pop(0)}

    monkeypatch.setattr(compare, "run_cell", ended)
    return tried


def test_a_promise_for_rows_added_is_halved_where_rows_are_replaced(compare):
    given = compare.budget.given
    assert given(1.0, 1e-6, promised="add-remove", wanted="add-remove") == (1.0, 1e-6)
    assert given(1.0, 1e-6, promised="replace", wanted="add-remove") == (1.0, 1e-6)
    epsilon, delta = given(1.0, 1e-6, promised="add-remove", wanted="replace")
    assert (2 * epsilon, (1 + math.exp(epsilon)) * delta) == pytest.approx((1.0, 1e-6))
    with pytest.raises(ValueError, match="'swap' are unknown"):
        given(1.0, 1e-6, promised="swap", wanted="replace")


def test_small_epsilons_come_first_and_a_time_out_ends_a_table(compare, options, monkeypatch, tmp_path):
    tried = outcomes(compare, monkeypatch, "done", "time-out")
    store = compare.Store(tmp_path / "cells.jsonl")
    assert compare.run(options, store) == []
    assert tried == [0.3, 1.0]
    assert [result["outcome"] for result in store.found.values()] == ["done", "time-out", "not tried"]


def test_finished_cells_are_kept_and_failures_run_again_only_when_asked(compare, options, monkeypatch, tmp_path):
    path = tmp_path / "cells.jsonl"
    outcomes(compare, monkeypatch, "done", "failed", "done")
    compare.run(options, compare.Store(path))
    tried = outcomes(compare, monkeypatch, "done")
    compare.run(options, compare.Store(path))
    assert tried == []
    options.retry = True
    compare.run(options, store := compare.Store(path))
    assert tried == [1.0]
    assert {result["outcome"] for result in store.found.values()} == {"done"}
    assert len(compare.Store(path).listed()) == 3


def test_a_line_that_was_cut_off_is_run_again(compare, options, monkeypatch, tmp_path):
    path = tmp_path / "cells.jsonl"
    outcomes(compare, monkeypatch, "done", "done", "done")
    compare.run(options, compare.Store(path))
    path.write_bytes(path.read_bytes()[:-20])
    tried = outcomes(compare, monkeypatch, "done")
    compare.run(options, compare.Store(path))
    assert tried == [10.0]
    assert len(compare.Store(path).found) == 3


def test_the_minutes_end_a_run_between_cells(compare, options, monkeypatch, tmp_path):
    options.minutes = -1.0
    tried = outcomes(compare, monkeypatch)
    assert "goes on from here" in compare.run(options, compare.Store(tmp_path / "cells.jsonl"))[0]
    assert tried == []


def test_a_tool_without_a_promise_is_run_once_per_table(compare, options, monkeypatch):
    ceiling = compare.Tool("ceiling", "", "none.py", "none", "none", "none", "all")
    monkeypatch.setitem(compare.BY_NAME, "ceiling", ceiling)
    options.tools = ["ceiling"]
    assert [cell.epsilon for _, cell in compare.cells(options)] == [0.0]


def child(compare, code, tmp_path, *, cpu_s=20.0, memory_mb=2000.0):
    """A child that runs this code."""
    command = [sys.executable, "-c", code]
    return compare.children.limited(command, cpu_s=cpu_s, memory_mb=memory_mb, log=tmp_path / "log.txt")


def test_a_child_that_ends_well_or_badly_is_told_apart_and_measured(compare, tmp_path):
    well = child(compare, "x = bytearray(60_000_000); print(sum(range(3_000_000)))", tmp_path)
    assert well.outcome == "done"
    assert well.cpu_s > 0.02
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # a child begins as a copy of this process
    assert 60 < well.rss_mb < max(500, own + 100)
    badly = child(compare, "raise SystemExit('no luck')", tmp_path)
    assert badly.outcome == "failed"
    assert "no luck" in (tmp_path / "log.txt").read_text()


def test_a_child_beyond_its_processor_time_is_ended_with_its_own_children(compare, tmp_path, monkeypatch):
    monkeypatch.setattr(compare.children, "STEP_S", 0.05)
    monkeypatch.setattr(compare.children, "WALL", 1000.0)
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    ended = child(compare, code, tmp_path, cpu_s=0.3)
    assert ended.outcome == "time-out"
    assert ended.cpu_s > 0.3


def test_a_child_that_only_waits_is_ended_by_the_clock(compare, tmp_path, monkeypatch):
    monkeypatch.setattr(compare.children, "STEP_S", 0.05)
    monkeypatch.setattr(compare.children, "WALL", 0.01)
    assert child(compare, "import time; time.sleep(600)", tmp_path, cpu_s=20.0).outcome == "time-out"


def test_a_child_beyond_its_memory_is_ended(compare, tmp_path, monkeypatch):
    monkeypatch.setattr(compare.children, "STEP_S", 0.05)
    code = "import time; x = bytearray(400_000_000); x[::4096] = b'1' * len(x[::4096]); time.sleep(600)"
    assert child(compare, code, tmp_path, cpu_s=60.0, memory_mb=200.0).outcome == "out of memory"


def test_missing_labels_are_a_label_in_the_schema_of_all(compare):
    document = {
        "name": "t",
        "targets": ["b", "c"],
        "fields": [
            {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 3, "required": True}},
            {"name": "b", "type": "string", "categories": ["x", "y"]},
            {"name": "c", "type": "string", "categories": ["x"]},
        ],
    }
    cut = compare.data.schema(document, ("b", "a"))
    assert [field["name"] for field in cut["fields"]] == ["b", "a"]
    assert cut["fields"][0]["categories"] == ["x", "y", "missing"]
    assert all(field["constraints"]["required"] for field in cut["fields"])
    assert cut["targets"] == ["b"]


def test_every_tool_has_an_adapter_and_an_environment(compare):
    for tool in compare.TOOLS:
        assert (BENCHMARKS / "peers" / "adapters" / tool.adapter).exists()
        assert tool.environment in ("", *compare.environments.ENVIRONMENTS)


def test_rows_get_the_declared_types(monkeypatch):
    import pandas as pd

    monkeypatch.syspath_prepend(str(BENCHMARKS / "peers" / "adapters"))
    import adapter

    fields = [
        {"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 3}},
        {"name": "b", "type": "string", "categories": ["1", "y"]},
    ]
    job = adapter.Job("m", 1.0, 1e-6, 0, "", "", json.loads(json.dumps({"fields": fields})))
    made = adapter.fitted(pd.DataFrame({"b": [1, "y"], "extra": [0, 0], "a": [2.6, 9.0]}), job)
    assert made.to_dict("list") == {"a": [3, 3], "b": ["1", "y"]}
    sys.modules.pop("adapter")


def scored(tool, table, epsilon, *, tv2=0.1, cpu_s=4.0):
    return {
        "tool": tool, "table": table, "epsilon": epsilon, "seed": 0, "outcome": "done", "cpu_s": cpu_s, "rss_mb": 300,
        "scores": {"tv2": tv2, "f1": 0.5},
    }  # fmt: skip


def test_tables_show_scores_and_say_why_there_are_none(compare):
    slow = {"tool": "dpmm AIM", "table": "adult", "epsilon": 0.3, "seed": 0, "outcome": "time-out", "cpu_s": 180.0}
    ceiling = scored("SDV copula", "adult", 0.0, tv2=0.02)
    made = compare.page.tables([scored("sundog auto", "adult", 1.0, tv2=0.0625), slow | {"rss_mb": 500}, ceiling])
    assert "| sundog auto | not run | 0.062 | not run |" in made["tv2"]
    assert "| dpmm AIM | time-out | not run | not run |" in made["tv2"]
    assert "| SDV copula | 0.020 | 0.020 | 0.020 |" in made["tv2"]
    assert "| sundog auto | 1 | 4 | 4 | 300 |  |" in made["costs"]
    assert "| dpmm AIM | 0 |  |  |  | 1 time-out |" in made["costs"]
    assert "2 cells with scores, of 2 packages" in made["count"]
    for tool in compare.TOOLS:
        assert f"| {tool.name} | {tool.neighbours} |" in made["promises"]


def test_pictures_have_a_panel_per_table_and_a_look_per_tool(compare):
    cells = [scored("sundog auto", table, epsilon) for table in ("adult", "diamonds") for epsilon in (0.3, 1.0, 10.0)]
    cells.append(scored("SDV copula", "adult", 0.0, tv2=0.02))
    by_epsilon, by_cpu = compare.page.pictures.by_epsilon(cells), compare.page.pictures.by_cpu(cells)
    for picture in (by_epsilon, by_cpu):
        assert picture.count("<g transform=") == 2
        assert "SDV copula: no promise" in picture
        assert "nan" not in picture
    assert (by_epsilon.count("<polyline"), by_epsilon.count("stroke-dasharray")) == (2, 1)
    looks = [compare.page.pictures._look(tool) for tool in compare.TOOLS]
    assert len(set(looks)) == len(looks)


def test_the_page_is_made_from_the_results_in_the_project(compare):
    text = compare.page.PAGE.read_text(encoding="utf-8")
    for name, made in compare.page.tables(compare.Store(compare.STORE).listed()).items():
        assert f"<!-- made: {name} -->\n{made}\n<!-- end -->" in text, (
            f"{name}: python benchmarks/compare_tools.py --page"
        )
    with pytest.raises(ValueError, match="no place for 'tv9'"):
        compare.page.replaced(text, "tv9", "")
