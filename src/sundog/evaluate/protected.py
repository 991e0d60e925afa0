"""Protected statistics: how far the share of rows above a declared threshold is from the real one (PrivPGD, Section 4.4).

    protected = mean over the protected statistics of |share of synthetic rows above - share of real rows above|

The schema declares such a statistic so that synthetic rows do NOT have it, so larger is better. Shares are those of the
threshold itself: the sigmoid in its place is only what particles can follow, and may move where the share does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sundog.domain.constraints.kinds import ProtectedStatistic
from sundog.domain.rows import Rows
from sundog.evaluate.base import Better, Comparison, Needs, Score
from sundog.queries.sigmoid import SigmoidSum


@dataclass(frozen=True)
class ProtectedShares:
    """The distance of the protected shares."""

    name = "protected"
    summary = "mean distance of the share of rows above a protected threshold from the real share (meant to be large)"
    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "real"

    def score(self, subject: Comparison) -> Score | None:
        """The mean over the protected statistics, and each one's own; None where none is declared."""
        rules = [rule for rule in subject.schema.constraints if isinstance(rule, ProtectedStatistic)]
        apart = [abs(_share(rule, subject.synthetic) - _share(rule, subject.real)) for rule in rules]
        return Score(float(np.mean(apart)), dict(zip(_told_apart(rules), apart, strict=True))) if rules else None


def _told_apart(rules: Sequence[ProtectedStatistic]) -> list[str]:
    """Their names, with their places where several have the same name."""
    names = [rule.name for rule in rules]
    return [name if names.count(name) == 1 else f"{name}, statistic {k}" for k, name in enumerate(names, start=1)]


def _share(rule: ProtectedStatistic, rows: Rows) -> float:
    return SigmoidSum.of(rule).above(rows) / len(rows)
