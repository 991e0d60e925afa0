"""What a dataset was used for, run by run: an account's charges, added up by the run that they belong to. Pure.

Charges of before runs were recorded have no run; those that follow each other are one line, which says so. A disclosure is
a line of its own and has no epsilon: no guarantee covers it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sundog.private.account import Account, Entry

UNRECORDED = "not recorded"


@dataclass(frozen=True)
class RunTotal:
    """One run: its day, method and purpose, and what its charges add up to; `number` is that of its first entry."""

    number: int
    day: str
    method: str
    purpose: str | None
    charges: int
    rho: float
    epsilon: float | None
    disclosed: bool = False

    def to_json(self) -> dict[str, Any]:
        """The run as plain JSON."""
        return {
            "run": self.number,
            "date": self.day,
            "method": self.method,
            "purpose": self.purpose,
            "charges": self.charges,
            "rho": self.rho,
            "epsilon": self.epsilon,
            "disclosed": self.disclosed,
        }


def runs_of(account: Account, *, delta: float | None) -> list[RunTotal]:
    """The runs of an account in order of their first entry; epsilons at `delta`, None where it says nothing."""
    made: dict[int, list[Entry]] = {}
    for number, entries in _grouped(account.entries):
        made.setdefault(number, []).extend(entries)
    return [_total(account.dataset, number, entries, delta=delta) for number, entries in sorted(made.items())]


def _grouped(entries: Sequence[Entry]) -> Iterator[tuple[int, list[Entry]]]:
    """The entries of each run, or of each stretch without one, under the number of the first."""
    told = [entry for entry in entries if entry.mechanism not in ("limit", "certified")]
    for _, stretch in groupby(told, key=lambda e: (e.mechanism == "disclosed" and e.number, e.run and e.run.number)):
        held = list(stretch)
        run = held[0].run
        yield (held[0].number if run is None or run.number is None else run.number), held


def _total(dataset: str, number: int, entries: Sequence[Entry], *, delta: float | None) -> RunTotal:
    first, alone = entries[0], Account(dataset, tuple(entries))
    if first.mechanism == "disclosed":
        return RunTotal(number, first.time[:10], "disclosed", first.label, 0, 0.0, None, disclosed=True)
    run = first.run
    return RunTotal(
        number,
        first.time[:10],
        UNRECORDED if run is None or run.method is None else run.method,
        None if run is None else run.purpose,
        len(entries),
        alone.rho,
        alone.stated_epsilon(delta),
    )
