"""The measures a user cares about, in words: what to match, as queries with weights.

    correlations: age, income, hours      first and second moments of these columns
    correlations                          of the five columns most correlated with the target IN THE SYNTHETIC rows
    means: income by sex                  sums and counts of a column in every group of another
    marginals: age, sex                   the table of these columns
    columns: age, sex                     each of these columns on its own; without names, all of them
    FILE.toml                             any workload file

Several are joined with ";", and share the budget equally; "columns * 3" gets three shares.
Everything here looks at the schema, at synthetic rows and at released values only.

Moments are measured within the range that the synthetic rows show, all but the outermost on each side: between wide public
bounds most of the budget would be spent on values that do not occur. Values outside are clamped, on both sides alike, so the
far tails stay as the table has them. As many rows are left outside as `NOISES` standard deviations of the noise, in rows:
what lies beyond could not be distinguished from the noise anyway.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from sundog.domain import Column, Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.estimate.hierarchy import level_shares, levels
from sundog.queries import GroupSums, Marginal, Moments, Query
from sundog.queries.workload import Workload
from sundog.released import Released
from sundog.select.everything import shares_of

CHOSEN = 5
LEAST_SHARE = 1e-3
NOISES = 20.0
LEAST_OUTSIDE, MOST_OUTSIDE = 0.001, 0.02
ALLOWED = "allowed are 'correlations: A, B', 'means: A by B', 'marginals: A, B', 'columns' and a .toml file"


def measures_of(
    text: str,
    schema: Schema,
    *,
    rows: Rows,
    rho: float = 0.02,
    neighbours: Neighbours = "add-remove",
    released: Released | None = None,
) -> Workload:
    """The queries of a description; `rows` are the synthetic ones, `rho` is what they will be measured with.

    `released`, if given, is where they must be found.
    """
    queries: list[Query] = []
    weights: list[float] = []
    for part in filter(None, (each.strip() for each in text.split(";"))):
        named, shares = _shares(part)
        made = _part(named, schema, rows, rho, released)
        whole = sum(shares_of(made.queries, made.weights, neighbours))
        queries += made.queries
        weights += [weight * (shares / whole) ** 1.5 for weight in made.weights]
    if not queries:
        raise UserError("measures: none were named; for example: --measures 'correlations: age, income'.")
    first = {key_of_query(query): place for place, query in reversed(list(enumerate(queries)))}
    kept = sorted(first.values())
    middle = math.sqrt(min(weights) * max(weights))  # only their ratios count; a workload's lie around 1
    return Workload(schema, tuple(queries[k] for k in kept), tuple(weights[k] / middle for k in kept))


def check_measures(text: str, schema: Schema) -> None:
    """Refuse a description that names no measures of this schema, while there are no synthetic rows yet."""
    measures_of(text, schema, rows=Rows(schema, tuple(np.zeros(1, np.int64) for _ in schema.columns)))


def key_of_query(query: Query) -> bytes:
    """The same for two queries that ask the same."""
    return b"".join(query.block_keys())


def _shares(part: str) -> tuple[str, float]:
    """A part without its number of shares, and that."""
    found = re.fullmatch(r"(.*\S)\s+\*\s*(\S*)", part)
    if found is None:
        return part, 1.0
    named, number = found.groups()
    try:
        shares = float(number)
    except ValueError:
        shares = 0.0
    if not LEAST_SHARE <= shares <= 1 / LEAST_SHARE:
        raise UserError(
            f"measures: found {part!r}; after '*' comes how many shares of the budget it gets, such as 'columns * 3'."
        )
    return named, shares


def _part(part: str, schema: Schema, rows: Rows, rho: float, released: Released | None) -> Workload:
    if part.endswith(".toml"):
        return Workload.load(Path(part), schema, reference=rows)
    kind, _, rest = part.partition(":")
    names = [name.strip() for name in rest.split(",") if name.strip()]
    match kind.strip():
        case "correlations":
            queries = _moments(names, schema, rows, rho) if released is None else _moments_released(names, released)
        case "marginals" if names:
            queries = [Marginal.of(schema, *names)]
        case "columns":
            return _columns(names, schema, released)
        case "means" if " by " in rest:
            queries = _means(rest, schema)
        case _:
            raise UserError(f"measures: found {part!r}; {ALLOWED}.")
    return Workload(schema, tuple(queries), (1.0,) * len(queries))


def _columns(names: Sequence[str], schema: Schema, released: Released | None) -> Workload:
    """Columns on their own, on as many levels as their lengths ask for; or as they were measured."""
    wanted = [schema.column(name) for name in names] or list(schema.columns)
    if released is None:
        trees = [levels(column) for column in wanted]
        shares = [share for column in wanted for share in level_shares(column)]
        queries = [query for tree in trees for query in tree]
        return Workload(schema, tuple(queries), tuple(s**1.5 / q.size for s, q in zip(shares, queries, strict=True)))
    measured = [m.query for m in (*released.measurements, *released.adjustments)]
    tables = [query for query in measured if isinstance(query, Marginal) and len(query.axes) == 1]
    tables = [query for query in tables if not _only_counts(query, schema)]
    found = [query for query in tables if query.columns[0] in {column.name for column in wanted}]
    lacking = next((column.name for column in wanted if all(column.name != q.columns[0] for q in found)), None)
    if lacking is not None:
        raise UserError(f"adjust: column {lacking!r} is not among the released measurements; measure it with --real.")
    return Workload(schema, tuple(found), (1.0,) * len(found))


def _only_counts(query: Marginal, schema: Schema) -> bool:
    """Whether a table of one column tells no more than how many rows there are, and how many of them are missing."""
    column = schema.column(query.columns[0])
    return query.axes[0] == Axis.cut(column, [0]) and query.size < column.size


def _means(rest: str, schema: Schema) -> list[Query]:
    names, _, by = rest.rpartition(" by ")
    group = by.strip()
    sums: list[Query] = [GroupSums.of(schema, name.strip(), by=group) for name in names.split(",")]
    return [Marginal.of(schema, group), *sums]


def _moments(names: Sequence[str], schema: Schema, rows: Rows, rho: float) -> list[Query]:
    chosen = names or most_correlated(rows, schema)
    plain = Moments.of(schema, *chosen)
    square = float(plain.sensitivity_squared("add-remove") / plain.scale**2)
    outside = NOISES * math.sqrt(square / (2 * rho)) / len(rows)
    outside = min(max(outside, LEAST_OUTSIDE), MOST_OUTSIDE)
    return [Moments.of(schema, *chosen, within=[shown(rows, schema.column(name), outside) for name in chosen])]


def _moments_released(names: Sequence[str], released: Released) -> list[Query]:
    """The moments that were measured: of these columns, or all; within whatever range they were measured."""
    measured = [m.query for m in (*released.measurements, *released.adjustments) if isinstance(m.query, Moments)]
    found: list[Query] = [query for query in measured if not names or set(query.columns) == set(names)]
    if not found:
        what = f"the correlations of {', '.join(names)} are" if names else "correlations are"
        raise UserError(f"adjust: {what} not among the released measurements; measure them with --real.")
    return found


def shown(rows: Rows, column: Column, outside: float) -> tuple[int, int] | None:
    """The range of a column's codes in the synthetic rows, without this share of them on each side.

    None where it is all of the bounds, or one value.
    """
    last = column.size - column.nullable - 1
    codes = rows.column(column.name).astype(np.int64)
    present = np.sort(codes[codes <= last])
    if not len(present):
        return None
    out = int(outside * len(present))
    low, high = int(present[out]), int(present[-1 - out])
    if low == high:
        low, high = int(present[0]), int(present[-1])
    return None if low == high or (low, high) == (0, last) else (low, high)


def most_correlated(rows: Rows, schema: Schema) -> list[str]:
    """The target and the columns most correlated with it in the synthetic rows, five in total (the paper's rule)."""
    if not schema.targets:
        raise UserError(
            "measures: correlations of which columns? Name them ('correlations: A, B'), or declare 'targets' in the schema."
        )
    names = [column.name for column in schema.columns if column.size - column.nullable > 1]
    if schema.targets[0] not in names:
        raise UserError(f"measures: the target {schema.targets[0]!r} has one value only; name columns instead.")
    correlation = np.abs(_with_target(rows, names, names.index(schema.targets[0])))
    order = np.argsort(-correlation, kind="stable")
    return [names[place] for place in sorted(order[:CHOSEN])]


def _with_target(rows: Rows, names: Sequence[str], target: int) -> Float[np.ndarray, " columns"]:
    """Every column's correlation with the target; 0 where one of them does not vary, the target's own is 1."""
    values = Moments(tuple(names)).values(rows).T.astype(float)
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    weights = weights / weights.sum()
    centred = values - weights @ values
    spread = np.sqrt(weights @ centred**2)
    covariance = (weights * centred[:, target]) @ centred
    scale = spread * spread[target]
    correlation = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    correlation[target] = 1.0
    return correlation
