"""What every generator must keep to: who says it supports a query must fit it.

The queries are the examples of every registered class (query_examples.py) on one skewed table, measured almost exactly. A
fit must come close to what was measured, and a state that has not seen these queries must be far, or the law would say
nothing.
"""

import numpy as np

from laws.query_examples import EXAMPLES, SCHEMA
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.unit import PrivacyUnit
from sundog.generate import AnnealedProjection, Genetic
from sundog.generate.projection.adam import Descent
from sundog.generate.projection.rap_plus_plus import Annealing
from sundog.queries import Marginal, answer
from sundog.random.keys import key_of
from sundog.released import Guarantee, Measurement, Released

CLOSE = 0.05
"""How far a fitted answer may lie from what was measured, in rows per row."""
ROUGHLY = {"particles": 0.1, "annealed-projection": 0.12, "polished": 0.12, "network": 0.2}
"""The same for descents, on grids of four values: they tend to stay between two of them. All measure columns first."""
ANNEALED = {"rows": 100, "descent": Descent(steps=600), "annealing": Annealing(first=8.0)}
SMALL = {
    "genetic": {"rows": 200},
    "particles": {"particles": 2000, "steps": 3000},
    "pooled-search": {"rows": 500},
    "relaxed-projection": {"rows": 100},
    "annealed-projection": ANNEALED,
    "network": {"rows": 100},
    "polished": {"rows": 100, "projection": AnnealedProjection(**ANNEALED), "genetic": Genetic(generations=500)},
}
"""Enough effort for a tiny table; a generator that is not named here is tested as it is."""


def skewed(count: int = 1000) -> Rows:
    """Most rows are alike, and the rest follow one another: far from uniform and from independent columns."""
    random = np.random.default_rng(5)
    kind = random.choice(3, count, p=[0.7, 0.2, 0.1])
    colour, age, hours = (np.array(codes)[kind] for codes in ([0, 1, 2], [1, 4, 3], [2, 0, 1]))
    return Rows(SCHEMA, (colour, age, hours, np.zeros(count, np.int64), np.zeros(count, np.int64)))


ROWS = skewed()


def measured(queries) -> Released:
    parts = tuple(Measurement(query, answer(query, ROWS), 0.5 * query.scale, "law") for query in queries)
    return Released(SCHEMA, parts, Guarantee(PrivacyUnit("replace"), "zcdp", 1.0), public_rows=len(ROWS))


def farthest(generator, state, queries) -> float:
    """The largest error of any answer, in rows per row."""
    gaps = [generator.answer(state, query) - answer(query, ROWS) / len(ROWS) for query in queries]
    return max(float(np.abs(gap).max()) / query.scale for gap, query in zip(gaps, queries, strict=True))


def supported(generator, name):
    """The examples of a class that a generator says it supports."""
    return [case.query for case in EXAMPLES[name] if generator.supports(case.query)]


def what_is_supported_is_fitted(generator, queries, *, close=CLOSE, columns=False) -> None:
    """With `columns` every column is measured alone as well."""
    alone = [Marginal((Axis.whole(column),)) for column in SCHEMA.columns] if columns else []
    state = generator.init(key_of(1), SCHEMA)
    known = generator.fit(key_of(2), state, released=measured(alone)) if columns else state
    before = farthest(generator, known, queries)
    assert before > 1.5 * close, f"without these queries it is only {before:.3f} off: this says nothing"
    fitted = generator.fit(key_of(2), state, released=measured([*alone, *queries]))
    after = farthest(generator, fitted, queries)
    assert after < close, f"{after:.3f} of the rows off after fitting, {before:.3f} before"
    rows = generator.sample(key_of(3), fitted, rows=4000)
    drawn = max(float(np.abs(answer(q, rows) / 4000 - answer(q, ROWS) / len(ROWS)).max()) / q.scale for q in queries)
    assert drawn < 1.5 * close, f"{drawn:.3f} of the rows off in what is sampled"
