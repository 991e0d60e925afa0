"""The checks that every release must pass. Each raises AssertionError; test_mutants.py shows what each of them kills."""

import itertools
import math
from fractions import Fraction

import numpy as np
from harness import ONE_WAY, TINY, TWO_WAY, VALUES, MemoryLedger, Recorder, curator, exact_inputs
from scipy import stats

from sundog.private import noise
from sundog.private.ledger import Ledger
from sundog.proposal import Selection
from sundog.queries import answer
from sundog.sources import open_table
from sundog.unit import PrivacyUnit

ROWS = list(itertools.product(VALUES["c"], VALUES["n"]))
BASES = [[], [("a", 0), ("b", 3)], [("a", 2), ("a", 2), (None, None), ("new", "?")]]
UNITS = {
    "one row added or removed": PrivacyUnit("add-remove"),
    "one row replaced": PrivacyUnit("replace"),
    "a unit of 2 rows added or removed": PrivacyUnit("add-remove", "u", 2),
    "a unit of 2 rows replaced": PrivacyUnit("replace", "u", 2),
}


# --- sensitivities, by going through all rows and all pairs of rows -------------------------------------------------


def check_sensitivity(query, schema=TINY, values=VALUES):
    """The stated sensitivities equal the largest change that any row makes, from raw values on."""
    rows = list(itertools.product(*(values[name] for name in schema.names)))
    encoded = open_table(
        {name: list(column) for name, column in zip(schema.names, zip(*rows, strict=True), strict=True)}
    )
    codes = np.stack(encoded.read(schema).codes).T
    vectors = np.array([_answer_of(query, schema, row) for row in np.unique(codes, axis=0)])
    changes = {"add-remove": vectors, "replace": (vectors[:, None] - vectors[None]).reshape(-1, query.size)}
    for relation, change in changes.items():
        size = np.abs(change)
        assert query.sensitivity_squared(relation) == (size**2).sum(axis=1).max(), relation
        assert query.sensitivity_l1(relation) == size.sum(axis=1).max(), relation
        assert query.sensitivity_linf(relation) == size.max(), relation


def _answer_of(query, schema, row):
    from sundog.rows import Rows

    return answer(query, Rows(schema, tuple(np.array([code]) for code in row)))


# --- the ledger: what was charged is what the noise is worth --------------------------------------------------------


def measure_twice(curator):
    """Two rounds, unequal shares, three queries."""
    curator.measure(ONE_WAY, 1.0, shares=[1, 3])
    curator.measure([TWO_WAY], 0.5)


def select_by(score, k=2):
    """Choose k of three marginals; weights and penalties as public rules may give them."""
    queries = (*ONE_WAY, TWO_WAY)
    estimates = tuple(np.full(query.size, 1, dtype=np.int64) for query in queries)

    def action(curator):
        curator.select(Selection(queries, estimates, k, score, weights=(1, 3, 2), penalties=(0, 5, 1)), 0.7)

    return action


def score_by(score):
    """All scores, with Gaussian noise."""
    queries = (*ONE_WAY, TWO_WAY)
    estimates = tuple(np.full(query.size, 1, dtype=np.int64) for query in queries)

    def action(curator):
        curator.score(Selection(queries, estimates, 1, score, weights=(1, 3, 2)), 0.7)

    return action


ACTIONS = {
    "measure": measure_twice,
    "select by L1": select_by("L1"),
    "select by Linf": select_by("Linf"),
    "score by L1": score_by("L1"),
    "score by Linf": score_by("Linf"),
}


def check_charges_cover_the_noise(action, unit):
    """The charged rho of every noise call equals D^2 / (2 s^2), with D the largest change between all neighbours."""
    ledger = MemoryLedger()
    with Recorder()() as seen:
        action(curator(BASES[1], unit=unit, ledger=ledger))
    assert len(seen.calls) == len(ledger.charges), "noise was drawn that nobody paid for"
    squares = _largest_changes(action, unit, len(seen.calls))
    for call, charge, square in zip(seen.calls, ledger.charges, squares, strict=True):
        assert charge.mechanism == call.kind
        needed = call.k * Fraction(int(square)) / (2 * Fraction(call.scale) ** 2)
        assert Fraction(charge.rho) >= needed, f"{charge.label}: charged {charge.rho}, spent {float(needed)}"
        if not _loose(call, unit):
            assert math.isclose(charge.rho, needed, rel_tol=1e-9), f"{charge.label}: {charge.rho} for {float(needed)}"


def _loose(call, unit):
    """Where the bound of a unit (its rows squared times one row's) cannot be reached within two rows a unit, or a score
    cannot reach all of its own at once."""
    del unit
    return call.kind == "gaussian" and len(call.exact) == 3


def _largest_changes(action, unit, calls):
    """For every noise call, the largest squared change (L2 for Gaussian noise, Linf for a choice) over all neighbours."""
    squares = np.zeros(calls, dtype=np.int64)
    for left, right in _neighbours(action, unit):
        for number in range(calls):
            change = np.abs(left[number] - right[number])
            squares[number] = max(squares[number], _norm_squared(change, chosen=_chosen(action)))
    return squares


def _chosen(action):
    return "select" in getattr(action, "__qualname__", "")


def _norm_squared(change, *, chosen):
    return int(change.max()) ** 2 if chosen else int((change**2).sum())


def _neighbours(action, unit):
    """All pairs of neighbours around the base tables, as the exact vectors that would reach the noise."""
    few = [("a", 0), ("b", 3), (None, None), ("new", "?")]
    for base in BASES:
        own = _own_rows(few, unit)
        tables = [exact_inputs(_with_unit(base, rows, unit), action, unit=unit) for rows in own]
        if unit.neighbours == "add-remove":
            yield from ((tables[0], other) for other in tables[1:])
        else:
            yield from itertools.combinations(tables if unit.column else tables[1:], 2)


def _own_rows(few, unit):
    """What one unit may hold: no row, one row; with a unit column also more rows than are looked at."""
    most = 1 if unit.column is None else unit.rows + 1
    return [list(rows) for count in range(most + 1) for rows in itertools.combinations_with_replacement(few, count)]


def _with_unit(base, rows, unit):
    if unit.column is None:
        return [*base, *rows]
    return [*((*row, f"other {k}") for k, row in enumerate(base)), *((*row, "me") for row in rows)]


def check_charged_before_noise(path, action, unit):
    """At the moment of every noise call its charge is on disk, and in the end the certificate says the same sum."""
    book = Ledger(path)
    with Recorder(entries=lambda: len(Ledger(path).account("tiny").entries))() as seen:
        made = curator(BASES[2], unit=unit, ledger=book, delta=1e-6, thresholds=5e-7)
        action(made)
    for number, call in enumerate(seen.calls, start=1):
        assert call.entries >= number, "noise was drawn before its charge was on the ledger"
    account, released = Ledger(path).account("tiny"), made.released()
    assert len(account.entries) == len(seen.calls) == len(released.payments)
    assert account.exact_rho == sum(Fraction(payment.rho) for payment in released.payments)
    assert account.exact_delta == sum(Fraction(payment.delta) for payment in released.payments)
    assert Fraction(released.guarantee.rho) >= account.exact_rho
    assert math.isclose(released.guarantee.rho, account.exact_rho, rel_tol=1e-12)
    assert account.exact_rho <= Fraction(made.total_rho)
    assert account.unit == unit


# --- the transcript, audited as Gaussian DP -------------------------------------------------------------------------

CONFIDENCE = 0.9999


def check_audit(query, pair, unit, *, rho, runs=1000):
    """No attack on the noisy answers of two neighbouring tables does better than mu = sqrt(2 rho) allows.

    The same query is measured `runs` times in one call, each at its own rho: the noise path of the curator, once per
    run, without opening the table again. The attack is the likelihood ratio of the two exact answers.
    """
    left, right = (_transcript(query, rows, unit, rho=rho, runs=runs) for rows in pair)
    direction = _exact(query, pair[1], unit) - _exact(query, pair[0], unit)
    middle = (_exact(query, pair[1], unit) + _exact(query, pair[0], unit)) @ direction / 2
    true_positives, false_positives = ((side @ direction > middle).sum() for side in (right, left))
    found = lower_mu(int(true_positives), int(false_positives), runs)
    assert found <= math.sqrt(2 * rho), f"the attack shows mu > {found:.3f}, and {math.sqrt(2 * rho):.3f} was paid for"
    return found


def lower_mu(true_positives, false_positives, runs):
    """PhiInv(TPR) - PhiInv(FPR), with Clopper-Pearson bounds that hold together at CONFIDENCE."""
    tail = (1 - CONFIDENCE) / 2
    low = stats.beta.ppf(tail, true_positives, runs - true_positives + 1) if true_positives else 0.0
    high = stats.beta.isf(tail, false_positives + 1, runs - false_positives) if false_positives < runs else 1.0
    return float(stats.norm.ppf(low) - stats.norm.ppf(high))


def _transcript(query, rows, unit, *, rho, runs):
    made = curator(rows, unit=unit, rho=2 * rho * runs).measure([query] * runs, rho * runs)
    return np.stack([measurement.values for measurement in made])


def _exact(query, rows, unit):
    return exact_inputs(rows, lambda made: made.measure([query], 1.0), unit=unit)[0]


def noise_is_used():
    """The module through which the curator draws its noise: mutants patch it there."""
    return noise
