"""The Python front door: fit once, sample as often as you like, save and load; and a private table that stays shut."""

import copy
import doctest
import importlib
import json
import pickle
import pkgutil
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sundog
import tables
from sundog.errors import BudgetRefused, UserError
from sundog.generate import Independent
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable, open_private

VALUES = tables.table(150)


def synthesizer(**options):
    budget = {} if {"epsilon", "rho"} & set(options) else {"rho": 0.5}
    return sundog.Synthesizer(tables.DOCUMENT, **{"method": "independent", **budget, **options})


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    return synthesizer(ledger=tmp_path_factory.mktemp("ledger") / "l.sqlite", seed=3).fit(VALUES)


def test_fit_and_sample(fitted):
    sample = fitted.sample(70)
    assert sample.num_rows == 70
    assert sample.column_names == list(fitted.schema.names)
    assert abs(fitted.sample().num_rows - fitted.released.rows) == 0
    assert sample.to_pandas().shape == (70, 8)
    assert pl.from_arrow(sample).height == 70


def test_sampling_is_a_function_of_the_seed(fitted):
    assert fitted.sample(50).equals(fitted.sample(50))
    assert fitted.sample(50, seed=8).equals(fitted.sample(50, seed=8))
    assert not fitted.sample(50, seed=8).equals(fitted.sample(50, seed=9))


@pytest.mark.parametrize("seed", [0, -1, 2**31, 2**62, 10**30])
def test_any_whole_number_is_a_seed(fitted, seed):
    assert fitted.sample(5, seed=seed).num_rows == 5


def test_sampling_costs_nothing(own_ledger):
    made = synthesizer().fit(VALUES)
    before = Ledger(own_ledger).account("clinic").exact_rho
    made.sample(10)
    made.save(own_ledger.parent / "model")
    assert Ledger(own_ledger).account("clinic").exact_rho == before > 0


@pytest.mark.parametrize("rows", [0, -3])
def test_wrong_numbers_of_rows_are_refused(fitted, rows):
    with pytest.raises(UserError, match=f"rows: found {rows}; it must be 1 or more"):
        fitted.sample(rows)


def test_a_second_fit_is_refused_unless_told_to_spend_again(own_ledger):
    made = synthesizer()
    made.fit(VALUES)
    once = Ledger(own_ledger).account("clinic").exact_rho
    with pytest.raises(UserError, match=r"has spent its budget.*spend_again=True"):
        made.fit(VALUES)
    assert Ledger(own_ledger).account("clinic").exact_rho == once
    made.fit(VALUES, spend_again=True)
    assert Ledger(own_ledger).account("clinic").exact_rho == 2 * once


def test_a_fit_that_broke_off_after_paying_is_a_fit(own_ledger, monkeypatch):
    """Its measurements are there to be used; paying once more needs a word."""

    def fail(*_, **__):
        raise RuntimeError("no memory")

    made = synthesizer()
    with monkeypatch.context() as patch:
        patch.setattr(Independent, "fit", fail)
        with pytest.raises(RuntimeError):
            made.fit(VALUES)
    assert made.paid_for.measurements
    once = Ledger(own_ledger).account("clinic").exact_rho
    with pytest.raises(UserError, match=r"has spent its budget.*paid_for.*spend_again=True"):
        made.fit(VALUES)
    assert Ledger(own_ledger).account("clinic").exact_rho == once
    model = sundog.Model.from_released(made.paid_for, method="independent")
    assert model.sample(10).num_rows == 10
    assert made.fit(VALUES, spend_again=True).sample(5).num_rows == 5


def test_a_fit_that_was_refused_before_paying_may_be_tried_again(own_ledger):
    made = synthesizer()
    with pytest.raises(UserError, match="lacks the column"):
        made.fit({"age": [1]})
    assert made.fit(VALUES).sample(5).num_rows == 5
    assert len(Ledger(own_ledger).accounts()) == 1


def test_nothing_works_before_a_fit():
    made = synthesizer()
    for use in (lambda: made.sample(5), lambda: made.released, lambda: made.save("x"), lambda: made.model):
        with pytest.raises(UserError, match=r"not fitted; call fit\(table\) first"):
            use()


def test_save_and_load(fitted, tmp_path):
    folder = fitted.save(tmp_path / "deep" / "model")
    loaded = sundog.load(folder)
    assert loaded.sample(40).equals(fitted.sample(40))
    assert json.dumps(loaded.released.to_json()) == json.dumps(fitted.released.to_json())
    assert {"released.json", "certificate.json", "certificate.html", "model.json"} <= {p.name for p in folder.iterdir()}


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"method": "independent"}', "\udcff"])
def test_what_is_no_model_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "model.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=r"saved model.*; save one with|is not JSON|found a list|not UTF-8"):
        sundog.load(tmp_path)


def test_every_kind_of_frame_and_file(tmp_path):
    frames = [VALUES, tables.arrow(VALUES), pd.DataFrame(VALUES), pl.DataFrame(VALUES)]
    files = [tables.write_csv(tmp_path / "t.csv", VALUES), str(tables.write_parquet(tmp_path / "t.parquet", VALUES))]
    for number, data in enumerate(frames + files):
        made = synthesizer(dataset=f"clinic {number}", rho=1e4, confirmed=True).fit(data)
        region = next(m for m in made.released.measurements if m.query.columns == ("region",))
        exact = [VALUES["region"].count(label) for label in (*made.schema.column("region").labels, None)]
        assert abs(region.values - exact).max() <= 2, "at so large a budget the noise is next to nothing"


def test_files_take_a_delimiter(tmp_path):
    path = tables.write_csv(tmp_path / "t.csv", VALUES, delimiter=";")
    assert (
        sundog.Synthesizer(tables.schema().with_dialect({"delimiter": ";"}), rho=1, method="independent")
        .fit(path)
        .sample(5)
        .num_rows
        == 5
    )


def test_the_schema_may_be_a_path_a_document_or_itself(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(tables.DOCUMENT))
    made = [sundog.Synthesizer(each, rho=1) for each in (path, str(path), tables.DOCUMENT, tables.schema())]
    assert all(each.schema == tables.schema() for each in made)


@pytest.mark.parametrize("given", [None, [1], 5])
def test_what_is_no_schema_is_named(given):
    with pytest.raises(UserError, match=r"schema: found a .*; give a Schema, a Table Schema document"):
        sundog.Synthesizer(given, rho=1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"epsilon": 1.0}, "delta must be given"),
        ({"epsilon": 1.0, "rho": 1.0, "delta": 1e-9}, "both rho and epsilon"),
        ({"rho": -1.0}, "found rho -1.0"),
        ({"method": "magic"}, "method 'magic' is unknown"),
        ({"neighbours": "cousins"}, "'neighbours': found 'cousins'"),
        ({"rows_per_unit": 2}, "needs a unit column"),
        ({"unit": "visit", "rows_per_unit": 0}, "rows per unit: found 0"),
    ],
)
def test_mistakes_are_told_at_once(options, match):
    with pytest.raises(UserError, match=match):
        synthesizer(**options)


def test_a_limit_refuses_before_the_fit(own_ledger):
    Ledger(own_ledger).set_limit("clinic", rho=0.4)
    with pytest.raises(BudgetRefused, match="Nothing was computed"):
        synthesizer().fit(VALUES)
    assert [entry.mechanism for entry in Ledger(own_ledger).account("clinic").entries] == ["limit"]


def test_public_rows_give_delta_and_size():
    made = synthesizer(epsilon=1.0, neighbours="replace").fit(VALUES)
    assert made.released.guarantee.delta == 1 / 150**2
    assert made.released.public_rows == 150
    assert made.sample().num_rows == 150


def test_a_unit_column_hides_the_number_of_rows():
    made = synthesizer(neighbours="replace", unit="visit", rows_per_unit=3).fit(VALUES)
    assert made.released.public_rows is None
    assert made.released.guarantee.unit.rows == 3


def test_the_noise_differs_between_runs_of_one_seed():
    first, second = (synthesizer(seed=1, dataset=str(k)).fit(VALUES).released for k in (1, 2))
    assert [m.values.tolist() for m in first.measurements] != [m.values.tolist() for m in second.measurements]


def test_reports_tell_steps_and_nothing_else():
    told = []
    synthesizer().fit(VALUES, report=told.append)
    again = []
    synthesizer(dataset="two").fit(tables.table(10, seed=2), report=again.append)
    assert told == again != []


def test_repr_tells_no_secret(fitted):
    assert repr(synthesizer()) == "Synthesizer(method='independent', dataset='clinic', not fitted)"
    assert repr(fitted).endswith("fitted)")


# --- the private table ----------------------------------------------------------------------------------------------


def test_a_private_table_is_shut():
    table = PrivateTable({"a": ["secret", "secret"]})
    assert repr(table) == str(table) == "PrivateTable(closed)"
    assert table.columns == ("a",)
    for use in (len, iter, list, bytes, json.dumps, vars):
        with pytest.raises(TypeError):
            use(table)
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied: private rows stay where they are"):
            use(table)
    with pytest.raises(TypeError):
        table[0]
    with pytest.raises(AttributeError):
        table.rows = 5
    assert [name for name in dir(table) if not name.startswith("_")] == ["check", "columns"]


def test_only_the_door_opens_it():
    table = PrivateTable({"a": [1]})
    assert open_private(table).columns == ("a",)
    assert not hasattr(table, "source")
    assert not hasattr(table, "__source")


def test_a_curator_shows_no_rows():
    from privacy.stand_ins import curator
    from sundog.domain.unit import PrivacyUnit

    made = curator([("a", 1)] * 77, unit=PrivacyUnit())
    assert "77" not in repr(made).split(" at 0x")[0]  # what follows is an address
    with pytest.raises(TypeError):
        pickle.dumps(made)


# --- the package ----------------------------------------------------------------------------------------------------

MODULES = sorted(module.name for module in pkgutil.walk_packages(sundog.__path__, "sundog."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_the_source_are_true(name):
    try:
        module = importlib.import_module(name)
    except ImportError as missing:
        pytest.skip(f"needs an extra: {missing.name}")
    assert doctest.testmod(module).failed == 0


def test_some_modules_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [
        name
        for name in ("sundog.api.synthesizer", "sundog.domain.schema", "sundog.estimate.nonnegative")
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(found) >= 3


def test_the_package_is_typed():
    assert (Path(sundog.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("name", sundog.__all__)
def test_every_public_name_is_there(name):
    assert getattr(sundog, name) is not None
    assert name in dir(sundog)


def test_an_unknown_name_is_told():
    with pytest.raises(AttributeError, match="module 'sundog' has no attribute 'Synthesiser'"):
        _ = sundog.Synthesiser


SMOKER = {"name": "smokers", "fields": [{"name": "smoker", "type": "boolean", "constraints": {"required": True}}]}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_come_back_in_the_kind_of_frame_that_was_fitted(kind):
    model = sundog.Synthesizer(SMOKER, epsilon=1.0, delta=1e-6, method="independent").fit(kind({"smoker": [True] * 50}))
    assert type(model.sample(5)) is type(kind({"smoker": [True]}))
    assert len(model.sample(5)) == 5


def test_it_can_be_cloned_and_stand_in_a_pipeline():
    base = pytest.importorskip("sklearn.base")
    from sklearn.pipeline import Pipeline

    model = sundog.Synthesizer(SMOKER, epsilon=1.0, delta=1e-6, method="independent", seed=3)
    model.fit({"smoker": [True, False] * 50})
    again = base.clone(model)
    assert again.get_params() == model.get_params()
    with pytest.raises(UserError, match="not fitted"):
        again.sample(1)
    assert again.set_params(epsilon=0.5).get_params()["epsilon"] == 0.5
    with pytest.raises(UserError, match="no parameter 'epsilom'"):
        again.set_params(epsilom=1)
    steps = Pipeline([("synthesize", again)]).fit({"smoker": [True, False] * 50})
    assert steps.named_steps["synthesize"].sample(4).num_rows == 4


def test_a_release_is_one_line_in_a_terminal():
    model = sundog.Synthesizer(SMOKER, epsilon=1.0, delta=1e-6, method="independent").fit({"smoker": [True] * 50})
    for shown in (repr(model.released), repr(model.model)):
        assert len(shown) < 150
        assert "\n" not in shown
