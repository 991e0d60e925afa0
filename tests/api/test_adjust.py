"""sundog.postprocess as its users call it: what is spent and when, what the certificate adds up, other tools' tables."""

import json
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pytest

import sundog
from postprocess.tiny_supports import DOCUMENT, SCHEMA, table
from sundog.api.adjust import composed
from sundog.errors import BudgetRefused, UserError
from sundog.postprocess.match import NotMet
from sundog.postprocess.matching import Matching
from sundog.private.accountant import gaussian_epsilon
from sundog.private.ledger import Ledger

REAL, THEIRS = table(4000, seed=1, slope=0.8), table(1500, seed=2)
BUDGET = {"epsilon": 1.0, "delta": 1e-9}


def correlation(made):
    return made.to_pandas()[["x", "y"]].corr().iloc[0, 1]


def adjusted(made=THEIRS, measures="correlations: x, y", **options):
    budget = {} if "released" in options or "rho" in options else BUDGET
    real = {} if "released" in options else {"real": REAL}
    return sundog.adjust(made, measures, **{"schema": DOCUMENT, **real, **budget, **options})


def spent(path):
    ledger = Ledger(path)
    return sum((ledger.account(name).exact_rho for name in ledger.accounts()), Fraction())


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    return adjusted(ledger=tmp_path_factory.mktemp("ledger") / "l.sqlite")


def test_the_correlation_becomes_the_real_one(once):
    real = correlation(pa.table(REAL))
    assert abs(correlation(pa.table(THEIRS))) < 0.1
    assert abs(correlation(once.table) - real) < 0.1
    assert once.table.num_rows == 1500


def test_a_second_step_by_the_same_measurements_costs_nothing_more(once):
    """Their rows are from elsewhere in the first step's release; the measurements are the same."""
    measured = replace(once.released, rows_from_elsewhere=False)
    first = adjusted(released=measured)
    second = adjusted(first.table, released=measured, before=first.released)
    assert second.released.guarantee == measured.guarantee
    assert second.released.payments == measured.payments
    assert second.released.rows_from_elsewhere


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_what_is_spent_is_what_the_certificate_says(own_ledger, noise, neighbours):
    done = adjusted(noise=noise, neighbours=neighbours, matching=Matching(closest=True))
    guarantee = done.released.guarantee
    assert float(spent(own_ledger)) == pytest.approx(guarantee.rho, rel=1e-12)
    assert guarantee.epsilon <= 1
    assert guarantee.delta == 1e-9
    assert {m.noise for m in done.released.measurements} == {noise}
    assert {payment.mechanism for payment in done.released.payments} == {noise}
    counted = [m for m in done.released.measurements if m.query.partition]
    assert len(counted) == (1 if neighbours == "add-remove" else 0), (
        "a private number of rows is measured, a public not"
    )


def test_one_over_n_squared_is_the_default_where_n_is_public():
    done = sundog.adjust(THEIRS, "correlations: x, y", schema=SCHEMA, real=REAL, epsilon=1.0, neighbours="replace")
    assert done.released.guarantee.delta == pytest.approx(1 / 4000**2)


def test_earlier_measurements_cost_nothing(once, own_ledger):
    for measures in ("correlations", "correlations: y, x"):
        again = adjusted(measures=measures, released=once.released, seed=3)
        assert abs(correlation(again.table) - correlation(once.table)) < 0.05
        assert again.released.guarantee == once.released.guarantee
    assert spent(own_ledger) == 0


def test_what_was_not_measured_is_named(once):
    for measures, name in (("correlations: x", "correlations of x"), ("marginals: g", "g (4)")):
        with pytest.raises(UserError, match=name.replace("(", r"\(").replace(")", r"\)") + ".*not among the released"):
            adjusted(measures=measures, released=once.released)


def test_a_count_of_rows_is_no_measurement_of_a_column(own_ledger):
    counted = adjusted(measures="correlations: y, t").released
    with pytest.raises(UserError, match="'x' is not among the released"):
        adjusted(measures="columns: x", released=counted)


def error_of_columns(made):
    """How far single columns are from the real ones."""
    real, found = (pd.DataFrame(rows)["g"].value_counts(normalize=True) for rows in (REAL, made.to_pydict()))
    return float((real - found).abs().sum())


def test_columns_are_pooled_with_what_the_tables_making_measured(own_ledger):
    made = sundog.Synthesizer(DOCUMENT, rho=0.5, method="independent").fit(REAL)
    rows = made.sample(3000).to_pandas()
    biased = rows[(rows["g"] != "a") | (rows.index % 3 == 0)]
    rough = {"measures": "columns: g", "rho": 1e-6, "matching": Matching(closest=True)}
    assert error_of_columns(adjusted(biased, before=made.released, **rough).table) < 0.02
    assert error_of_columns(adjusted(biased, **rough, dataset="other").table) > 0.05


def test_a_making_with_another_schema_is_not_pooled(own_ledger):
    """Codes would mean other labels."""
    turned = [
        {**field, "categories": ["c", "b", "a"]} if field["name"] == "g" else field for field in DOCUMENT["fields"]
    ]
    real = {**REAL, "g": ["a"] * 3500 + ["c"] * 500}
    made = sundog.Synthesizer({**DOCUMENT, "fields": turned}, rho=0.5, method="independent").fit(real)
    done = adjusted(made.sample(1500), "columns: g", real=real, before=made.released, rho=0.01)
    assert done.table.to_pandas()["g"].value_counts(normalize=True)["a"] > 0.8


def test_one_release_given_twice_counts_once(own_ledger, tmp_path):
    released = adjusted(measures="columns").released
    once, twice = (
        adjusted(measures="columns", released=released, before=before, matching=Matching(resample="weights"))
        for before in (None, type(released).from_json(released.to_json()))
    )
    assert once.rows.weights.tolist() == twice.rows.weights.tolist()


def test_measurements_with_another_schema_are_refused(once):
    first, *others = DOCUMENT["fields"]
    other = {**DOCUMENT, "fields": [{**first, "constraints": {"minimum": 0, "maximum": 11, "required": True}}, *others]}
    with pytest.raises(UserError, match="another schema"):
        sundog.adjust(THEIRS, schema=other, released=once.released)


def test_costs_add_up_with_those_of_the_tables_making(own_ledger):
    made = sundog.Synthesizer(DOCUMENT, **BUDGET, method="independent").fit(REAL)
    done = adjusted(made.sample(1500), before=made.released)
    first, both = made.released.guarantee, done.released.guarantee
    assert both.rho == pytest.approx(float(spent(own_ledger)), rel=1e-9)
    assert both.rho > 1.9 * first.rho
    assert both.epsilon == pytest.approx(gaussian_epsilon(both.rho, 1e-9))
    assert 1.3 < both.epsilon < 1.5
    assert len(done.released.payments) == len(made.released.payments) + 1, "the number of rows is known already"
    assert [line.receipt for line in done.released.payments[:4]] == [line.receipt for line in made.released.payments]


def test_a_weaker_accounting_holds_for_both(once, own_ledger):
    laplace = adjusted(noise="laplace", before=once.released, matching=Matching(closest=True))
    assert laplace.released.guarantee.accounting == "zcdp"
    assert laplace.released.guarantee.rho > once.released.guarantee.rho


def test_the_same_measurements_are_not_paid_for_twice(once):
    assert composed(once.released, once.released).guarantee == once.released.guarantee


def test_guarantees_for_different_units_do_not_add_up(once, own_ledger):
    with pytest.raises(UserError, match=r"do not add up. Measure for the same unit"):
        adjusted(before=once.released, neighbours="replace")
    assert spent(own_ledger) == 0


def test_the_ledgers_limit_holds(own_ledger):
    Ledger(own_ledger).set_limit("toy", epsilon=0.5, delta=1e-9)
    with pytest.raises(BudgetRefused):
        adjusted()
    assert spent(own_ledger) == 0


def test_what_was_measured_is_kept_when_the_rows_cannot_meet_it(own_ledger):
    one = {name: values[:1] for name, values in THEIRS.items()}
    with pytest.raises(NotMet, match="cannot meet") as refused:
        adjusted(one)
    assert refused.value.released.guarantee.rho == pytest.approx(float(spent(own_ledger)))
    paid = spent(own_ledger)
    assert adjusted(released=refused.value.released).table.num_rows == 1500
    assert adjusted(one, released=refused.value.released, matching=Matching(closest=True)).table.num_rows == 1
    assert spent(own_ledger) == paid


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"real": None}, "give either the real table"),
        ({"measures": "correlations: x, salary"}, "salary"),
        ({"made": {"x": [1], "y": [2], "g": ["a"]}}, "lacks the column 't'"),
        ({"made": {name: [] for name in THEIRS}}, "no rows"),
        ({"real": {"x": [1]}}, "lacks the column"),
        ({"made": "absent.csv"}, "does not exist"),
        ({"epsilon": None}, "neither epsilon nor rho"),
        ({"epsilon": -1.0}, "must be a finite number above 0"),
        ({"delta": None}, "delta must be given"),
        ({"weights": "w"}, "lacks the column 'w'"),
    ],
)
def test_nothing_is_spent_on_wrong_input(options, message, own_ledger):
    with pytest.raises(UserError, match=message):
        adjusted(**options)
    assert spent(own_ledger) == 0


def test_another_tools_table(tmp_path, once):
    """Columns in another order, one too many, values outside the domain, spaces around nothing: read by name, and told."""
    frame = pd.DataFrame(THEIRS)
    frame.loc[:2, "x"] = 99
    frame.loc[3, "g"] = "zebra"
    frame.insert(0, "extra", 1)
    frame["x"] = frame["x"].astype(float)  # 3.0 instead of 3
    path = tmp_path / "theirs.csv"
    frame[["extra", "t", "y", "g", "x"]].to_csv(path, index=False, sep=";")
    done = adjusted(str(path), released=once.released, schema={**DOCUMENT, "dialect": {"delimiter": ";"}})
    assert abs(correlation(done.table) - correlation(once.table)) < 0.05
    assert done.table.column_names == ["x", "y", "g", "t"]
    notes = " | ".join(done.notes)
    assert "'x': 3 of 1500 values (0.2 %): outside the declared bounds; clamped" in notes
    assert "'g': 1 of 1500" in notes
    assert "left out: extra" in notes


def test_weights_in_and_out(once):
    out = adjusted(released=once.released, matching=Matching(resample="weights")).table
    assert out.column_names[-1] == "weight"
    assert out.drop_columns("weight").to_pylist() == pa.table(THEIRS).to_pylist()
    again = adjusted(out, released=once.released, weights="weight", matching=Matching(resample="weights"))
    assert again.match.before < 0.2 * once.match.before, "what was adjusted has little left to adjust"
    assert again.notes == ()
    with pytest.raises(UserError, match="must hold a number, 0 or more"):
        adjusted({**THEIRS, "w": [-1.0] * 1500}, released=once.released, weights="w")


def test_the_seed_fixes_the_rows(once):
    made = [adjusted(released=once.released, seed=seed).table for seed in (4, 4, 5)]
    assert made[0].equals(made[1])
    assert not made[0].equals(made[2])


@pytest.mark.parametrize("method", ["independent", "mst"])
def test_as_a_step_of_synthesizing(method, own_ledger, tmp_path):
    options = {"method": method, "adjust": "correlations: x, y", "adjust_share": 0.4, "seed": 1}
    made = sundog.Synthesizer(DOCUMENT, **BUDGET, **options).fit(REAL)
    guarantee = made.released.guarantee
    assert guarantee.epsilon <= 1
    assert float(spent(own_ledger)) == pytest.approx(guarantee.rho, rel=1e-12)
    (moments,) = made.released.adjustments
    paid = next(line.rho for line in made.released.payments if line.receipt == moments.receipt)
    assert paid == pytest.approx(0.4 * guarantee.rho, rel=1e-3)
    assert abs(correlation(made.sample(3000)) - correlation(pa.table(REAL))) < 0.12
    assert sundog.load(made.save(tmp_path / "model")).sample(50).equals(made.sample(50))


@pytest.mark.parametrize(
    "wrong", [{"adjust": "correlations: salary"}, {"adjust": ""}, {"adjust": "marginals: g", "adjust_share": 0.0}]
)
def test_a_synthesizer_refuses_wrong_measures_before_it_spends(wrong):
    with pytest.raises(UserError, match=r"salary|none were named|adjust_share"):
        sundog.Synthesizer(DOCUMENT, **BUDGET, **wrong)


def test_what_is_released_can_be_written_and_read(once, tmp_path):
    once.released.save(tmp_path / "released.json")
    loaded = sundog.Released.load(tmp_path / "released.json")
    assert json.dumps(loaded.to_json()) == json.dumps(once.released.to_json())
    assert adjusted(released=loaded).table.equals(adjusted(released=once.released).table)


def test_nothing_but_measurements_depends_on_the_private_rows(monkeypatch, tmp_path):
    """With the noisy answers replaced by constants, two very different private tables give the same of everything."""
    from sundog.private import noise

    monkeypatch.setattr(noise, "add_gaussian", lambda answers, _: 0 * answers + 700)
    other = {"x": [0, 10, None], "y": [None, None, 3], "g": ["new", None, "c"], "t": [True, False, False]}
    made = []
    for name, real in (("one", REAL), ("other", other)):
        options = {"real": real, "matching": Matching(closest=True), "ledger": tmp_path / name}
        done = [adjusted(measures=measures, **options) for measures in ("correlations", "means: x by g; marginals: t")]
        made.append([(each.table, json.dumps(each.released.to_json()), each.match.describe()) for each in done])
    assert made[0] == made[1]
