"""Sets of codes as half-open runs, in order and apart from each other: a column may have 2^50 codes."""

from bisect import bisect_right
from collections.abc import Iterable

Runs = tuple[tuple[int, int], ...]


def merged(runs: Iterable[tuple[int, int]]) -> Runs:
    """Runs in any order, put in order, those that touch or overlap as one."""
    made: list[tuple[int, int]] = []
    for low, high in sorted(run for run in runs if run[0] < run[1]):
        if made and low <= made[-1][1]:
            made[-1] = made[-1][0], max(made[-1][1], high)
        else:
            made.append((low, high))
    return tuple(made)


def holds(runs: Runs, code: int) -> bool:
    """Whether a code is among them."""
    place = bisect_right(runs, code, key=lambda run: run[0]) - 1
    return place >= 0 and code < runs[place][1]


def length(runs: Runs) -> int:
    """How many codes they are."""
    return sum(high - low for low, high in runs)


def within(runs: Runs, others: Runs) -> Runs:
    """The codes that are in both."""
    made, place = [], 0
    for low, high in runs:
        while place < len(others) and others[place][1] <= low:
            place += 1
        each = place
        while each < len(others) and others[each][0] < high:
            made.append((max(low, others[each][0]), min(high, others[each][1])))
            each += 1
    return tuple(made)


def without(runs: Runs, others: Runs) -> Runs:
    """The codes of some runs that are not in others."""
    if not runs or not others:
        return runs
    ends = [runs[0][0], *(end for run in others for end in run), runs[-1][1]]
    gaps = tuple((low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if low < high)
    return within(runs, gaps)
