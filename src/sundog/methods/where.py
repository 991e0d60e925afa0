"""Rows on demand: synthetic rows that satisfy a condition, drawn from the model given it.

A generator that can (`narrowed`) leaves out what cannot satisfy the condition; from what is left rows are drawn in batches, and
those that satisfy it are kept. So nothing is weighed twice, values inside a cell that lies partly in the condition are drawn
within it, and proportions are those of the model given the condition. Generators that cannot narrow draw and keep just the same,
with fewer kept. How many rows are drawn is bounded in both cases.

Repairing constraints can lead out of a condition, so rows are looked at once more afterwards, and drawn again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sundog.domain.conditions import Condition, satisfied
from sundog.domain.rows import Rows
from sundog.domain.schema import Schema
from sundog.errors import UserError
from sundog.generate import Generator, Narrowing
from sundog.methods.loop import check_rows
from sundog.postprocess.constraints import enforce
from sundog.random.keys import Key, split

MOST_DRAWN = 4_000_000
"""This many rows are drawn at most for one question, unless it asks for more."""
MOST_REPAIRED = 50_000
"""This many rows are repaired at most, unless it asks for more."""
FEWEST, LARGEST = 1_000, 400_000
ROUNDS = 8

Draw = Callable[[Key, int], Rows]


def sample_where(
    key: Key, generator: Generator[Any], *, schema: Schema, state: Any, rows: int, condition: Condition
) -> Rows:
    """This many synthetic rows that satisfy a condition, and the schema's constraints."""
    check_rows(rows, schema)
    held = generator.narrowed(state, condition) if isinstance(generator, Narrowing) else state
    if held is None:
        raise UserError(NO_SUPPORT)

    def draw(draw_key: Key, count: int) -> Rows:
        return _kept(draw_key, lambda k, n: generator.sample(k, held, rows=n), condition, rows=count, most=MOST_DRAWN)

    most = max(ROUNDS * rows, MOST_REPAIRED)
    kept = _kept(key, lambda k, n: enforce(k, schema, draw=draw, rows=n), condition, rows=rows, most=most)
    return kept.take(np.arange(rows))


NO_SUPPORT = (
    "where: no row of the model satisfies the condition, so none can be drawn. Ask for less at once, or look with `sundog answer` "
    "at how many rows there are."
)


def _kept(key: Key, draw: Draw, condition: Condition, *, rows: int, most: int) -> Rows:
    """At least that many rows of what is drawn that satisfy the condition, from a bounded number of draws."""
    parts: list[Rows] = []
    found = drawn = 0
    size = max(rows, 1)
    while found < rows:
        key, batch_key = split(key, 2)
        batch = draw(batch_key, size)
        good = np.flatnonzero(satisfied(condition, batch.widened()))
        parts.append(batch if len(good) == len(batch) else batch.take(good))
        found, drawn = found + len(good), drawn + size
        if found < rows and drawn >= max(most, ROUNDS * rows):
            raise UserError(NO_SUPPORT if not found else _too_few(found, drawn))
        size = _next_size(rows - found, found / drawn)
    return Rows.concatenate(parts, parts[0].schema) if len(parts) > 1 else parts[0]


def _next_size(lacking: int, share: float) -> int:
    """How many rows to draw for those that are lacking, as far as the share that was kept tells."""
    return int(min(max(1.3 * lacking / max(share, 1e-4), FEWEST), max(LARGEST, lacking)))


def _too_few(found: int, drawn: int) -> str:
    return (
        f"where: of {drawn} rows that the model drew, {found} satisfy the condition, which is fewer than asked for. Ask for at most "
        f"{found}, or generate with a method that conditions its model, such as auto, mst or aim."
    )
