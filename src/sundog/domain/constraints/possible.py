"""Whether any row can satisfy all constraints: a row, or the proof that there is none, from what is declared alone.

A search over the codes that each column may still have, as half-open runs. What follows at once is taken away first: an impossible
combination of which one column is left, a code beside which none is allowed, a sum whose other numbers leave no room. Then a case is split: a number is missing, which
satisfies every sum, or it is not; a column is inside a combination, or it is not; a code is this one, or another. What is left in the end are sums of whole numbers
within bounds. These are decided in exact fractions (simplex.py), and split further where the solution has a fraction.

The work is bounded. Where it does not suffice, nothing is claimed.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from sundog.domain.columns import Column, Numeric
from sundog.domain.constraints.kinds import Constraint, Determines, Impossible, Linear, Pairs
from sundog.domain.constraints.runs import Runs, holds, length, merged, within, without
from sundog.domain.constraints.simplex import Sum, TooMuchWork, Work, solution

PASSES = 20
"""Bounds that follow from each other may creep towards each other one by one; after this many rounds the simplex algorithm decides."""
WORK = 8_000
"""About a second."""

Domains = dict[str, Runs]
NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Beside:
    """Which codes of a second column may stand beside one of the first; beside codes that are not listed any may."""

    name: str
    columns: tuple[str, str]
    allowed: Mapping[int, Runs]


Rule = Linear | Impossible | Beside


@dataclass(frozen=True)
class Found:
    """A row that satisfies everything, as codes of the columns that constraints name; or None. `proved`: or there is none."""

    row: dict[str, int] | None
    proved: bool = True


def possible_row(
    columns: Mapping[str, Column], constraints: Sequence[Constraint], *, given: Mapping[str, int] = NOTHING
) -> Found:
    """A row of these columns that satisfies all constraints, with the codes that are given."""
    rules = [rule for constraint in constraints for rule in _as_rules(constraint, columns)]
    names = dict.fromkeys(name for rule in rules for name in rule.columns)
    domains: Domains = {name: ((0, columns[name].size),) for name in names}
    domains |= {name: ((code, code + 1),) for name, code in given.items() if name in names}
    try:
        row = _Search(columns, rules, Work(WORK)).row(domains)
    except TooMuchWork:
        return Found(None, proved=False)
    return Found(row)


def _as_rules(constraint: Constraint, columns: Mapping[str, Column]) -> Iterator[Rule]:
    """A constraint as sums in lowest terms and impossible combinations."""
    if isinstance(constraint, Linear):
        yield from _reduced(constraint)
    elif isinstance(constraint, Impossible):
        yield replace(constraint, ranges=tuple(merged(runs) for runs in constraint.ranges))
    elif isinstance(constraint, Pairs):
        yield Beside(constraint.name, constraint.columns, _by_first(constraint, columns))
    elif isinstance(constraint, Determines) and constraint.mapping:
        mapped = {given: ((result, result + 1),) for given, result in constraint.mapping}
        yield Beside(constraint.name, (constraint.by[0], constraint.column), mapped)


def _by_first(rule: Pairs, columns: Mapping[str, Column]) -> dict[int, Runs]:
    """For every code of the first column, the runs that are allowed beside it."""
    sizes = [columns[name].size for name in rule.columns]
    pairs = np.sort(np.array([one * (sizes[1] + 1) + other for one, other in rule.allowed], dtype=np.int64))
    ends = np.flatnonzero(np.diff(pairs, prepend=-2, append=pairs[-1] + 2) > 1)
    made: dict[int, list[tuple[int, int]]] = {code: [] for code in range(sizes[0])}
    for low, high in zip(pairs[ends[:-1]].tolist(), pairs[ends[1:] - 1].tolist(), strict=True):
        one, start = divmod(low, sizes[1] + 1)
        made[one].append((start, start + high - low + 1))
    return {code: tuple(runs) for code, runs in made.items()}


def _reduced(rule: Linear) -> Iterator[Rule]:
    """A sum divided by what its coefficients have in common; an equation that has no whole numbers needs a missing one."""
    common = math.gcd(*rule.coefficients) or 1
    coefficients = tuple(each // common for each in rule.coefficients)
    if rule.equal and rule.limit % common:
        yield Linear(rule.name, rule.columns, (0,) * len(rule.columns), -1, equal=False)
    else:
        yield Linear(rule.name, rule.columns, coefficients, rule.limit // common, rule.equal)


class _Impossible(Exception):
    """Nothing is left of a column."""


class _Search:
    """One search: its columns and rules, and the work that is left."""

    def __init__(self, columns: Mapping[str, Column], rules: Sequence[Rule], work: Work) -> None:
        self.columns, self.work = columns, work
        self.sums = [rule for rule in rules if isinstance(rule, Linear)]
        self.combinations = [rule for rule in rules if isinstance(rule, Impossible)]
        self.besides = [rule for rule in rules if isinstance(rule, Beside)]
        self.step = 1 + len(rules) + sum(len(rule.allowed) for rule in self.besides) // 8

    def row(self, domains: Domains) -> dict[str, int] | None:
        """A row within the domains, or None where there is none; cases wait in a list, the first is looked at first."""
        waiting = [domains]
        while waiting:
            self.work.spend(self.step)
            held = dict(waiting.pop())
            try:
                self._narrow(held)
            except _Impossible:
                continue
            cases = self._cases(held)
            if cases is None:
                return {name: runs[0][0] for name, runs in held.items()}
            if isinstance(cases, dict):
                return cases
            waiting += reversed([case for case in cases if all(case.values())])
        return None

    def _narrow(self, held: Domains) -> None:
        """Take away what follows at once."""
        for _ in range(PASSES):
            before = dict(held)
            for combination in self.combinations:
                self._narrow_combination(combination, held)
            for beside in self.besides:
                _narrow_beside(beside, held)
            for rule in self.sums:
                self._narrow_sum(rule, held)
            if held == before:
                return

    def _narrow_combination(self, rule: Impossible, held: Domains) -> None:
        open_ = self._open(rule, held)
        if open_ == []:
            raise _Impossible
        if open_ is not None and len(open_) == 1:
            name, runs = open_[0]
            _keep(held, name, without(held[name], runs))

    def _open(self, rule: Impossible, held: Domains) -> list[tuple[str, Runs]] | None:
        """The columns that may still be outside; None where one surely is."""
        found = []
        for name, runs in zip(rule.columns, rule.ranges, strict=True):
            outside = without(held[name], runs)
            if outside == held[name]:
                return None
            if outside:
                found.append((name, runs))
        return found

    def _narrow_sum(self, rule: Linear, held: Domains) -> None:
        ends = self._ends(rule, held)
        if ends is None:
            return
        maybe = [name for name in rule.columns if self._may_miss(name, held)]
        low = sum(min(k * end for end in ends[name]) for name, k in _terms(rule))
        high = sum(max(k * end for end in ends[name]) for name, k in _terms(rule))
        if low > rule.limit or (rule.equal and high < rule.limit):
            if not maybe:
                raise _Impossible
            if len(maybe) == 1:
                _keep(held, maybe[0], within(held[maybe[0]], self._missing(maybe[0])))
        elif not maybe:
            for name, k in _terms(rule):
                self._narrow_term(name, k, held, room=rule.limit - low, upwards=True)
                if rule.equal:
                    self._narrow_term(name, k, held, room=high - rule.limit, upwards=False)

    def _narrow_term(self, name: str, k: int, held: Domains, *, room: int, upwards: bool) -> None:
        """A term may grow (or shrink) by no more than the room that all others leave it."""
        if not k:
            return
        low, high = held[name][0][0], held[name][-1][1] - 1
        reach = room // abs(k)
        if (k > 0) == upwards:
            _keep(held, name, within(held[name], ((low, low + reach + 1),)))
        else:
            _keep(held, name, within(held[name], ((high - reach, high + 1),)))

    def _ends(self, rule: Linear, held: Domains) -> dict[str, tuple[int, int]] | None:
        """The least and the greatest units of every number; None where one is surely missing."""
        found = {}
        for name in rule.columns:
            column = self.columns[name]
            present = without(held[name], self._missing(name))
            if not present or not isinstance(column, Numeric):
                return None
            found[name] = present[0][0] + column.lower, present[-1][1] - 1 + column.lower
        return found

    def _missing(self, name: str) -> Runs:
        code = self.columns[name].missing
        return () if code is None else ((code, code + 1),)

    def _may_miss(self, name: str, held: Domains) -> bool:
        return bool(within(held[name], self._missing(name)))

    def _cases(self, held: Domains) -> "list[Domains] | dict[str, int] | None":
        """The cases to look at; a row where one was found; None where any row of the domains will do."""
        for combination in self.combinations:
            open_ = self._open(combination, held)
            if open_ is not None:
                name, runs = open_[0]
                return [held | {name: without(held[name], runs)}, held | {name: within(held[name], runs)}]
        for beside in self.besides:
            if (some := _some(beside, held)) is not None:
                name = beside.columns[0]
                return [held | {name: some}, held | {name: without(held[name], some)}]
        left = []
        for rule in self.sums:
            ends = self._ends(rule, held)
            if ends is None or self._surely(rule, ends):
                continue
            for name in rule.columns:
                if self._may_miss(name, held):
                    missing = self._missing(name)
                    return [held | {name: within(held[name], missing)}, held | {name: without(held[name], missing)}]
            left.append(rule)
        return self._numbers(left, held) if left else None

    @staticmethod
    def _surely(rule: Linear, ends: Mapping[str, tuple[int, int]]) -> bool:
        """Whether a sum holds whatever the numbers are."""
        low = sum(min(k * end for end in ends[name]) for name, k in _terms(rule))
        high = sum(max(k * end for end in ends[name]) for name, k in _terms(rule))
        return high <= rule.limit and (low == high == rule.limit or not rule.equal)

    def _numbers(self, rules: Sequence[Linear], held: Domains) -> "list[Domains] | dict[str, int]":
        """The sums that are left, none of whose numbers is missing: a row, no case, or two with less room."""
        names = dict.fromkeys(name for rule in rules for name in rule.columns)
        lower = {name: column.lower for name in names if isinstance(column := self.columns[name], Numeric)}
        bounds = {name: (held[name][0][0] + lower[name], held[name][-1][1] - 1 + lower[name]) for name in names}
        sums = [Sum(_added(rule), rule.limit if rule.equal else None, rule.limit) for rule in rules]
        values = solution(sums, bounds, work=self.work)
        if values is None:
            return []
        codes = {name: value - lower[name] for name, value in values.items()}
        for name, code in codes.items():
            below, above = _next_to(held[name], code)
            if below is not None and above is not None:
                first, second = within(held[name], ((0, below + 1),)), without(held[name], ((0, above),))
                return [held | {name: first}, held | {name: second}]
        return {name: runs[0][0] for name, runs in held.items()} | {name: int(code) for name, code in codes.items()}


def _narrow_beside(rule: Beside, held: Domains) -> None:
    """Take away codes that have none left beside them, on either side."""
    first, second = rule.columns
    listed = [code for code in rule.allowed if holds(held[first], code)]
    kept = [code for code in listed if within(rule.allowed[code], held[second])]
    _keep(held, first, without(held[first], merged((code, code + 1) for code in set(listed).difference(kept))))
    if len(kept) == length(held[first]):
        _keep(held, second, within(held[second], merged(run for code in kept for run in rule.allowed[code])))


def _some(rule: Beside, held: Domains) -> Runs | None:
    """Codes of the first column to try: those that demand nothing, or one; None where nothing is open."""
    first, second = rule.columns
    asking = [code for code in rule.allowed if holds(held[first], code) and without(held[second], rule.allowed[code])]
    if not asking:
        return None
    free = without(held[first], merged((code, code + 1) for code in asking))
    return free or ((min(asking), min(asking) + 1),)


def _next_to(runs: Runs, code: Fraction) -> tuple[int | None, int | None]:
    """The allowed codes next to one that is not a whole number, or lies in none of the runs; (None, None) where it is fine."""
    if code.denominator == 1 and holds(runs, int(code)):
        return None, None
    below = max(min(high - 1, math.floor(code)) for low, high in runs if low <= code)
    above = min(max(low, math.ceil(code)) for low, high in runs if high > code)
    return below, above


def _terms(rule: Linear) -> Iterator[tuple[str, int]]:
    return zip(rule.columns, rule.coefficients, strict=True)


def _added(rule: Linear) -> dict[str, int]:
    """The coefficients by column."""
    return dict(_terms(rule))


def _keep(held: Domains, name: str, runs: Runs) -> None:
    if not runs:
        raise _Impossible
    held[name] = runs
