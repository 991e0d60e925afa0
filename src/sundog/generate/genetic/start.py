"""Where the genetic search starts: independent columns with their measured margins, filled systematically.

A column's margin is its own one-way measurement, else the margin of the measured tables that hold it, which is free. A
column without either is uniform.
"""

import numpy as np
from jaxtyping import Float

from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.estimate.answers import table_parts
from sundog.generate.independent import Independent
from sundog.queries import Marginal
from sundog.random.draws import evenly
from sundog.random.keys import Key, split, uniforms
from sundog.released import Measurement, Released


def uniform_start(key: Key, schema: Schema, *, rows: int) -> Rows:
    """Every value of a column equally likely."""
    draws = zip(split(key, len(schema.columns)), schema.columns, strict=True)
    return Rows(schema, tuple((uniforms(k, rows) * column.size).astype(np.int64) for k, column in draws))


def public_start(key: Key, public: Rows, *, rows: int) -> Rows:
    """That many of the public rows, each as often as the others."""
    chosen = evenly(key, len(public), rows=rows)
    return Rows(public.schema, tuple(codes[chosen] for codes in public.codes))


def independent_start(key: Key, released: Released, *, rows: int) -> Rows:
    """Independent columns with measured margins."""
    start = released.with_measurements(tuple(margins(released)))
    model, drawn = split(key, 2)
    generator = Independent()
    return generator.sample(
        drawn, generator.fit(model, generator.init(model, released.schema), released=start), rows=rows
    )


def margins(released: Released) -> list[Measurement]:
    """For each column its one-way measurements, or else the pooled margin on the finest of its tables' axes."""
    found: dict[Axis, list[tuple[Float[np.ndarray, " cells"], float]]] = {}
    own = []
    for measurement in released.measurements:
        for table, values in table_parts(measurement):
            if len(table.axes) == 1 and table.axes[0].groups is None:
                own.append(Measurement(table, values, measurement.stddev, ""))
            for k, axis in enumerate(table.axes if len(table.axes) > 1 else ()):
                rest = tuple(m for m in range(len(table.axes)) if m != k)
                variance = table.size / axis.size * measurement.stddev**2
                found.setdefault(axis, []).append((values.reshape(table.shape).sum(axis=rest), variance))
    known = {measurement.query.columns[0] for measurement in own}
    finest = {axis.column: axis for axis in sorted(found, key=lambda axis: axis.size) if axis.groups is None}
    return own + [_pooled(axis, found[axis]) for name, axis in finest.items() if name not in known]


def _pooled(axis: Axis, parts: list[tuple[Float[np.ndarray, " cells"], float]]) -> Measurement:
    """The average of several margins, each by its precision."""
    precision = sum(1 / max(variance, 1e-9) for _, variance in parts)
    values = sum(values / max(variance, 1e-9) for values, variance in parts) / precision
    return Measurement(Marginal((axis,)), np.rint(values).astype(np.int64), precision**-0.5, "")
