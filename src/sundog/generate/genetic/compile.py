"""From queries to what the operators walk through: atoms, packed lists, and the kernels to call (forms/base.py)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from sundog.domain.rows import Rows
from sundog.generate.genetic.atoms import Atoms
from sundog.generate.genetic.calls import address_of, ports
from sundog.generate.genetic.forms import FORMS
from sundog.generate.genetic.forms.base import Asked, Form, Lists, Packing
from sundog.queries import Query, answer

ATOM, CODE, CODES, COLUMNS, ACTIVE = range(5)
"""The first integers: where the lists of columns' first atoms, atoms' first codes and numbers of codes, and active columns
begin, and how many columns are active. Plain numbers, because types of our own would enter the names of cached kernels."""


@dataclass(frozen=True, eq=False)
class Compiled:
    """The forms of some queries: packed lists, and for every class its form, its place, its queries, numbers held."""

    atoms: Atoms
    integers: Int[np.ndarray, " any"]
    smalls: Int[np.ndarray, " any"]
    weights: Float[np.ndarray, " any"]
    used: tuple[tuple[Form, int, list[Asked], int], ...]

    @staticmethod
    def of(rows: Rows, queries: Sequence[Query], weights: Sequence[float]) -> "Compiled":
        """The forms of some queries, answered one after the other, each answer weighted by its query's weight."""
        asked = _by_class(queries, weights)
        cuts = (cut for form, own in asked for cut in form.cuts(rows.schema, [each.query for each in own]))
        atoms = Atoms.of(rows.schema, cuts)
        lists = [form.lists(atoms, own) for form, own in asked]
        packing = Packing()
        _place_atoms(packing, atoms, lists)
        used = [
            (form, packing.place(made.fields), own, made.held) for (form, own), made in zip(asked, lists, strict=True)
        ]
        return Compiled(atoms, *packing.vectors(), used=tuple(used))

    @property
    def active(self) -> int:
        """In how many columns a change can touch something."""
        return int(self.integers[ACTIVE])

    def begin(
        self, rows: Rows, atoms: Int[np.ndarray, "rows columns"], residuals: Float[np.ndarray, " answers"]
    ) -> "Calls":
        """Count the rows into the residuals, and make ready the calls that change both from now on."""
        held = [np.zeros((len(atoms) + 1, number), dtype=np.int32) for _, _, _, number in self.used]
        found = [
            ports(self.integers, self.smalls, self.weights, rows=atoms, held=own, residuals=residuals) for own in held
        ]
        lines = []
        for (form, place, asked, _), own in zip(self.used, found, strict=True):
            lines.append((address_of(form.kernel), own.ctypes.data, place))
            if form.begin is not None:
                form.begin(own.ctypes.data, place)
                continue
            for query, start, _ in asked:
                residuals[start : start + query.size] += answer(query, rows)
        return Calls(np.array(lines, dtype=np.int64), (self, atoms, residuals, *held, *found))


@dataclass(frozen=True, eq=False)
class Calls:
    """For every class the kernel's address, its ports and the place of its form; `alive` are the arrays behind them."""

    lines: Int[np.ndarray, "classes 3"]
    alive: tuple[object, ...]


def held_per_row(queries: Sequence[Query]) -> int:
    """How many numbers the search holds per row for these queries, at most."""
    return sum(form.held([query for query in queries if type(query) is kind]) for kind, form in FORMS.items())


def _by_class(queries: Sequence[Query], weights: Sequence[float]) -> list[tuple[Form, list[Asked]]]:
    """The queries of each class, in the order of the registry."""
    starts = np.cumsum([0, *(query.size for query in queries)])[:-1].tolist()
    asked = [Asked(*each) for each in zip(queries, starts, weights, strict=True)]
    lacking = {type(query).__name__ for query in queries if type(query) not in FORMS}
    if lacking:
        raise TypeError(f"the genetic search has no form for {', '.join(sorted(lacking))}")
    groups = [(form, [each for each in asked if type(each.query) is kind]) for kind, form in FORMS.items()]
    return [(form, own) for form, own in groups if own]


def _place_atoms(packing: Packing, atoms: Atoms, lists: Sequence[Lists]) -> None:
    """The atoms, and the columns with more than one of them in which a change can touch something."""
    touched = np.any([each.columns for each in lists], axis=0)
    active = np.flatnonzero(touched & (np.diff(atoms.first) > 1)).astype(np.int64)
    head = np.zeros(ACTIVE + 1, dtype=np.int64)  # placed first, filled when the rest has its places
    packing.place(head)
    head[:] = [*(packing.place(part) for part in (atoms.first, *atoms.codes(), active)), len(active)]
