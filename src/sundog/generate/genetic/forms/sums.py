"""What the forms of queries that add up numbers share: an answer that changes by a step, in the query's fixed point."""

from typing import Any

from sundog.generate.genetic.calls import kernel


@kernel
def moved(R: Any, answer: int, step: float, weight: float, update: bool) -> float:  # pragma: no cover (compiled)
    """One answer changes by a step."""
    if update:
        R[answer] += step
        return 0.0
    return weight * (2.0 * step * R[answer] + step * step)
