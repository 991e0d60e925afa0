"""The runner of the benchmarks: it goes on after a failure, keeps what is finished, and says what went wrong."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

MODULE = """
import harness
from harness import Case
SHORT, FULL = {{"cases": ["a", "b"]}}, {{"cases": ["a", "b", "c"]}}

def work(settings, seed):
    {body}
    return {{"figure": 1.5}}

def run(sizes, *, fresh=False):
    lines = harness.run({name!r}, [Case(c, {{"c": c}}) for c in sizes["cases"]], work=work, fresh=fresh, folder={folder!r})
    return harness.mean_by_case(lines)

def table(result):
    return harness.markdown(result, {{"figure": "figure"}})
"""


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """The runner, with benchmarks of our own: one that works, one whose second case fails, one without data, one broken."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.syspath_prepend(str(tmp_path))
    import run

    bodies = {"well": "pass", "half": "assert settings['c'] != 'b', 'no b today'"}
    for name, body in bodies.items():
        text = MODULE.format(name=name, body=body, folder="FOLDER").replace(
            "'FOLDER'", f"harness.Path({str(tmp_path)!r})"
        )
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "lacking.py").write_text("SHORT = 0\ndef run(sizes, *, fresh=False):\n    return {'absent': 'there'}\n")
    (tmp_path / "broken.py").write_text("raise RuntimeError('cannot even be imported')\n")
    monkeypatch.setattr(run, "BENCHMARKS", ("broken", "lacking", "half", "well"))
    yield run
    for name in ("run", "harness", "well", "half", "lacking", "broken"):
        sys.modules.pop(name, None)


def test_failures_do_not_end_the_run_and_are_named(runner, capsys):
    assert runner.main(["--json"]) == 1
    printed, said = capsys.readouterr()
    document = json.loads(printed)
    assert [each["name"] for each in document["benchmarks"]] == ["broken", "lacking", "half", "well"]
    assert document["benchmarks"][2]["result"].keys() == {"a"}
    assert document["benchmarks"][3]["result"]["b"]["figure"] == 1.5
    for words in (
        "cannot even be imported",
        "there are no public tables",
        "half: b, seed 0: AssertionError: no b today",
    ):
        assert f"{words}" in said
    assert "[4/4] well: done" in said


def test_what_is_finished_is_kept_and_failures_are_tried_again(runner, tmp_path, capsys):
    assert runner.main(["well"]) == 0
    at = (next((tmp_path / "well").glob("a-*.json"))).stat().st_mtime_ns
    assert runner.main(["well", "--full"]) == 0
    assert "2 results from before" in capsys.readouterr().err
    assert len(list((tmp_path / "well").glob("*.json"))) == 3
    assert (next((tmp_path / "well").glob("a-*.json"))).stat().st_mtime_ns == at
    assert runner.main(["well", "--fresh"]) == 0
    assert (next((tmp_path / "well").glob("a-*.json"))).stat().st_mtime_ns > at
    assert runner.main(["half"]) == 1
    assert runner.main(["half"]) == 1
    assert "1 results from before" in capsys.readouterr().err


def test_stopping_by_hand_keeps_what_is_finished(runner, tmp_path, monkeypatch, capsys):
    import harness

    measured = harness.measured
    calls = []

    def stopped(work, settings, seed):
        calls.append(settings)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measured(work, settings, seed)

    monkeypatch.setattr(harness, "measured", stopped)
    assert runner.main(["well"]) == 130
    assert "the same command without --fresh goes on from there" in capsys.readouterr().err
    assert len(list((tmp_path / "well").glob("*.json"))) == 1


def test_several_at_a_time_give_the_same_results_and_are_stopped_together(runner, tmp_path, monkeypatch, capsys):
    import harness

    assert runner.main(["well", "--full", "--jobs", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document["benchmarks"][0]["result"]) == ["a", "b", "c"]

    def stopped(work, settings, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(harness, "measured", stopped)
    assert runner.main(["well", "--fresh", "--jobs", "2"]) == 130


def test_kept_results_are_laid_out_in_another_clone(runner, tmp_path, capsys):
    import record

    assert runner.main(["well"]) == 0
    assert runner.main(["half"]) == 1
    store, other = tmp_path / "docs" / "measured.jsonl", tmp_path / "clone"
    assert record.keep([], results=tmp_path, store=store) == 3  # the failed case is not kept
    before = store.read_text()
    assert record.keep([], results=tmp_path, store=store) == 0
    assert store.read_text() == before
    assert record.lay(["well"], results=other, store=store) == 2
    for path in (tmp_path / "well").glob("*.json"):
        assert json.loads((other / "well" / path.name).read_text()) == json.loads(path.read_text())
    assert record.lay(["well"], results=other, store=store) == 0
    sys.modules.pop("record", None)


def test_every_benchmark_has_what_the_runner_needs(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    listed = (BENCHMARKS / "run.py").read_text(encoding="utf-8").split("BENCHMARKS = (")[1].split(")")[0]
    for name in (line.strip(' ",') for line in listed.splitlines() if line.strip()):
        text = (BENCHMARKS / f"{name}.py").read_text(encoding="utf-8")
        for part in ("SHORT", "FULL", "def table("):
            assert part in text, f"{name} has no {part}"
        assert "fresh: bool = False" in text, f"{name} cannot be resumed"


def test_every_change_of_auto_can_be_made(monkeypatch):
    """They name constants of the package: one that was renamed would fail after hours."""
    from sundog.methods.recipes import METHODS

    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import auto

    for change, setting in auto.CHANGES.values():
        with setting():
            assert change(METHODS["auto"]) is not None
    for name in ("auto", "methods_table", "harness"):
        sys.modules.pop(name, None)


def test_the_rivals_of_rap_plus_plus_know_the_numbers(monkeypatch):
    """RAP and PGM "with binning" were once given tables of labels alone, which no paper compares with."""
    from sundog.domain import Schema

    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import rap_plus_plus

    fields = [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "town", "type": "string", "categories": ["a", "b"]},
        {"name": "ill", "type": "boolean"},
    ]
    schema = Schema.from_json({"name": "people", "fields": fields, "targets": ["ill"]})
    for name, (_, bins) in rap_plus_plus.BINNED.items():
        (table,) = rap_plus_plus.recipe_by_name(name, schema).workload(schema)
        assert {axis.column: axis.size for axis in table.axes}["age"] in (bins, bins + 1), name
    for name in ("rap_plus_plus", "acs_multitask", "projection", "harness"):
        sys.modules.pop(name, None)


def test_a_gain_is_what_the_metric_itself_calls_better(monkeypatch):
    """The error of correlations was once counted as if more of it were better."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import ahead
    import versions

    assert ahead.gain("correlation", 0.04, 0.02) == pytest.approx(0.5)
    assert ahead.gain("f1", 0.5, 0.6) == pytest.approx(0.2)
    numbers = {"auto tv1": 0.02, "auto f1": 0.5, "mst tv1": 0.01, "mst f1": 0.4, "cpu_s": 3.0}
    found = {(method, metric): gain for method, metric, gain in ahead.gains(ahead.by_method(numbers))}
    assert found == {("mst", "tv1"): pytest.approx(0.5), ("mst", "f1"): pytest.approx(-0.2)}
    lines = [versions.with_mean({"tv1": 0.1, "f1": 0.3, "cpu_s": 9.0}), versions.with_mean({"tv1": 0.3, "rss_mb": 1.0})]
    assert versions.means_over(lines) == {
        "tv1": pytest.approx(0.2),
        "f1": pytest.approx(0.3),
        "mean": pytest.approx(0.25),
    }
    for name in ("ahead", "versions", "methods_table", "harness"):
        sys.modules.pop(name, None)


def test_paired_runs_have_the_same_draws_at_every_scale_and_leave_the_noise_of_the_package_alone(monkeypatch):
    """They are no releases: what stands for the noise is undone afterwards, and the package has no seed for it."""
    import numpy as np

    from sundog.private import noise

    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import adjust_share

    counts, own = np.arange(500), noise.add_gaussian
    with adjust_share.patched("private.noise", add_gaussian=adjust_share.paired(3)):
        small, large = (noise.add_gaussian(counts, scale) - counts for scale in (1e4, 3e4))
        other = noise.add_gaussian(counts + 1, 1e4) - counts - 1
    assert np.abs(large - 3 * small).max() <= 2
    assert np.abs(np.corrcoef(small, other)[0, 1]) < 0.3
    assert 0.8 < small.std() / 1e4 < 1.2
    assert noise.add_gaussian is own
    for name in ("adjust_share", "post_processing", "auto", "methods_table", "home_credit", "harness"):
        sys.modules.pop(name, None)


def test_changes_by_a_share_are_told_apart(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import adjust_share

    figures = {"js_without": 0.02, "js_before": 0.03, "js_with": 0.024, "f1_without": 0.7, "f1_with": 0.71}
    found = adjust_share.changes(figures | {"improvement": 0.4})
    assert {name: round(value, 9) for name, value in found.items()} == {
        "js_budget": 0.5, "js_adjusting": -0.2, "js": 0.2, "f1": 0.01, "correlations": 0.6,
    }  # fmt: skip
    mean = adjust_share.averaged([found, {**found, "js": 0.4}])
    assert (mean["runs"], mean["js"], mean["js_error"]) == (2, pytest.approx(0.3), pytest.approx(0.1))
    for name in ("adjust_share", "post_processing", "auto", "methods_table", "home_credit", "harness"):
        sys.modules.pop(name, None)
