"""The game that every attack on a release plays, and how it is scored.

Targets are real people: members, whose rows were in the table, and outsiders, whose rows were not (held-out rows of the same
population). An attack that looks at the synthetic rows succeeds on some of each. What it gains on members over outsiders is what
membership gives away; what it reaches on both is what statistics tell about anyone. A baseline attacker has no synthetic rows, or
not their relations. Rates have Clopper-Pearson intervals; their difference that of Newcombe (1998), made of the two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from sundog.audit.bounds import Points, clopper_pearson, most_auc, most_true
from sundog.domain.rows import Rows
from sundog.random.keys import Key, fold_in, permutation

CONFIDENCE = 0.99
DEVIATIONS = 2.5758
"""As many standard deviations are that confidence: with seven attacks on one release, one in twenty would often cry wolf."""
MOST_REFERENCE = 10_000
"""This many outsiders that are no targets stand for the population that an attacker knows."""

Won = Bool[np.ndarray, " targets"]


@dataclass(frozen=True)
class Rate:
    """How often an attack succeeded, with its interval."""

    hits: int
    of: int

    @property
    def value(self) -> float:
        """The observed share of successes."""
        return self.hits / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The Clopper-Pearson interval of the share."""
        low, high = clopper_pearson(self.hits, self.of, confidence=CONFIDENCE)
        return float(low), float(high)

    def to_json(self) -> dict[str, Any]:
        """The share and its interval as plain JSON."""
        return {"hits": self.hits, "of": self.of, "rate": self.value, "interval": list(self.interval)}


@dataclass(frozen=True)
class Attack:
    """What one attack reached on members, on outsiders where there are any, and what a baseline attacker reaches."""

    kind: str
    name: str
    about: str
    members: Rate
    baseline: float
    outsiders: Rate | None = None
    auc: tuple[float, float, float] | None = None

    def limit(self, points: Points | None) -> float | None:
        """The most that a claim allows on members, given the rate on outsiders (the upper end of its interval)."""
        if points is None or self.outsiders is None:
            return None
        return float(most_true(self.outsiders.interval[1], points))

    @property
    def gain(self) -> tuple[float, float, float] | None:
        """By how much members are found more often than outsiders, with an interval."""
        if self.outsiders is None:
            return None
        ours, theirs = self.members, self.outsiders
        difference = ours.value - theirs.value
        (low, high), (least, most) = ours.interval, theirs.interval
        below = np.hypot(ours.value - low, most - theirs.value)
        above = np.hypot(high - ours.value, theirs.value - least)
        return difference, float(difference - below), float(difference + above)

    def to_json(self, points: Points | None) -> dict[str, Any]:
        """Plain JSON; `points` are what the certificate claims."""
        limit, gain = self.limit(points), self.gain
        found: dict[str, Any] = {
            "kind": self.kind,
            "name": self.name,
            "about": self.about,
            "members": self.members.to_json(),
            "outsiders": None if self.outsiders is None else self.outsiders.to_json(),
            "baseline": self.baseline,
            "gain": None if gain is None else {"value": gain[0], "interval": list(gain[1:])},
            "limit": limit,
            "works": gain is not None and gain[1] > 0,
            "beyondLimit": limit is not None and self.members.interval[0] > limit,
        }
        if self.auc is not None:
            found["auc"] = {"value": self.auc[0], "interval": list(self.auc[1:])}
            found["auc"]["limit"] = None if points is None else most_auc(points)
        return found


@dataclass(frozen=True, eq=False)
class Game:
    """The synthetic rows that an attacker sees, the targets, and the population that an attacker knows beside them."""

    synthetic: Rows
    members: Rows
    outsiders: Rows | None
    reference: Rows | None
    key: Key

    @property
    def targets(self) -> list[Rows]:
        """Members, then outsiders where there are any."""
        return [self.members, *([] if self.outsiders is None else [self.outsiders])]


def game_of(key: Key, real: Rows, synthetic: Rows, *, test: Rows | None, targets: int) -> Game:
    """Draw the targets; half of the outsiders at most are targets, the others are the population that an attacker knows."""
    count = min(targets, len(real))
    if test is None or len(test) < 4:
        return Game(synthetic, _drawn(fold_in(key, 0), real, count), None, None, fold_in(key, 2))
    count = min(count, len(test) // 2)
    order = permutation(fold_in(key, 1), len(test))
    others = order[count : count + MOST_REFERENCE]
    return Game(
        synthetic,
        _drawn(fold_in(key, 0), real, count),
        test.take(np.sort(order[:count])),
        test.take(np.sort(others)),
        fold_in(key, 2),
    )


def _drawn(key: Key, rows: Rows, count: int) -> Rows:
    return rows.take(np.sort(permutation(key, len(rows))[:count]))


def rates(won: list[Won]) -> dict[str, Any]:
    """The rates on members and outsiders."""
    found = [Rate(int(each.sum()), len(each)) for each in won]
    return {"members": found[0], "outsiders": found[1] if len(found) > 1 else None}


def auc_of(
    members: Float[np.ndarray, " members"], outsiders: Float[np.ndarray, " outsiders"]
) -> tuple[float, float, float]:
    """The chance that a member scores above an outsider (ties count half), with DeLong's (1988) interval."""
    ordered = np.sort(outsiders)
    above = (np.searchsorted(ordered, members, "left") + np.searchsorted(ordered, members, "right")) / 2 / len(ordered)
    sorted_members = np.sort(members)
    below = 1 - (
        np.searchsorted(sorted_members, outsiders, "left") + np.searchsorted(sorted_members, outsiders, "right")
    ) / 2 / len(members)
    area = float(above.mean())
    width = DEVIATIONS * float(np.sqrt(above.var() / len(above) + below.var() / len(below)))
    return area, max(0.0, area - width), min(1.0, area + width)
