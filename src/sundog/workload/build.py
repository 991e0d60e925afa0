"""How workloads are made: which columns, which thresholds, which directions. Pure functions of public values.

Thresholds are drawn where they can matter: as quantiles of reference rows. Those are uniform under the public bounds, or
rows drawn from released one-way measurements (free, and better: RAP++ draws 69 % trivial thresholds on Adult). They are
never drawn from the data.
"""

import itertools
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from sundog.errors import UserError
from sundog.keys import Key, key_of, permutation, split, uniforms
from sundog.queries import AtLeast, BinaryTree, Conditional, Halfspaces, Marginal, Moments, Ranges
from sundog.queries.halfspace import MOST, width
from sundog.rows import Rows
from sundog.schema import Numeric, Schema

REFERENCE = 2000


def numeric_names(schema: Schema) -> list[str]:
    """The numeric columns that have more than one value."""
    return [column.name for column in schema.columns if isinstance(column, Numeric) and column.steps > 1]


def label_names(schema: Schema) -> list[str]:
    """The categorical columns."""
    return [column.name for column in schema.columns if not isinstance(column, Numeric)]


def targets_of(schema: Schema, targets: Sequence[str] | None) -> tuple[str, ...]:
    """The prediction targets: as named, else those that the schema declares."""
    chosen = tuple(targets) if targets is not None else schema.targets
    for name in chosen:
        schema.position(name)
    if not chosen:
        raise UserError("workload: it needs a prediction target; declare 'targets' in the schema or name them.")
    return chosen


def marginals(
    schema: Schema, *, k: int, sample: int | None, seed: int, columns: Sequence[str] | None, bins: int | None
) -> list[Marginal]:
    """All k-way marginals, or a sample of them."""
    names = list(columns) if columns is not None else list(schema.names)
    if not 1 <= k <= len(names):
        raise UserError(f"marginals: found k = {k}; with {len(names)} columns, 1 to {len(names)} are allowed.")
    chosen = sampled(list(itertools.combinations(names, k)), sample, seed=seed)
    return [Marginal.of(schema, *names, bins=bins) for names in chosen]


def sampled(items: list[tuple[str, ...]], sample: int | None, *, seed: int) -> list[tuple[str, ...]]:
    """So many of the items, drawn without replacement, in their order; all of them if there are not more."""
    if sample is not None and sample < 1:
        raise UserError(f"workload: found sample = {sample}; it must be 1 or more (leave it out for all).")
    if sample is None or sample >= len(items):
        return items
    return [items[place] for place in sorted(permutation(key_of(seed), len(items))[:sample])]


def prefixes(
    schema: Schema, *, count: int, labels: int, numbers: int, seed: int, reference: Rows | None
) -> list[Ranges]:
    """Conjunctions of so many labels (column = value) and thresholds (column <= value)."""
    return [
        _conjunctions(schema, count, labels=labels, numbers=numbers, seed=seed, reference=reference, closed_below=False)
    ]


def ranges(schema: Schema, *, count: int, labels: int, numbers: int, seed: int, reference: Rows | None) -> list[Ranges]:
    """Conjunctions of so many labels and half-open intervals."""
    return [
        _conjunctions(schema, count, labels=labels, numbers=numbers, seed=seed, reference=reference, closed_below=True)
    ]


def _conjunctions(
    schema: Schema,
    count: int,
    *,
    labels: int,
    numbers: int,
    seed: int,
    reference: Rows | None,
    closed_below: bool,
    without: str | None = None,
) -> Ranges:
    label_columns = [name for name in label_names(schema) if name != without]
    number_columns = [name for name in numeric_names(schema) if name != without]
    fits = 0 <= labels <= len(label_columns) and 0 <= numbers <= len(number_columns)
    if count < 1 or not fits or labels + numbers < 1:
        raise UserError(
            f"workload: {count} queries of {labels} labels and {numbers} numbers were asked for; "
            f"the schema has {len(label_columns)} categorical and {len(number_columns)} numeric columns to use."
        )
    keys = split(key_of(seed), 5)
    rows = reference if reference is not None else uniform_rows(keys[0], schema)
    names = (*label_columns, *number_columns)
    chosen_labels = _choose(keys[1], count, labels, len(label_columns))
    chosen_numbers = _choose(keys[2], count, numbers, len(number_columns)) + len(label_columns)
    which = np.concatenate([chosen_labels, chosen_numbers], axis=1)
    first, second = (_drawn_codes(key, schema, names, which, rows) for key in keys[3:5])
    is_label = which < len(label_columns)
    low = np.where(is_label, first, np.minimum(first, second) if closed_below else 0)
    high = np.where(is_label, first + 1, (np.maximum(first, second) if closed_below else first) + 1)
    used = sorted(set(which.ravel().tolist()))
    place = {column: k for k, column in enumerate(used)}
    return Ranges(tuple(names[column] for column in used), np.vectorize(place.__getitem__)(which), low, high)


def _choose(key: Key, count: int, chosen: int, number: int) -> Int[np.ndarray, "count chosen"]:
    """For every query so many distinct columns."""
    if chosen == 0:
        return np.empty((count, 0), dtype=np.int64)
    return np.argsort(uniforms(key, count * number).reshape(count, number), axis=1)[:, :chosen]


def _drawn_codes(
    key: Key, schema: Schema, names: tuple[str, ...], which: Int[np.ndarray, "q k"], rows: Rows
) -> Int[np.ndarray, "q k"]:
    """For every condition the code of a reference row; numbers that may be missing are drawn among those present."""
    pick = uniforms(key, which.size).reshape(which.shape)
    codes = np.empty(which.shape, dtype=np.int64)
    for column, name in enumerate(names):
        on = which == column
        values = np.sort(rows.column(name))
        if isinstance(schema.column(name), Numeric):
            values = values[values != schema.column(name).missing]
        values = values if len(values) else np.zeros(1, dtype=np.int64)
        codes[on] = values[(pick[on] * len(values)).astype(np.int64)]
    return codes


def uniform_rows(key: Key, schema: Schema, count: int = REFERENCE) -> Rows:
    """Reference rows that know nothing but the public bounds."""
    draws = zip(split(key, len(schema.columns)), schema.columns, strict=True)
    return Rows(schema, tuple((uniforms(k, count) * column.size).astype(np.int64) for k, column in draws))


def trees(schema: Schema, *, levels: int, numbers: int, labels: int) -> list[BinaryTree]:
    """Every choice of so many categorical and numeric columns."""
    names = (
        itertools.combinations(label_names(schema), labels),
        itertools.combinations(numeric_names(schema), numbers),
    )
    return [BinaryTree.of(schema, *some, *others, levels=levels) for some, others in itertools.product(*names)]


def halfspaces(
    schema: Schema, *, directions: int, thresholds: int, seed: int, reference: Rows | None
) -> list[Halfspaces]:
    """Random directions over all columns."""
    return [_halfspaces(schema, schema.names, directions, thresholds=thresholds, seed=seed, reference=reference)]


def _halfspaces(
    schema: Schema, names: Sequence[str], directions: int, *, thresholds: int, seed: int, reference: Rows | None
) -> Halfspaces:
    if directions < 1 or thresholds < 1 or not names:
        raise UserError(
            f"halfspaces: found {directions} directions x {thresholds} thresholds over {len(names)} columns."
        )
    draw, ref = split(key_of(seed), 2)
    widths = tuple(width(schema.column(name)) for name in names)
    theta = _directions(draw, directions, sum(widths))
    rows = reference if reference is not None else uniform_rows(ref, schema)
    blank = Halfspaces(tuple(names), widths, theta, np.zeros((directions, 1), dtype=np.int64))
    products = np.sort((blank.features(rows) @ theta.T.astype(np.float32)).T, axis=1)
    places = ((np.arange(thresholds) + 0.5) / thresholds * products.shape[1]).astype(np.int64)
    return Halfspaces(tuple(names), widths, theta, products[:, places].astype(np.int64))


def _directions(key: Key, directions: int, features: int) -> Int[np.ndarray, "directions features"]:
    """Normal coefficients, each direction scaled so that its largest is 127, on the integer grid."""
    from scipy.special import ndtri

    u = np.clip(uniforms(key, directions * features), 1e-12, 1 - 1e-12)
    normal: Float[np.ndarray, "directions features"] = ndtri(u).reshape(directions, features)
    scaled = normal / np.abs(normal).max(axis=1, keepdims=True) * MOST
    return np.rint(scaled).astype(np.int16)


def conditional_marginals(schema: Schema, *, targets: tuple[str, ...], k: int, bins: int | None) -> list[Marginal]:
    """Every target with every k categorical columns; each set of columns once."""
    chosen: dict[frozenset[str], tuple[str, ...]] = {}
    for target in targets:
        others = [name for name in label_names(schema) if name != target]
        for features in itertools.combinations(others, k):
            chosen.setdefault(frozenset((target, *features)), (*features, target))
    return [Marginal.of(schema, *names, bins=bins) for names in chosen.values()]


def conditional_ranges(
    schema: Schema, *, targets: tuple[str, ...], count: int, numbers: int, seed: int, reference: Rows | None
) -> list[Conditional]:
    """For every target, random thresholds on so many numeric columns, with all labels."""
    made = []
    for target in targets:
        inner = _conjunctions(
            schema,
            count,
            labels=0,
            numbers=numbers,
            seed=seed + schema.position(target),
            reference=reference,
            closed_below=False,
            without=target,
        )
        made.append(Conditional.of(schema, target, inner))
    return made


def conditional_thresholds(
    schema: Schema, *, targets: tuple[str, ...], directions: int, thresholds: int, seed: int, reference: Rows | None
) -> list[Conditional]:
    """For every target, random directions over the numeric columns, with all labels."""
    made = []
    for target in targets:
        names = [name for name in numeric_names(schema) if name != target]
        if not names:
            raise UserError("linear thresholds: the schema has no numeric column beside the target; use marginals.")
        inner = _halfspaces(
            schema, names, directions, thresholds=thresholds, seed=seed + schema.position(target), reference=reference
        )
        made.append(Conditional.of(schema, target, inner))
    return made


def at_least(schema: Schema, *, k: int, least: int, sample: int | None, seed: int, bins: int | None) -> list[AtLeast]:
    """t-out-of-k over every (or a sample of) k categorical columns."""
    chosen = sampled(list(itertools.combinations(label_names(schema), k)), sample, seed=seed)
    return [AtLeast.of(schema, *names, least=least, bins=bins) for names in chosen]


def moments(schema: Schema, *, columns: Sequence[str] | None) -> list[Moments]:
    """One query with all moments of the columns."""
    names = list(columns) if columns is not None else numeric_names(schema)
    if not names:
        raise UserError("moments: the schema has no numeric column.")
    return [Moments.of(schema, *names)]
