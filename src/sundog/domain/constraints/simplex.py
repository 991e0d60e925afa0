"""Whether linear constraints have a solution within bounds: the general simplex algorithm, in exact fractions.

Dutertre and de Moura, A Fast Linear-Arithmetic Solver for DPLL(T) (CAV 2006), Section 3: every sum is a variable of its own, bounded
as the constraint says. All variables but these start at their lower bounds. While a sum is out of its bounds it is brought to the one it
breaks, by moving a variable that has room; by Bland's rule (always the first) this ends. If none has room, a solution does not exist: no
rounding can be mistaken for a contradiction. Differences have whole numbers as solutions, so cycles of comparisons are decided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


class TooMuchWork(Exception):
    """The bound on the work was reached before there was an answer."""


@dataclass
class Work:
    """What may still be done: steps of any search."""

    left: int

    def spend(self, steps: int = 1) -> None:
        """Take some; refuses where nothing is left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork


@dataclass(frozen=True)
class Sum:
    """A weighted sum of variables, between `low` (None: no bound) and `high`."""

    terms: Mapping[str, int]
    low: int | None
    high: int


Bounds = tuple[Fraction | None, Fraction | None]


def solution(sums: Sequence[Sum], bounds: Mapping[str, tuple[int, int]], *, work: Work) -> dict[str, Fraction] | None:
    """Values within the bounds that satisfy all sums, or None where there are none."""
    tableau = _Tableau(sums, bounds)
    while (broken := tableau.broken()) is not None:
        work.spend(1 + len(tableau.rows))
        if not tableau.repaired(broken):
            return None
    return {name: tableau.value[place] for place, name in enumerate(bounds)}


class _Tableau:
    """Every sum in terms of the variables that are free to move; numbers in place of names, variables before sums."""

    def __init__(self, sums: Sequence[Sum], bounds: Mapping[str, tuple[int, int]]) -> None:
        places = {name: place for place, name in enumerate(bounds)}
        self.bounds: list[Bounds] = [(Fraction(low), Fraction(high)) for low, high in bounds.values()]
        self.value = [Fraction(low) for low, _ in bounds.values()]
        self.rows: dict[int, dict[int, Fraction]] = {}
        for each in sums:
            row = {places[name]: Fraction(factor) for name, factor in each.terms.items() if factor}
            self.rows[len(self.bounds)] = row
            self.bounds.append((None if each.low is None else Fraction(each.low), Fraction(each.high)))
            self.value.append(sum((factor * self.value[place] for place, factor in row.items()), Fraction()))

    def broken(self) -> int | None:
        """The first sum that is out of its bounds."""
        return next(
            (place for place in sorted(self.rows) if self._room(place, 1) < 0 or self._room(place, -1) < 0), None
        )

    def repaired(self, place: int) -> bool:
        """Bring a sum to the bound that it breaks, by the first variable that has room; False where none has."""
        way = 1 if self._room(place, -1) < 0 else -1
        for other in sorted(self.rows[place]):
            towards = way if self.rows[place][other] > 0 else -way
            if self._room(other, towards) > 0:
                self._swap(place, other, by=-self._room(place, -way) * way)
                return True
        return False

    def _room(self, place: int, way: int) -> Fraction:
        """How far a variable may move up (1) or down (-1); below zero where it is beyond that bound already."""
        end = self.bounds[place][way == 1]
        return Fraction(1) if end is None else (end - self.value[place]) * way

    def _swap(self, place: int, other: int, *, by: Fraction) -> None:
        """Move a sum, and so a variable; then the sum is free and the variable is written in its terms."""
        row = self.rows.pop(place)
        factor = row.pop(other)
        self.value[place] += by
        self.value[other] += by / factor
        turned = {each: -own / factor for each, own in row.items()} | {place: 1 / factor}
        for basic, own in self.rows.items():
            share = own.pop(other, None)
            if share is None:
                continue
            self.value[basic] += share * by / factor
            for each, weight in turned.items():
                total = own.get(each, Fraction()) + share * weight
                if total:
                    own[each] = total
                else:
                    own.pop(each, None)
        self.rows[other] = turned
