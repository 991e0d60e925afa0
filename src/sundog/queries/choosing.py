"""What workload builders share: which columns, and reference rows among which thresholds are drawn. Public values only.

Thresholds are drawn where they can matter: as quantiles of reference rows. Those are uniform under the public bounds, or
rows drawn from released one-way measurements (free, and better: RAP++ draws 69 % trivial thresholds on Adult). They are
never drawn from the data.
"""

from collections.abc import Sequence

import numpy as np

from sundog.domain import Numeric, Schema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.random.keys import Key, key_of, permutation, split, uniforms

REFERENCE = 2000


def numeric_names(schema: Schema) -> list[str]:
    """The numeric columns that have more than one value."""
    return [column.name for column in schema.columns if isinstance(column, Numeric) and column.steps > 1]


def label_names(schema: Schema) -> list[str]:
    """The names of the categorical columns."""
    return [column.name for column in schema.columns if not isinstance(column, Numeric)]


def targets_of(schema: Schema, targets: Sequence[str] | None) -> tuple[str, ...]:
    """The prediction targets: as named, else those that the schema declares."""
    chosen = tuple(targets) if targets is not None else schema.targets
    for name in chosen:
        schema.position(name)
    if not chosen:
        raise UserError("workload: it needs a prediction target; declare 'targets' in the schema or name them.")
    return chosen


def sampled(items: list[tuple[str, ...]], sample: int | None, *, seed: int) -> list[tuple[str, ...]]:
    """This many of the items, drawn without replacement, in their order; all of them if there are not more."""
    if sample is not None and sample < 1:
        raise UserError(f"workload: found sample = {sample}; it must be 1 or more (leave it out for all).")
    if sample is None or sample >= len(items):
        return items
    return [items[place] for place in sorted(permutation(key_of(seed), len(items))[:sample])]


def uniform_rows(key: Key, schema: Schema, count: int = REFERENCE) -> Rows:
    """Reference rows that know nothing but the public bounds."""
    draws = zip(split(key, len(schema.columns)), schema.columns, strict=True)
    return Rows(schema, tuple((uniforms(k, count) * column.size).astype(np.int64) for k, column in draws))
