"""Constraint violations: how many synthetic rows break what the schema declares (structural zeros, sums, dependencies, ...).

    violations = mean over the declared hard constraints of the share of rows that break it

It looks at synthetic rows and the public schema only. Sundog's own tables have none: every method repairs or rejects.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sundog.evaluate.base import Better, Comparison, Measured, Needs, Score
from sundog.postprocess.constraints import violations


@dataclass(frozen=True)
class ConstraintViolations:
    """The share of rows that break a declared constraint."""

    name = "violations"
    summary = "mean share of the rows that break one of the schema's constraints"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "released"

    def score(self, subject: Comparison | Measured) -> Score | None:
        """The mean over the constraints, and each one's own; None where none is declared."""
        found = violations(subject.synthetic)
        shares = {name: count / len(subject.synthetic) for name, count in found.items()}
        return Score(float(np.mean(list(shares.values()))), shares) if shares else None
