"""Whether a DataFrame gives the same rows in every pass: Spark computes it again for each one.

A sample, a limit, or a column of random numbers is drawn anew, or depends on the order in which partitions arrive. Then a unit
whose rows are bounded in one pass has other rows in the next, copies of one task disagree, and a row that is inserted can push
out another one. Such a plan is refused before anything is spent; a frame that is held (persisted, or cut from its
history by a checkpoint) is a table like any other.
"""

from collections.abc import Iterator
from typing import Any

from sundog.errors import UserError
from sundog.sources.spark.session import discreet

DRAWN = {
    "Sample": "a sample",
    "GlobalLimit": "a limit",
    "LocalLimit": "a limit",
    "Offset": "an offset",
    "Tail": "a limit from the end",
}
"""Steps of a plan whose rows depend on a draw, or on the order in which rows arrive."""


def check_repeatable(frame: Any) -> None:
    """Refuse a frame whose rows may differ from pass to pass. Looks at its plan and reads no row."""
    if frame.isStreaming:
        raise UserError(
            "the table is a streaming DataFrame, which has no end; write what it gives to files, and give those."
        )
    with discreet(frame.sparkSession, "the table"):
        plan = frame._jdf.queryExecution().optimizedPlan()
        reason = next((DRAWN[name] for name in _steps(plan) if name in DRAWN), None)
        if reason is None and not plan.deterministic():
            reason = "an expression whose value is drawn or depends on the order of rows, such as rand()"
    if reason is not None:
        raise UserError(
            f"the table is a DataFrame that Spark computes again for every pass, and its plan holds {reason}, so that each "
            "pass would see other rows. Pin it first: write it to Parquet files and give those, or give "
            "frame.localCheckpoint()."
        )


def _steps(plan: Any) -> Iterator[str]:
    """The names of a plan's steps."""
    yield str(plan.nodeName())
    below = plan.children()
    for place in range(below.size()):
        yield from _steps(below.apply(place))
