"""The genetic operators: how candidates are made and which are accepted; compiled by Numba, with their own generator.

`best_of_population` is the paper's Algorithm 1: each generation makes P_mut mutations (a random cell takes a value drawn
uniformly from its domain) and P_cross crossovers (a random cell takes the same column's value of another row of an elite
dataset), and accepts the best one if it lowers the loss. `every_improvement` makes the same number of candidates, but
accepts each that lowers the loss, in turn, with its exact change at that moment; and it draws rows and donors from one
block of rows after another, beginning at a random row each (rows are exchangeable, so any block is as good).
"""

from typing import Any

import numpy as np
from numba import njit

from sundog.generate.genetic.calls import walk
from sundog.generate.genetic.compile import ACTIVE, ATOM, CODE, CODES, COLUMNS

LEAST = -1e-9
"""Changes closer to zero are rounding."""
BLOCK_ROWS, BLOCK_CANDIDATES = 1024, 5000
"""This many candidates in turn come from this many neighbouring rows, which the caches hold, however many rows there are."""


@njit(cache=True, nogil=True)
def word(state: Any) -> Any:  # pragma: no cover (compiled)
    """The next 64 random bits: splitmix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def below(state: Any, number: int) -> int:  # pragma: no cover (compiled)
    """A random whole number from 0 to number - 1, for any number up to 2^53."""
    return min(int(float(word(state) >> np.uint64(11)) * 2.0**-53 * number), number - 1)


@njit(cache=True, nogil=True)
def atom_of(L: Any, j: int, code: int) -> int:  # pragma: no cover (compiled)
    """The atom of a code: the last one that begins at or before it."""
    low, high = L[L[ATOM] + j], L[L[ATOM] + j + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if L[L[CODE] + middle] <= code:
            low = middle
        else:
            high = middle
    return low - L[L[ATOM] + j]


@njit(cache=True, nogil=True)
def code_within(L: Any, state: Any, j: int, atom: int) -> int:  # pragma: no cover (compiled)
    """A random code of an atom."""
    return L[L[CODE] + L[L[ATOM] + j] + atom] + below(state, L[L[CODES] + L[L[ATOM] + j] + atom])


@njit(cache=True, nogil=True)
def uniform_value(L: Any, state: Any, j: int) -> Any:  # pragma: no cover (compiled)
    """A value drawn uniformly from the column's domain (the paper's mutation)."""
    last = L[L[ATOM] + j + 1] - 1
    code = below(state, L[L[CODE] + last] + L[L[CODES] + last])
    return atom_of(L, j, code), code


@njit(cache=True, nogil=True)
def nearby_atom(L: Any, state: Any, j: int, atom: int) -> int:  # pragma: no cover (compiled)
    """An atom that lies a few atoms away, near ones more often; or any atom, every other time."""
    number = L[L[ATOM] + j + 1] - L[L[ATOM] + j]
    if below(state, 2):
        return below(state, number)
    step = 1
    while step < number and below(state, 2):
        step *= 2
    atom += (1 + below(state, step)) * (1 if below(state, 2) else -1)
    return min(max(atom, 0), number - 1)


@njit(cache=True, nogil=True)
def donated(rows: Any, elites: Any, donor: int, j: int) -> int:  # pragma: no cover (compiled)
    """A donor's atom or code: donors are the current dataset's rows, then those of the earlier elite ones."""
    number = rows.shape[0]
    return int(np.int64(rows[donor, j] if donor < number else elites[donor // number - 1, donor % number, j]))


@njit(cache=True, nogil=True)
def every_improvement(
    L: Any,
    calls: Any,
    rows: Any,
    codes: Any,
    elite_rows: Any,
    elite_codes: Any,
    state: Any,
    mutations: int,
    crossovers: int,
    generations: int,
) -> Any:  # pragma: no cover (compiled)
    """Accept each candidate that lowers the loss; the change of loss, and how many were accepted."""
    total, accepted, start = 0.0, 0, 0
    number, block = rows.shape[0], min(rows.shape[0], BLOCK_ROWS)
    for candidate in range(generations * (mutations + crossovers)):
        if candidate % BLOCK_CANDIDATES == 0:
            start = below(state, number)
        i = (start + below(state, block)) % number
        j = L[L[COLUMNS] + below(state, L[ACTIVE])]
        if candidate % (mutations + crossovers) < mutations:
            donor = -1
            b = nearby_atom(L, state, j, rows[i, j])
        else:
            donor = below(state, block * (elite_rows.shape[0] + 1))
            donor = donor // block * number + (start + donor % block) % number
            b = donated(rows, elite_rows, donor, j)
        if b != rows[i, j]:
            change = walk(calls, rows, i, j, b, False)
            if change < LEAST:
                walk(calls, rows, i, j, b, True)
                codes[i, j] = code_within(L, state, j, b) if donor < 0 else donated(codes, elite_codes, donor, j)
                total += change
                accepted += 1
    return total, accepted


@njit(cache=True, nogil=True)
def best_of_population(
    L: Any,
    calls: Any,
    rows: Any,
    codes: Any,
    elite_rows: Any,
    elite_codes: Any,
    state: Any,
    mutations: int,
    crossovers: int,
    generations: int,
    changes: int,
) -> Any:  # pragma: no cover (compiled)
    """Accept the best candidate of each generation if it lowers the loss; each candidate makes this many changes."""
    total, accepted = 0.0, 0
    tried = np.empty((changes, 4), np.int64)
    best = np.empty((changes, 4), np.int64)
    for _ in range(generations):
        least = LEAST
        for candidate in range(mutations + crossovers):
            change = 0.0
            for c in range(changes):
                i = below(state, rows.shape[0])
                j = L[L[COLUMNS] + below(state, L[ACTIVE])]
                if candidate < mutations:
                    b, code = uniform_value(L, state, j)
                else:
                    donor = below(state, rows.shape[0] * (elite_rows.shape[0] + 1))
                    b, code = donated(rows, elite_rows, donor, j), donated(codes, elite_codes, donor, j)
                tried[c, 0], tried[c, 1], tried[c, 2], tried[c, 3] = i, j, b, code
                if b != rows[i, j]:
                    change += walk(calls, rows, i, j, b, False)
                if changes > 1:  # later changes of the candidate build on this one, until all are undone
                    tried[c, 2] = rows[i, j]
                    walk(calls, rows, i, j, b, True)
            if changes > 1:
                turn_back(calls, rows, tried)
            if change < least:
                least = change
                best[:] = tried
        if least < LEAST:
            for c in range(changes):
                i, j = best[c, 0], best[c, 1]
                walk(calls, rows, i, j, best[c, 2], True)
                codes[i, j] = best[c, 3]
            total += least
            accepted += 1
    return total, accepted


@njit(cache=True, nogil=True)
def turn_back(calls: Any, rows: Any, tried: Any) -> None:  # pragma: no cover (compiled)
    """Undo a candidate's changes, the last one first; `tried` held the atoms from before and then holds those tried."""
    for c in range(tried.shape[0] - 1, -1, -1):
        i, j, before = tried[c, 0], tried[c, 1], tried[c, 2]
        tried[c, 2] = rows[i, j]
        walk(calls, rows, i, j, before, True)
