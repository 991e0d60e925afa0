"""evaluate_tables: branded, on the ledger, fair to other tools' tables."""

import json

import pytest
from pyarrow import parquet

import sundog
from related_tables import DOCUMENT, permuted, related
from sundog.api import evaluate as side_by_side
from sundog.errors import UserError
from sundog.private.ledger import Ledger

REAL, GOOD, BAD = related(800, 1), related(700, 2), permuted(related(800, 1), "x")


@pytest.fixture
def compare(tmp_path):
    def run(synthetic, **options):
        options = {"schema": DOCUMENT, "ledger": tmp_path / "ledger.sqlite", "learning": False} | options
        return sundog.evaluate_tables(options.pop("real", REAL.to_arrow()), synthetic, **options)

    return run


def test_everything_is_branded_and_on_the_ledger(compare, tmp_path):
    found = compare({"good": GOOD.to_arrow()}, test=related(100, 3).to_arrow())
    document = found.to_json()
    assert document["confidential"] is True
    assert document["brand"].startswith("CONFIDENTIAL")
    assert "CONFIDENTIAL" in repr(found)
    assert "CONFIDENTIAL" in found.to_html()[:6000]
    assert "CONFIDENTIAL" in found._repr_html_()
    entries = Ledger(tmp_path / "ledger.sqlite").account("small").entries
    assert [entry.mechanism for entry in entries] == ["disclosed", "disclosed"]
    json.dumps(document, allow_nan=False)


def test_tables_stand_side_by_side_and_the_better_one_wins(compare):
    found = compare({"bad": BAD.to_arrow(), "good": GOOD.to_arrow()})
    bad, good = found.tables
    assert good.scores["tv2"].value < bad.scores["tv2"].value
    assert good.scores["utility_improvement"].value > 0.5
    assert "utility_improvement" not in bad.scores


def test_a_released_workload_is_evaluated(compare):
    model = sundog.Synthesizer(DOCUMENT, method="independent", epsilon=1.0, delta=1e-9, dataset="small").fit(
        REAL.to_arrow()
    )
    found = compare({"good": GOOD.to_arrow()}, released=model.released)
    assert found.tables[0].scores["workload_mean"].parts.keys() == {"1-way marginal"}


def test_lacking_columns_refuse_before_anything_is_disclosed(compare, tmp_path):
    partial = GOOD.to_arrow().drop_columns(["z", "y"])
    with pytest.raises(UserError, match="lacks the columns 'z', 'y'"):
        compare({"partial": partial})
    assert not (tmp_path / "ledger.sqlite").exists()
    found = compare({"partial": partial}, common_columns=True)
    assert found.columns == ("a", "b", "x")


def test_columns_in_another_order_make_no_difference(compare):
    table = GOOD.to_arrow()
    found = compare({"as declared": table, "reversed": table.select(table.column_names[::-1])})
    declared, turned = ({name: score.value for name, score in each.scores.items()} for each in found.tables)
    declared.pop("utility_improvement", None)
    turned.pop("utility_improvement")
    assert turned == declared


def test_identical_tables_have_no_error_and_learn_as_well_as_the_real_rows(compare):
    pytest.importorskip("sklearn")
    found = compare({"same": REAL.to_arrow()}, learning=True, test=related(300, 3).to_arrow())
    scores = {name: score.value for name, score in found.tables[0].scores.items()}
    assert {name: scores.pop(name) for name in ("f1", "boosting_error")} == {
        name: score.value for name, score in found.reference.items()
    }
    best = {"inverse_kl": 1.0, "k_marginal": 1000.0, "subsample": 1.0, "detection_auc": 0.5}
    assert {name: scores.pop(name) for name in best} == pytest.approx(best)
    assert scores == pytest.approx(dict.fromkeys(scores, 0.0), abs=1e-12)


def test_missing_values_and_labels_that_nobody_declared_count_against_a_table(compare):
    table = REAL.to_arrow()
    a = table.column("a").to_pylist()
    was_missing = a.count(None) / len(a)
    for spoil, words in ((None, None), ("never heard of", "label not declared")):
        spoilt = table.set_column(0, "a", [[spoil if k % 2 else value for k, value in enumerate(a)]])
        found = compare({"spoilt": spoilt}).tables[0]
        now_missing = sum(k % 2 or value is None for k, value in enumerate(a)) / len(a)
        assert found.scores["tv1"].parts["a"] == pytest.approx(now_missing - was_missing)
        assert found.scores["tv1"].parts["b"] == 0
        assert (words is None and not found.notes) or words in found.notes[0]


def test_learning_needs_scikit_learn_and_says_so(compare, monkeypatch, tmp_path):
    monkeypatch.setattr(side_by_side, "available", lambda: False)
    monkeypatch.setattr("sundog.evaluate.learning.available", lambda: False)
    with pytest.raises(UserError, match=r"pip install 'sundog\[eval\]'"):
        compare({"good": GOOD.to_arrow()}, learning=True)
    assert not (tmp_path / "ledger.sqlite").exists()
    found = compare({"good": GOOD.to_arrow()}, learning=None)
    assert "f1" not in found.tables[0].scores
    assert "scikit-learn" in found.notes[0]


def test_learning_with_test_rows_has_the_real_rows_as_reference(compare):
    pytest.importorskip("sklearn")
    found = compare({"good": GOOD.to_arrow()}, learning=True, test=related(300, 3).to_arrow())
    assert found.reference["f1"].value == pytest.approx(found.tables[0].scores["f1"].value, abs=0.1)


def test_nothing_to_compare_is_said_in_words(compare):
    with pytest.raises(UserError, match="no synthetic table"):
        compare({})
    with pytest.raises(UserError, match="has no rows"):
        compare({"good": GOOD.to_arrow()}, real=REAL.to_arrow().slice(0, 0))


def test_every_score_stands_between_a_ceiling_and_a_floor(compare):
    found = compare({"good": GOOD.to_arrow()})
    ceiling, floor = found.baselines
    assert ceiling.scores["tv2"].value < found.tables[0].scores["tv2"].value < floor.scores["tv2"].value
    assert floor.scores["tv1"].value == 0
    assert any("of what relates two columns" in sentence for sentence in found.verdict)


def test_without_test_rows_a_share_is_held_out_and_the_notes_say_so(compare):
    pytest.importorskip("sklearn")
    found = compare({"good": GOOD.to_arrow()}, learning=True)
    assert found.test_rows == 160
    assert "20% of the real rows" in found.notes[0]
    assert found.reference.keys() == {"f1", "boosting_error"}


def test_named_analyses_are_done_on_both_tables(compare):
    found = compare({"good": GOOD.to_arrow(), "bad": BAD.to_arrow()}, analyses=["y ~ x + a"])
    good, bad = (table.analyses[0] for table in found.tables)
    assert good.overlap > bad.overlap
    assert good.analysis.text == "y ~ x + a"
    page = found.to_html()
    assert "y ~ x + a" in page
    assert "conclusions kept" in page


def test_an_analysis_that_cannot_be_read_is_refused_before_anything_is_disclosed(compare, tmp_path):
    with pytest.raises(UserError, match="'nobody' is not a column"):
        compare({"good": GOOD.to_arrow()}, analyses=["y ~ nobody"])
    assert not (tmp_path / "ledger.sqlite").exists()


def test_scores_as_a_table_are_the_owners_alone(compare, tmp_path):
    found = compare({"good": GOOD.to_arrow()})
    found.to_parquet(tmp_path / "scores.parquet")
    assert (tmp_path / "scores.parquet").stat().st_mode & 0o777 == 0o600
    lines = parquet.read_table(tmp_path / "scores.parquet").to_pylist()
    assert {"table": "good", "baseline": False, "metric": "tv2", "part": ""}.items() <= lines[
        [(line["table"], line["metric"]) for line in lines].index(("good", "tv2"))
    ].items()
