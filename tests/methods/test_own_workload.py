"""A user's own workload and settings instead of a method's defaults, in Python and on the command line."""

import json

import pytest
from typer.testing import CliRunner

from example_tables import DOCUMENT, SCHEMA, table
from sundog import Synthesizer, UserError, load
from sundog.cli.app import app
from sundog.domain import Schema
from sundog.methods.own_workload import with_workload
from sundog.methods.recipes import recipe_of
from sundog.methods.settings import with_settings
from sundog.queries.workload import Workload
from sundog.select import Everything

TREES = Workload.trees(SCHEMA, levels=3)
PAIRS = Workload.marginals(SCHEMA, k=2, columns=["colour", "warm", "grade"])


def made(tmp_path, **options):
    return Synthesizer(SCHEMA, rho=0.5, dataset="own", seed=3, ledger=tmp_path / "ledger.db", **options)


def test_only_the_workload_is_measured_where_it_tells_the_number_of_rows(tmp_path):
    fitted = made(tmp_path, method="private-gsd", workload=PAIRS).fit(table(400))
    assert [m.query for m in fitted.released.measurements] == list(PAIRS.queries)
    assert fitted.sample().num_rows == pytest.approx(400, abs=40)


def test_columns_are_measured_first_where_the_workload_does_not_tell_the_number_of_rows(tmp_path):
    fitted = made(tmp_path, method="private-gsd", workload=TREES).fit(table(400))
    assert len(fitted.released.measurements) == len(SCHEMA.names) + len(TREES.queries)


def test_an_adaptive_method_chooses_from_the_workload(tmp_path):
    fitted = made(tmp_path, method="private-gsd-adaptive", workload=Workload.prefixes(SCHEMA, count=300, numbers=1))
    fitted.fit(table(400))
    assert sum(payment.mechanism == "exponential" for payment in fitted.released.payments) == 20
    assert sum(payment.rho for payment in fitted.released.payments) == pytest.approx(0.5, rel=1e-8)


def test_weights_divide_the_budget_or_are_refused():
    weighted = PAIRS + TREES.weighted(3.0)
    assert with_workload(recipe_of("private-gsd"), weighted).rule == Everything(weighted.weights)
    with pytest.raises(UserError, match=r"cannot weight queries.*Methods that can: .*aim"):
        with_workload(recipe_of("private-gsd-adaptive"), weighted)


def test_weights_make_aim_choose_what_matters(tmp_path):
    """All pairs are related alike; the weight decides which are worth measuring."""
    favourite = Workload.marginals(SCHEMA, k=2, columns=["warm", "grade"])
    others = Workload.marginals(SCHEMA, k=2, columns=["colour", "grade"])
    rule = with_workload(recipe_of("aim"), others + favourite.weighted(50.0)).rule
    assert rule.weights == (1.0, 50.0)
    chosen = made(tmp_path, method="aim", workload=others + favourite.weighted(50.0)).fit(table(400))
    pairs = [m.query.columns for m in chosen.released.measurements if len(m.query.columns) > 1]
    assert pairs[0] == ("warm", "grade")


def test_auto_leaves_what_it_cannot_use_to_the_genetic_search_and_weights_pairs(tmp_path):
    assert with_workload(recipe_of("auto"), TREES).name == "private-gsd"
    weighted = PAIRS + Workload.marginals(SCHEMA, k=2, columns=["warm", "size"]).weighted(9.0)
    assert with_workload(recipe_of("auto"), weighted).rule.weights == weighted.weights
    released = made(tmp_path, workload=weighted).fit(table(400)).released
    noise = {m.query.columns: m.stddev for m in released.measurements if len(m.query.columns) == 2}
    assert ("warm", "size") in noise
    assert set(noise) <= {query.columns for query in weighted.queries}


def test_what_the_method_cannot_use_is_refused_before_anything_is_spent(tmp_path):
    with pytest.raises(UserError, match=r"cannot use the query .*methods that can: .*private-gsd"):
        made(tmp_path, method="mst", workload=Workload.halfspaces(SCHEMA, directions=3))
    other = Schema.from_json({"fields": DOCUMENT["fields"][:2]})
    with pytest.raises(UserError, match="another schema"):
        made(tmp_path, method="private-gsd", workload=Workload.marginals(other))
    assert not (tmp_path / "ledger.db").exists()


def test_settings_change_the_generator_and_are_saved_with_the_model(tmp_path):
    fitted = made(tmp_path, method="private-gsd", workload=PAIRS, settings={"rows": 50}).fit(table(400))
    assert len(fitted.model.state.rows) == 50
    again = load(fitted.save(tmp_path / "model"))
    assert again.rows(50).to_arrow() == fitted.model.rows(50).to_arrow()


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"row": 5}, r"no setting 'row'; it has rows, mutations"),
        ({"rows": "many"}, "it must be a whole number from 1 to"),
        ({"rows": 0}, "found 0; it must be a whole number from 1 to"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, word):
    with pytest.raises(UserError, match=word):
        with_settings(recipe_of("private-gsd"), settings)


def test_the_command_takes_a_workload_and_settings_and_says_when_the_time_cap_ended_the_search(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "data.csv").write_text("colour,warm,size,grade\n" + "red,true,5,1\nblue,false,,3\n" * 50)
    (tmp_path / "workload.toml").write_text(
        '[[queries]]\nkind = "marginals"\nk = 2\ncolumns = ["colour", "warm", "grade"]\n'
    )
    options = ["--schema", "schema.json", "--rho", "1", "--method", "private-gsd", "--workload", "workload.toml"]
    options += ["--set", "seconds=0", "--set", "window=1e9", "--out", "out", "--json"]
    paths = [str(tmp_path / each) if each in ("schema.json", "workload.toml", "out") else each for each in options]
    result = CliRunner().invoke(app, ["synthesize", str(tmp_path / "data.csv"), *paths])
    assert result.exit_code == 0, result.output
    assert "time cap" in json.loads(result.stdout)["note"]
