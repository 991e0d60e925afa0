"""Answers: exact where measurements are exact, intervals that cover as often as they say, and totals that agree."""

import numpy as np
import pytest

from noisy_releases import QUERIES, ROWS, SCHEMA, release
from sundog.api.answer import Answers, Asked, question_of
from sundog.domain.conditions import satisfied
from sundog.errors import UserError
from sundog.estimate import evidence as evidence_module
from sundog.estimate.evidence import Evidence
from sundog.estimate.margin import Margin
from sundog.estimate.questions import by_axes, released_answer

VALUES = {
    name: np.array(column.to_pylist(), dtype=object)
    for name, column in zip(SCHEMA.names, ROWS.to_arrow().columns, strict=True)
}
ASKED = {
    "count by a and b": {"by": ["a", "b"]},
    "count by x": {"by": "x"},
    "count where, on a border": {"where": "x < 50"},
    "count by a where, inside a bin": {"by": "a", "where": "x >= 45"},
    "count by b where, two columns": {"by": "b", "where": "x < 33 or a = p"},
    "mean": {"mean": ["x", "z"]},
    "mean by a": {"by": "a", "mean": "x"},
    "sum by b": {"by": "b", "sum": "x"},
    "share of one": {"share": "b=v", "where": "x > 50"},
    "share of all": {"share": "a", "where": "x > 50"},
    "quantiles": {"quantile": {"x": [0.5, 0.9], "z": 0.5}},
    "quantile by a": {"by": "a", "quantile": {"x": 0.5}},
}


def truth(question, statistic, by, shape):
    """The exact answer on the rows."""
    held = np.ones(len(ROWS), bool) if question.where is None else satisfied(question.where, ROWS)
    cells = np.zeros(len(ROWS), int)
    for axis in by:
        cells = cells * axis.size + ROWS.cells(axis)
    made = np.full(shape, np.nan)
    for cell in range(shape[0]):
        rows = held & (cells == cell)
        if statistic.kind == "count":
            made[cell, 0] = rows.sum()
        elif statistic.kind == "share":
            parts = (
                [satisfied(statistic.label, ROWS)]
                if statistic.label
                else [ROWS.column(statistic.column) == k for k in range(shape[1])]
            )
            made[cell] = [(rows & part).sum() / max(rows.sum(), 1) for part in parts]
        else:
            values = np.array([v for v in VALUES[statistic.column][rows] if v is not None], dtype=float)
            made[cell, 0] = _numbers(values, statistic)
    return made


def _numbers(values, statistic):
    if statistic.kind == "sum":
        return values.sum()
    if not len(values):
        return np.nan
    if statistic.kind == "mean":
        return values.mean()
    return np.sort(values)[int(np.ceil(statistic.probability * len(values))) - 1]


def asked(evidence, **words):
    question = question_of(SCHEMA, Asked(**words))
    by = by_axes(evidence, question, SCHEMA)
    for statistic in question.statistics:
        found = released_answer(evidence, question, statistic, by=by)
        yield found, truth(question, statistic, by, found.estimate.shape)


@pytest.mark.parametrize("words", ASKED.values(), ids=ASKED)
def test_precise_measurements_give_precise_answers(words):
    evidence = Evidence(release(1, stddevs=(0.01,) * len(QUERIES)))
    for found, exact in asked(evidence, **words):
        there = ~np.isnan(exact)
        assert np.mean(((found.low - 1e-6 <= exact) & (exact <= found.high + 1e-6))[there]) >= 0.75
        if found.origin == "measured":
            assert np.allclose(found.estimate[there], exact[there], atol=0.6, rtol=0.01)


def test_intervals_cover_as_often_as_they_say():
    hits = {"measured": [], "composed": []}
    for seed in range(12):
        evidence = Evidence(release(seed))
        for words in ASKED.values():
            if "quantile" not in words:  # whole numbers: an interval of them covers more than it must
                for found, exact in asked(evidence, **words):
                    there = ~np.isnan(exact)
                    hits[found.origin] += ((found.low <= exact) & (exact <= found.high))[there].tolist()
    assert np.mean(hits["measured"]) == pytest.approx(0.95, abs=0.025)
    assert np.mean(hits["composed"]) == pytest.approx(0.95, abs=0.035)


def _half_the_noise(monkeypatch):
    table = evidence_module._table
    monkeypatch.setattr(
        evidence_module, "_table", lambda query, values, variance, names: table(query, values, variance / 4, names)
    )


def _interactions_without_noise(monkeypatch):
    whole = Evidence._interaction
    monkeypatch.setattr(
        Evidence,
        "_interaction",
        lambda self, axes, weights, *, waiting: (whole(self, axes, weights, waiting=waiting)[0], 0.0),
    )


def _columns_without_noise(monkeypatch):
    whole = Margin.answer

    def answer(self, weights):
        value, variance, coefficient = whole(self, weights)
        return value, 0 * variance, coefficient

    monkeypatch.setattr(Margin, "answer", answer)


@pytest.mark.parametrize("fault", [_half_the_noise, _interactions_without_noise, _columns_without_noise])
def test_intervals_that_forget_noise_are_noticed(monkeypatch, fault):
    """What the test of coverage must not let pass."""
    fault(monkeypatch)
    hits = []
    for seed in range(6):
        evidence = Evidence(release(seed))
        for words in (ASKED["count by a and b"], ASKED["count by x"], ASKED["sum by b"]):
            for found, exact in asked(evidence, **words):
                hits += ((found.low <= exact) & (exact <= found.high)).ravel().tolist()
    assert np.mean(hits) < 0.9


def test_without_the_noise_of_the_insides_intervals_would_not_cover(monkeypatch):
    from sundog.estimate.asked import Asked

    monkeypatch.setattr(Asked, "_inside", lambda self, *_: 0.0)
    monkeypatch.setattr(Asked, "_tilted", lambda self, mean: (mean, 0 * mean))
    words = ASKED["count by a where, inside a bin"]
    hits = []
    for seed in range(12):
        found, exact = next(iter(asked(Evidence(release(seed)), **words)))
        hits += ((found.low <= exact) & (exact <= found.high)).ravel().tolist()
    assert np.mean(hits) < 0.93


def answers(seed=1, **more):
    released = release(seed, **more)
    return Answers(released, lambda: ROWS)


def ask(made, **words):
    return made.ask(question_of(SCHEMA, Asked(**words)), where=words.get("where"))


def test_one_number_of_rows_everywhere():
    made = answers()
    rows = made.released.rows
    assert ask(made).lines[0].estimate == rows
    for by in ("a", ["a", "b"], ["b", "x"], ["a", "b", "x"], "z"):
        table = ask(made, by=by)
        assert sum(line.estimate for line in table.lines) == pytest.approx(rows)
        assert table.rows == rows
    where = "x < 33"
    whole = ask(made, where=where).lines[0].estimate
    assert sum(line.estimate for line in ask(made, by="b", where=where).lines) == pytest.approx(whole, abs=1e-6)


def test_origins_and_the_bounds_of_intervals():
    made = answers()
    assert {line.origin for line in ask(made, by=["a", "x"]).lines} == {"measured"}
    assert {line.origin for line in ask(made, by=["a", "b"]).lines} == {"composed"}  # from three columns
    assert {line.origin for line in ask(made, by="b", where="x < 33").lines} == {"composed"}  # inside a bin
    table = ask(made, by=["a", "z"], share="y", mean="x", sum="x", quantile={"x": 0.9}, count=True)
    assert {line.origin for line in table.lines} == {"synthetic"}
    for line in table.lines:
        assert line.low <= line.estimate <= line.high
    counts = ask(made, by=["a", "x"]).lines
    assert all(line.low >= 0 and line.estimate >= 0 for line in counts)


def test_a_public_number_of_rows_has_no_error():
    table = ask(answers(public_rows=2000))
    assert (table.lines[0].low, table.lines[0].high) == (2000, 2000)
    assert "public" in table.notes()[0]


def test_shares_add_up_and_stay_within_bounds():
    table = ask(answers(), share="a", where="x > 50")
    assert sum(line.estimate for line in table.lines) == pytest.approx(1.0, abs=0.02)
    assert all(0 <= line.low <= line.high <= 1 for line in table.lines)
    nobody = ask(answers(), share="a", mean="x", where="x > 98 and b = u")
    assert all(0 <= line.low <= line.high <= 99 for line in nobody.lines)


def test_tables_as_frames_and_text():
    table = ask(answers(), by=["a", "b"], mean="x", count=True)
    assert table.to_pandas().columns.tolist() == ["a", "b", "statistic", "estimate", "low", "high", "origin"]
    assert table.to_polars().shape == (16, 7)
    assert table.to_arrow().num_rows == len(table) == 16
    assert "<table>" in table._repr_html_()
    assert repr(table) == "AnswerTable(16 answers by a, b)"
    assert "mean of x" in table.to_text()
    assert table.to_json()["answers"][0]["a"] == "p"


REFUSED = [
    ({"by": ["a", "a"]}, "each once"),
    ({"by": ["a", "b", "x", "z"]}, "one to 3"),
    ({"by": "nobody"}, "'nobody' is not in the schema"),
    ({"mean": "a"}, "holds no numbers"),
    ({"by": "x", "mean": "x"}, "also named in by"),
    ({"quantile": {"a": 0.5}}, "no order"),
    ({"quantile": {"x": 1.5}}, "between 0 and 1"),
    ({"confidence": 95}, "between 0 and 1"),
    ({"share": "a=nothing"}, "not a value"),
    ({"where": "x >>"}, "character"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=str)
def test_what_cannot_be_asked_is_refused(words, said):
    with pytest.raises(UserError, match=said):
        ask(answers(), **words)


def test_two_parts_of_a_whole_are_equally_uncertain_about_the_insides_of_bins():
    """What one of them has too much of a bin's inside, the other lacks: the margin of the bin is known."""
    evidence = Evidence(release(1, stddevs=(0.01,) * len(QUERIES)))
    (found, _) = next(iter(asked(evidence, by="b", sum="x")))
    half = (found.high - found.low)[:, 0]
    assert len(half) == 2
    assert half[0] == pytest.approx(half[1], rel=0.05)
    (whole, _) = next(iter(asked(evidence, sum="x")))
    assert (whole.high - whole.low)[0, 0] < 0.2 * half.max()
