"""Matching: what is met, what is refused and with which words, and what never changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postprocess.tiny_supports import SCHEMA, rows, table
from sundog.errors import UserError
from sundog.postprocess.denoise import MANY
from sundog.postprocess.match import NotMet, match
from sundog.postprocess.matching import Matching
from sundog.postprocess.measures import measures_of
from sundog.queries import Marginal, Moments, answer
from sundog.random.keys import key_of
from sundog.released import Measurement
from sundog.sources import open_table

KEY = key_of(1)
REAL = open_table(table(3000, seed=5, slope=0.8)).read(SCHEMA)
SYNTHETIC = open_table(table(2000, seed=6)).read(SCHEMA)


def measured(text, *, real=REAL, synthetic=SYNTHETIC, rows_of_noise=0.5, noise="gaussian", total=None):
    """Measurements with a little noise, as the curator would make them."""
    random = np.random.default_rng(0)
    made = []
    for query in measures_of(text, SCHEMA, rows=synthetic).queries:
        stddev = rows_of_noise * query.scale
        values = answer(query, real) + np.round(random.normal(0, stddev, query.size)).astype(np.int64)
        made.append(Measurement(query, values, stddev, "r", noise))
    return {"measurements": made, "total": float(total or len(real))}


def means(query, made):
    weights = np.ones(len(made)) if made.weights is None else made.weights
    return weights @ (query.vectors(made) / query.scale) / weights.sum()


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("how", ["systematic", "multinomial", "weights"])
def test_measures_are_met(how, noise):
    given_ = measured("correlations: x, y; means: x by g; marginals: t", noise=noise)
    done = match(KEY, SYNTHETIC, **given_, matching=Matching(resample=how))
    for measurement in given_["measurements"]:
        wanted = answer(measurement.query, REAL) / measurement.query.scale / len(REAL)
        error = np.abs(means(measurement.query, done.rows) - wanted).max()
        assert error < (0.03 if how == "multinomial" else 4e-3)
    assert done.tilt.residual < 1e-8
    assert done.tilt.violation <= Matching().gamma * 1.001
    assert done.after <= Matching().gamma * 1.001
    assert len(done.rows) == len(SYNTHETIC)
    assert (done.rows.weights is not None) == (how == "weights")


@pytest.mark.parametrize("gamma", [0.0, 1e-3, 0.02])
def test_gamma_is_respected(gamma):
    done = match(KEY, SYNTHETIC, **measured("correlations: x, y"), matching=Matching(gamma=gamma, resample="weights"))
    assert done.tilt.violation <= gamma + 1e-8
    assert done.after <= gamma + 1e-8
    assert done.after > 0.9 * gamma - 1e-8, "no more is changed than gamma asks for"


def test_much_noise_leaves_the_rows_alone_and_little_is_followed():
    loud = match(KEY, SYNTHETIC, **measured("correlations: x, y", rows_of_noise=3000.0))
    quiet = match(KEY, SYNTHETIC, **measured("correlations: x, y", rows_of_noise=1.0))
    assert loud.tilt.effective > 0.97 > quiet.tilt.effective


def test_columns_that_are_known_stay_where_they_are_known_to_be():
    """Noisy correlations pull at all columns that go with them; what the release says of those holds them."""
    noisy = measured("correlations: x, y", rows_of_noise=60.0)
    queries = [Marginal.of(SCHEMA, name) for name in ("x", "y", "g", "t")]
    known = [Measurement(query, answer(query, SYNTHETIC) * 3 // 2, 5.0, "r") for query in queries]
    free, held, hard = (
        match(KEY, SYNTHETIC, **noisy, known=told, matching=Matching(trust=trust, resample="weights", closest=True))
        for told, trust in (((), "auto"), (known, "auto"), (known, "off"))
    )

    def moved(done):
        return sum(np.abs(means(query, done.rows) - means(query, SYNTHETIC)).sum() for query in queries)

    assert moved(held) < 0.3 * moved(free)
    assert moved(hard) > 2 * moved(held), "the paper's problem knows no columns"
    correlation = Moments.of(SCHEMA, "x", "y")
    before, after = (np.abs(means(correlation, r) - means(correlation, REAL)).max() for r in (SYNTHETIC, held.rows))
    assert after < before
    assert held.before == pytest.approx(free.before, rel=0.5), "errors are those of the measures alone"


def test_a_table_that_agrees_with_the_measures_is_trusted_more_than_one_that_does_not():
    """The same noise moves a table drawn from the truth less than one that is far off."""
    good = open_table(table(2000, seed=7, slope=0.8)).read(SCHEMA)
    far, near = (
        match(KEY, made, **measured("correlations: x, y", synthetic=made, rows_of_noise=30.0)).tilt
        for made in (SYNTHETIC, good)
    )
    assert near.divergence < 0.1 * far.divergence
    assert near.effective > 0.99


def test_without_trust_the_measured_answers_are_met_whatever_their_noise():
    """The paper's problem (3): its optimum is that of the general solver in test_tilt.py."""
    noisy = measured("correlations: x, y", rows_of_noise=200.0)
    weighed, hard = (
        match(KEY, SYNTHETIC, **noisy, matching=Matching(trust=trust, resample="weights", closest=True))
        for trust in ("auto", "off")
    )
    assert weighed.tilt.divergence < 0.5 * hard.tilt.divergence
    assert hard.tilt.violation <= Matching().gamma * 1.001
    assert hard.after <= Matching().gamma * 1.001


def test_the_noise_of_the_number_of_rows_is_fitted_along():
    """A number of rows that is 3 % off, and known to be so noisy, does little harm; taken as exact it does much."""
    low = rows(*[code for code in zip(*(c.tolist() for c in REAL.codes), strict=True) if code[0] < 4])
    wrong = measured("correlations: x, y, t", real=low, total=len(low) * 1.03)
    fitted = match(KEY, SYNTHETIC, **wrong, total_stddev=0.03 * len(low), matching=Matching(closest=True))
    exact = match(KEY, SYNTHETIC, **wrong, matching=Matching(closest=True))
    query = Moments.of(SCHEMA, "x", "y", "t")
    errors = [np.abs(means(query, done.rows) - means(query, low)).max() for done in (fitted, exact)]
    assert errors[0] < 0.5 * errors[1]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(["systematic", "multinomial", "weights"]), st.integers(1, 40))
def test_rows_are_never_altered_and_the_support_never_grows(seed, how, count):
    random = np.random.default_rng(seed)
    codes = [tuple(int(random.integers(0, top)) for top in (11, 12, 4, 2)) for _ in range(random.integers(1, 25))]
    given_ = measured("correlations: x, y; marginals: g", synthetic=rows(*codes))
    matching = Matching(resample=how, closest=True, rows=None if how == "weights" else count)
    done = match(key_of(seed), rows(*codes), **given_, matching=matching)
    found = list(zip(*(column.tolist() for column in done.rows.codes), strict=True))
    assert set(found) <= set(codes)
    if how == "weights":
        assert found == codes
        assert done.rows.weights.sum() == pytest.approx(len(codes))
    else:
        assert len(found) == count


@pytest.mark.parametrize("count", [1, 50])
def test_one_row_and_identical_rows_cannot_be_bent(count):
    made = rows(*[(2, 3, 1, 1)] * count)
    given_ = measured("correlations: x, y", synthetic=SYNTHETIC)
    with pytest.raises(
        NotMet, match=r"cannot meet the (mean|product) of '[xy]'.* away \(.* standard deviations.*Nothing"
    ):
        match(KEY, made, **given_)
    closest = match(KEY, made, **given_, matching=Matching(closest=True))
    assert set(zip(*(column.tolist() for column in closest.rows.codes), strict=True)) == {(2, 3, 1, 1)}
    assert closest.tilt.effective == pytest.approx(1)


def test_one_row_that_matches_is_fine():
    made = rows((2, 3, 1, 1))
    done = match(KEY, made, **measured("correlations: x, y; marginals: g", real=made, synthetic=SYNTHETIC))
    assert len(done.rows) == 1


def test_a_group_that_the_table_lacks_is_named():
    lacking = rows(*[code for code in zip(*(c.tolist() for c in SYNTHETIC.codes), strict=True) if code[2] != 0])
    with pytest.raises(NotMet, match=r"'g \(4\)', answer 1 of 4.*0\.2"):
        match(KEY, lacking, **measured("marginals: g"))


def test_contradictory_measures_are_refused_with_their_distance():
    """A column, and its table with another, with answers that no rows have at once."""
    given_ = measured("means: x by g")
    counts, sums = given_["measurements"]
    other = Measurement(Marginal.of(SCHEMA, "g", "t"), np.array([3000, 0, 0, 0, 0, 0, 0, 0]), counts.stddev, "r")
    with pytest.raises(NotMet, match=r"cannot meet .*standard deviations of its noise\), and \d+ more of 16 answers"):
        match(KEY, SYNTHETIC, measurements=[counts, sums, other], total=3000.0)


def test_missing_values_count_as_the_middle():
    made = rows((0, 11, 0, 0), (10, 11, 0, 0), (5, 0, 0, 0), (5, 10, 0, 0))
    done = match(KEY, made, **measured("correlations: x, y", real=made, synthetic=made))
    assert done.tilt.effective == pytest.approx(1, abs=1e-3)


def test_rows_with_weights():
    """A row of weight 3 is three rows."""
    given_ = measured("correlations: x, y; marginals: g")
    codes = list(zip(*(c[:300].tolist() for c in SYNTHETIC.codes), strict=True))
    many = [code for k, code in enumerate(codes) for _ in range(1 + k % 3)]
    weighed = rows(*codes, weights=[1 + k % 3 for k in range(len(codes))])
    one = match(KEY, weighed, **given_, matching=Matching(resample="weights", closest=True))
    other = match(KEY, rows(*many), **given_, matching=Matching(resample="weights", closest=True))
    sums = np.add.reduceat(other.rows.weights, np.cumsum([0, *(1 + k % 3 for k in range(len(codes) - 1))]))
    assert one.rows.weights / len(codes) == pytest.approx(sums / len(many), abs=1e-9)


@pytest.mark.parametrize("made", [rows((1, 1, 1, 1), weights=[0.0]), open_table(table(0)).read(SCHEMA)])
def test_nothing_to_draw_from(made):
    with pytest.raises(UserError, match="has no rows"):
        match(KEY, made, **measured("correlations: x, y"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gamma": -1.0}, "'gamma': found -1.0"),
        ({"gamma": float("nan")}, "'gamma': found nan"),
        ({"resample": "bootstrap"}, "'resample': found 'bootstrap'"),
        ({"rows": 0}, "'rows': found 0"),
        ({"rows": 5, "resample": "weights"}, "weights are written for the rows as they are"),
    ],
)
def test_wrong_settings(wrong, message):
    with pytest.raises(UserError, match=message):
        Matching(**wrong)


def test_more_measures_than_are_denoised_together():
    given_ = measured("marginals: x, y, g")
    done = match(KEY, SYNTHETIC, **given_, matching=Matching(closest=True))
    assert given_["measurements"][0].query.size > MANY
    assert done.tilt.residual < 1e-8
    assert done.after < 0.01 * done.before
    with pytest.raises(NotMet, match=r"answer \d+ of 528"):
        match(KEY, rows((1, 1, 1, 1)), **given_)


def test_rows_of_which_few_are_left_are_named():
    far = {"x": [0] * 1989 + list(range(11)), "y": [0] * 2000, "g": ["a"] * 2000, "t": [True] * 2000}
    assert match(KEY, SYNTHETIC, **measured("correlations: x, y")).notes() == ()
    done = match(
        KEY,
        open_table(far).read(SCHEMA),
        **measured("correlations: x", synthetic=SYNTHETIC),
        matching=Matching(closest=True),
    )
    assert done.tilt.effective < 0.1
    (note,) = done.notes()
    assert f"worth {done.tilt.effective:.1%} of the table's" in note
    assert "adjust to 'columns' first" in note
    columns = match(
        KEY,
        open_table(far).read(SCHEMA),
        **measured("columns: x", synthetic=SYNTHETIC),
        matching=Matching(closest=True),
    )
    (note,) = columns.notes()
    assert "first" not in note, "that has just been done"
