"""Every setting of every method: declared, printed, refused where wrong before anything is spent, kept where right."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from example_tables import SCHEMA, table
from sundog import Synthesizer, UserError, load
from sundog.cli.app import app
from sundog.methods.recipes import METHODS, recipe_of
from sundog.methods.settings import MEASURING, method_settings, with_settings

SETTINGS = [(name, setting) for name, recipe in METHODS.items() for setting in method_settings(recipe).values()]
NONSENSE = ["abc", "", [1], [], {"a": 1}, math.nan, math.inf, -math.inf, -1, -0.5, 10**30, 1e300, object()]
"""Wrong for every setting, but for a negative number where it is in range, and lists where they are asked for."""

TOGETHER = {
    "changes": {"operator": "best of population"},
    "genetic.changes": {"genetic.operator": "best of population"},
    "annealing.first": {"annealing.last": 1e9},
    "annealing.last": {"annealing.first": 1e-3},
    "projection.annealing.first": {"projection.annealing.last": 1e9},
    "projection.annealing.last": {"projection.annealing.first": 1e-3},
}
"""Settings that an extreme value of another one needs."""

every_setting = pytest.mark.parametrize(("method", "setting"), SETTINGS, ids=lambda each: getattr(each, "name", each))


def wrong_values(setting):
    """Values of the wrong kind and just outside the range."""
    values = [value for value in NONSENSE if not (setting.several and value == [1])]
    values += [] if setting.optional else [None]
    values += ["true", 1, 0.5] if setting.kind is bool else [True, np.bool_(False)]
    if setting.choices:
        values += [f"{setting.choices[0]} ", 0]
    if setting.kind is int:
        values += [setting.bounds.least - 1, setting.bounds.most + 1, 2.5, float(setting.default or 1)]
    if setting.kind is float:
        values += [math.nextafter(end, side) for end, side in zip(ends(setting), (-math.inf, math.inf), strict=True)]
    if setting.several:
        values += [[0], [1] * 17, [1.5], [math.nan], 5, ["a"]]
    return values


def ends(setting):
    return setting.bounds.least, setting.bounds.most


def right_values(setting):
    """Values that are allowed: both ends of the range, every choice."""
    if setting.kind is bool:
        return [True, False]
    if setting.choices:
        return list(setting.choices)
    if setting.several:
        return [[8], [4, 4, 4]]
    values = [int(end) if setting.kind is int else float(end) for end in ends(setting)]
    return values + ([None] if setting.optional else [])


@every_setting
def test_it_is_declared_with_meaning_range_and_a_default_that_is_allowed(method, setting):
    assert setting.meaning.endswith(".")
    assert setting.choices or setting.kind is bool or setting.bounds is not None
    assert setting.read(setting.default) == setting.default


@every_setting
def test_wrong_values_are_refused_and_right_ones_taken(method, setting):
    for value in wrong_values(setting):
        with pytest.raises(UserError):
            with_settings(recipe_of(method), {setting.name: value})
    for value in right_values(setting):
        made = with_settings(recipe_of(method), {setting.name: value} | TOGETHER.get(setting.name, {}))
        kept = method_settings(made)[setting.name].default
        assert kept == (tuple(value) if setting.several else value)
        assert type(kept) is type(setting.read(value))
        assert json.loads(json.dumps(dict(made.settings)))


def test_numbers_of_numpy_are_taken_and_stored_as_python_has_them():
    made = with_settings(recipe_of("rap"), {"rows": np.int64(50), "descent.rate": np.float32(0.5)})
    assert [type(value) for _, value in made.settings] == [int, float]


@every_setting
def test_the_command_line_refuses_with_exit_code_2_and_touches_no_ledger(method, setting, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("schema.json").write_text(json.dumps(SCHEMA.to_json()), encoding="utf-8")
    given = ["synthesize", "nowhere.csv", "--schema", "schema.json", "--rho", "1", "--method", method]
    done = CliRunner().invoke(app, [*given, "--ledger", "ledger.db", "--set", f"{setting.name}=NaN"])
    assert isinstance(done.exception, UserError), done.output
    assert done.exception.exit_code == 2
    assert f"setting {setting.name!r}: found" in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["schema.json"]


def test_unknown_names_groups_and_repetitions_are_refused(tmp_path):
    for method, settings, found in [
        ("rap", {"rounds": 3}, "method 'rap' has no setting 'rounds'; it has rows, simplex, descent.rate"),
        (
            "rap",
            {"rule.rounds": 0},
            "setting 'rule.rounds': found 0; it must be a whole number from 1 to 10,000, or null",
        ),
        ("rap", {"descent": {"rate": 1.0}}, "it is a group; set descent.rate, descent.number_rate"),
        ("rap++", {"annealing.first": 5000.0}, "annealing: found sharpness 5000.0 to 2048.0"),
        ("independent", {"first.share": 0.5}, "has no setting 'first.share'; it has none"),
        ("private-gsd", {"mutations": 0, "crossovers": 0}, "a generation needs a candidate"),
    ]:
        with pytest.raises(UserError, match=found.replace("+", r"\+")):
            Synthesizer(SCHEMA, rho=1.0, dataset="d", method=method, settings=settings)
    both = {"annealing.first": 5000.0, "annealing.last": 6000.0}
    assert Synthesizer(SCHEMA, rho=1.0, dataset="d", method="rap++", settings=both).recipe.settings == tuple(
        both.items()
    )
    done = CliRunner().invoke(app, ["generate", "no.json", "-o", "out", "--set", "rows=1", "--set", "rows=2"])
    assert "twice" in str(done.exception)


def test_rounds_and_choices_of_adaptive_methods_are_what_is_paid_for(tmp_path):
    settings = {"rule.rounds": 2, "rule.per_round": 3, "first.share": 0.4, "bins.most": 4}
    made = Synthesizer(
        SCHEMA, rho=0.5, dataset="d", method="mwem-pgm", settings=settings, ledger=tmp_path / "ledger.db", seed=3
    ).fit(table(300))
    choices = [payment for payment in made.released.payments if payment.mechanism == "exponential"]
    assert [payment.details["k"] for payment in choices] == [3, 3]
    columns = [payment.rho for payment in made.released.payments[: len(SCHEMA.columns)]]
    assert sum(columns) == pytest.approx(0.2, rel=1e-6)
    again = load(made.save(tmp_path / "model"))
    assert dict(again.recipe.settings) == settings
    assert again.recipe.rule == made.recipe.rule
    assert again.sample(20).equals(made.sample(20))


def test_nested_settings_survive_save_and_load(tmp_path):
    settings = {"rows": 30, "noise": 4, "widths": [8, 8], "descent.steps": 5, "descent.window": 5, "first.share": 0.5}
    made = Synthesizer(
        SCHEMA, rho=0.5, dataset="d", method="gem", settings=settings, ledger=tmp_path / "ledger.db", seed=3
    ).fit(table(100))
    again = load(made.save(tmp_path / "model"))
    assert again.recipe.generator == made.recipe.generator
    assert again.recipe.generator.widths == (8, 8)
    assert again.recipe.generator.descent.steps == 5
    assert again.sample(20).equals(made.sample(20))


def test_settings_of_measuring_are_refused_where_measuring_is_over(tmp_path):
    from sundog import Model

    released = Synthesizer(SCHEMA, rho=0.5, dataset="d", method="independent").fit(table(50)).released
    for part in MEASURING:
        with pytest.raises(UserError, match="it says what is measured"):
            Model.from_released(released, method="mst", settings={f"{part}.anything": 1})


@pytest.mark.parametrize("method", METHODS)
def test_a_method_prints_all_its_settings(method):
    done = CliRunner().invoke(app, ["methods", method, "--json"])
    shown = json.loads(done.stdout)["settings"]
    assert shown.keys() == method_settings(METHODS[method]).keys()
    for facts in shown.values():
        assert facts["meaning"]
        assert facts["allowed"]
    text = CliRunner().invoke(app, ["methods", method]).stdout
    assert all(f"  {name} = " in text for name in shown)


QUICK = {
    "auto": {"rows": 50, "passes": 1},
    "privpgd": {"particles": 100, "epochs": 1, "steps": 2, "pool": 4},
    "private-gsd": {"rows": 40, "generations": 20},
    "private-gsd-adaptive": {"rows": 40, "generations": 20, "rule.rounds": 2},
    "mwem-pgm": {"rule.rounds": 2},
    "aim": {"rule.rounds": 0.5},
    "rap": {"rows": 20, "descent.steps": 2, "descent.window": 2},
    "gem": {"rows": 20, "widths": [4], "descent.steps": 2, "descent.window": 2},
    "rap++": {"rows": 20, "workload.directions": 3, "descent.steps": 2, "descent.window": 2},
    "rap++-polished": {
        "rows": 20,
        "workload.directions": 3,
        "projection.rows": 20,
        "projection.descent.steps": 2,
        "projection.descent.window": 2,
        "genetic.generations": 5,
    },
}
"""How well a method does is no matter here; only that it ends."""


def run_values(setting):
    """Values that are allowed and end soon: the lower end, every choice, and the upper end of what is a share."""
    values = right_values(setting)
    if setting.bounds is None or setting.several:
        return values
    return values if setting.bounds.most <= 1 else values[:1]


@pytest.mark.slow
@every_setting
def test_right_values_run(method, setting, tmp_path):
    for number, value in enumerate(run_values(setting)):
        settings = QUICK.get(method, {}) | {setting.name: value} | TOGETHER.get(setting.name, {})
        made = Synthesizer(
            SCHEMA, rho=0.5, dataset="d", method=method, settings=settings, ledger=tmp_path / f"{number}.db", seed=1
        ).fit(table(60))
        assert made.sample(10).num_rows == 10
