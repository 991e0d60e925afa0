"""What one run says about which of two neighbours it saw: of everything released, and of the synthetic rows alone.

Of released values it is what the best attacker would use, the log-likelihood ratio: both tables are known, so are their exact
answers, and the noise is stated. Gaussian noise of deviation s: sum ((v - q0)^2 - (v - q1)^2) / (2 s^2); Laplace noise: the same with
absolute values; a private choice: P(r) ~ exp(u_r / b), one after the other where several are chosen, with the scores u of
either table. The three sums are features, not one number: were a choice less noisy than stated, its sum should count for more. For the
same reason a fourth feature counts the choices that were the best for one table and not for the other, as they would be without noise.

Synthetic rows give counts: all rows, those with the canary's value in a column or in a pair of columns, and those equal to it.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sundog.audit.worst_case import Neighbouring
from sundog.domain.rows import Rows
from sundog.queries import Query
from sundog.released import Measurement, Released, Scores, Selection

Features = Float[np.ndarray, " features"]


@dataclass(frozen=True, eq=False)
class Transcript:
    """All that one run let out: released values, and what was asked in between with what came back."""

    released: Released
    choices: tuple[tuple[Selection, tuple[Query, ...]], ...]
    scored: tuple[tuple[Selection, Scores], ...]

    def faults(self) -> tuple[str, ...]:
        """What needs no statistics: looks at the rows that no payment stands for."""
        looks = {
            "choices": (len(self.choices), ("exponential",)),
            "noisy answers": (
                len(self.released.measurements) + len(self.released.scores) + len(self.released.adjustments),
                ("gaussian", "laplace"),
            ),
        }
        found = []
        for what, (made, mechanisms) in looks.items():
            paid = sum(payment.mechanism in mechanisms for payment in self.released.payments)
            if paid < made:
                found.append(f"{made} {what} were made, and {paid} were paid for")
        return tuple(found)


def of_values(run: Transcript, pair: Neighbouring) -> Features:
    """Log-likelihood ratios of measurements, of scores and of choices, and the best choices: above 0 for the canary."""
    measured = sum((_measurement(each, pair) for each in run.released.measurements), 0.0)
    scored = sum((_scores(selection, found, pair) for selection, found in run.scored), 0.0)
    scales = [payment.details["scale"] for payment in run.released.payments if payment.mechanism == "exponential"]
    paid = zip(run.choices, scales, strict=False)  # one that was not paid for is a fault, which needs no statistics
    chosen = sum((_choice(selection, queries, scale, pair=pair) for (selection, queries), scale in paid), 0.0)
    best = sum((_best(selection, queries, pair) for selection, queries in run.choices), 0.0)
    return np.array([measured, scored, chosen, best])


def of_rows(rows: Rows, pair: Neighbouring) -> Features:
    """Counts of the synthetic rows."""
    same = [codes == canary[0] for codes, canary in zip(rows.codes, pair.canary.codes, strict=True)]
    pairs = [left & right for left, right in itertools.combinations(same, 2)]
    return np.array([len(rows), *(float(each.sum()) for each in (*same, *pairs, np.logical_and.reduce(same)))])


def _measurement(found: Measurement, pair: Neighbouring) -> float:
    without, canary = (_exact(found.query, rows) for rows in pair.rows)
    if found.noise == "laplace":
        gained = np.abs(found.values - without) - np.abs(found.values - canary)
        return float(gained.sum()) * math.sqrt(2.0) / found.stddev
    return _gaussian(found.values, (without, canary), found.stddev)


def _scores(selection: Selection, found: Scores, pair: Neighbouring) -> float:
    without, canary = (score(selection, rows) for rows in pair.rows)
    return _gaussian(found.values, (without, canary), found.stddev)


def _gaussian(values: Int[np.ndarray, " cells"], exact: tuple[Int[np.ndarray, " cells"], ...], stddev: float) -> float:
    without, canary = exact
    return float(((values - without) ** 2 - (values - canary) ** 2).sum()) / (2 * stddev**2)


def _choice(selection: Selection, chosen: Sequence[Query], scale: float, *, pair: Neighbouring) -> float:
    if len(chosen) >= selection.blocks:
        return 0.0
    places = _places(selection, chosen)
    without, canary = (_log_chance(score(selection, rows) / scale, places) for rows in pair.rows)
    return canary - without


def _best(selection: Selection, chosen: Sequence[Query], pair: Neighbouring) -> float:
    """1 where the choice is the best for the canary's table alone, -1 where it is for the other alone, else 0."""
    places = sorted(_places(selection, chosen))
    without, canary = (
        sorted(np.argsort(-score(selection, rows), kind="stable")[: len(places)].tolist()) == places
        for rows in pair.rows
    )
    return float(canary) - float(without)


def _places(selection: Selection, chosen: Sequence[Query]) -> list[int]:
    """Which blocks of the candidates were chosen."""
    names = [key for query in selection.candidates for key in query.block_keys()]
    return [names.index(query.block_keys()[0]) for query in chosen]


def _log_chance(scores: Float[np.ndarray, " blocks"], places: Sequence[int]) -> float:
    """The logarithm of the chance that these are chosen, in this order."""
    left, total = scores.astype(np.float64), 0.0
    for place in places:
        total += float(left[place] - np.logaddexp.reduce(left))
        left[place] = -np.inf
    return total


def score(selection: Selection, rows: Rows) -> Int[np.ndarray, " blocks"]:
    """The scores of all blocks as `Selection` defines them, on rows that are known."""
    reduce = np.sum if selection.score == "L1" else np.max
    parts = [
        reduce(np.abs(_exact(query, rows) - np.asarray(estimate)).reshape(-1, query.block), axis=1)
        for query, estimate in zip(selection.candidates, selection.estimates, strict=True)
    ]
    weights = 1 if selection.weights is None else np.asarray(selection.weights)
    penalties = 0 if selection.penalties is None else np.asarray(selection.penalties)
    return np.concatenate(parts) * weights - penalties


def _exact(query: Query, rows: Rows) -> Int[np.ndarray, " cells"]:
    totals = np.zeros(query.size, dtype=np.int64)
    query.add(rows, totals)
    return totals
