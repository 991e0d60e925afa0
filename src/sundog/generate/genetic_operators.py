"""The genetic operators: how candidates are made and which are accepted; compiled by Numba, with their own generator.

`best_of_population` is the paper's Algorithm 1: each generation makes P_mut mutations (a random cell takes a value drawn
uniformly from its domain) and P_cross crossovers (a random cell takes the same column's value of another row of an elite
dataset), and accepts the best one if it lowers the loss. `every_improvement` makes the same number of candidates, but
accepts each that lowers the loss, in turn, with its exact change at that moment.
"""

from typing import Any

import numpy as np
from numba import njit

from sundog.generate.genetic_kernels import apply_to, change_of

LEAST = -1e-9
"""Changes closer to zero are rounding."""


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
def atom_of(forms: Any, j: int, code: int) -> int:  # pragma: no cover (compiled)
    """The atom of a code: the last one that begins at or before it."""
    low, high = forms.atom[j], forms.atom[j + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if forms.code[middle] <= code:
            low = middle
        else:
            high = middle
    return low - forms.atom[j]


@njit(cache=True, nogil=True)
def code_within(forms: Any, state: Any, j: int, atom: int) -> int:  # pragma: no cover (compiled)
    """A random code of an atom."""
    return forms.code[forms.atom[j] + atom] + below(state, forms.codes[forms.atom[j] + atom])


@njit(cache=True, nogil=True)
def uniform_value(forms: Any, state: Any, j: int) -> Any:  # pragma: no cover (compiled)
    """A value drawn uniformly from the column's domain (the paper's mutation)."""
    last = forms.atom[j + 1] - 1
    code = below(state, forms.code[last] + forms.codes[last])
    return atom_of(forms, j, code), code


@njit(cache=True, nogil=True)
def nearby_value(forms: Any, state: Any, j: int, atom: int) -> Any:  # pragma: no cover (compiled)
    """A value from an atom that lies a few atoms away, near ones more often; or from any atom, every other time."""
    number = forms.atom[j + 1] - forms.atom[j]
    if below(state, 2):
        atom = below(state, number)
    else:
        step = 1
        while step < number and below(state, 2):
            step *= 2
        atom += (1 + below(state, step)) * (1 if below(state, 2) else -1)
        atom = min(max(atom, 0), number - 1)
    return atom, code_within(forms, state, j, atom)


@njit(cache=True, nogil=True)
def donated_value(forms: Any, elites: Any, codes: Any, state: Any, j: int) -> Any:  # pragma: no cover (compiled)
    """The value of a random row of the current dataset or of an earlier elite one."""
    elite = below(state, elites.shape[0] + 1)
    i = below(state, codes.shape[0])
    code = codes[i, j] if elite == elites.shape[0] else elites[elite, i, j]
    return atom_of(forms, j, code), code


@njit(cache=True, nogil=True)
def every_improvement(
    forms: Any, rows: Any, codes: Any, products: Any, R: Any, elites: Any, state: Any, mutations: int, crossovers: int, generations: int, variant: int
) -> Any:  # pragma: no cover (compiled)
    """Accept each candidate that lowers the loss; the change of loss and how many were accepted."""
    total, accepted = 0.0, 0
    for _ in range(generations):
        for candidate in range(mutations + crossovers):
            i = below(state, rows.shape[0])
            j = forms.columns[below(state, forms.columns.shape[0])]
            a = rows[i, j]
            if variant == 2:
                best = LEAST
                b = a
                for v in range(forms.atom[j + 1] - forms.atom[j]):
                    if v != a:
                        change = change_of(forms, rows, products, R, i, j, v)
                        if change < best:
                            best = change
                            b = v
                if b != a:
                    apply_to(forms, rows, products, R, i, j, b)
                    codes[i, j] = code_within(forms, state, j, b)
                    total += best
                    accepted += 1
                continue
            if candidate < mutations:
                b, code = nearby_value(forms, state, j, a) if variant == 1 else uniform_value(forms, state, j)
            else:
                b, code = donated_value(forms, elites, codes, state, j)
            if b != a:
                change = change_of(forms, rows, products, R, i, j, b)
                if change < LEAST:
                    apply_to(forms, rows, products, R, i, j, b)
                    codes[i, j] = code
                    total += change
                    accepted += 1
    return total, accepted


@njit(cache=True, nogil=True)
def best_of_population(
    forms: Any, rows: Any, codes: Any, products: Any, R: Any, elites: Any, state: Any, mutations: int, crossovers: int, generations: int, changes: int
) -> Any:  # pragma: no cover (compiled)
    """Accept the best candidate of each generation if it lowers the loss; each candidate makes so many changes."""
    total, accepted = 0.0, 0
    tried = np.empty((4, changes), np.int64)
    best = np.empty((4, changes), np.int64)
    for _ in range(generations):
        least = LEAST
        for candidate in range(mutations + crossovers):
            change = 0.0
            for c in range(changes):
                i = below(state, rows.shape[0])
                j = forms.columns[below(state, forms.columns.shape[0])]
                if candidate < mutations:
                    b, code = uniform_value(forms, state, j)
                else:
                    b, code = donated_value(forms, elites, codes, state, j)
                tried[0, c], tried[1, c], tried[2, c], tried[3, c] = i, j, b, code
                if b != rows[i, j]:
                    change += change_of(forms, rows, products, R, i, j, b)
                if changes > 1:
                    tried[2, c] = rows[i, j]
                    apply_to(forms, rows, products, R, i, j, b)
            for c in range(changes - 1 if changes > 1 else -1, -1, -1):  # undo, remembering where each change led
                i, j, a = tried[0, c], tried[1, c], tried[2, c]
                tried[2, c] = rows[i, j]
                apply_to(forms, rows, products, R, i, j, a)
            if change < least:
                least = change
                best[:] = tried
        if least < LEAST:
            for c in range(changes):
                apply_to(forms, rows, products, R, best[0, c], best[1, c], best[2, c])
                codes[best[0, c], best[1, c]] = best[3, c]
            total += least
            accepted += 1
    return total, accepted
