"""Reference rows: made-up rows that look, column by column, like what was released; thresholds are drawn among them.

A workload draws its thresholds from reference rows (workload.build). Without any, these are uniform between the public
bounds, and many thresholds on skewed columns are then trivial: true of nearly all rows or of nearly none. Rows drawn from
measured one-way marginals cost nothing more (they are post-processing) and put the thresholds among the data.
"""

from sundog.errors import UserError
from sundog.generate import Independent
from sundog.keys import Key, split
from sundog.queries import Marginal
from sundog.released import Released
from sundog.rows import Rows
from sundog.workload.build import REFERENCE


def reference_rows(key: Key, released: Released, *, rows: int = REFERENCE) -> Rows:
    """Rows whose columns follow the released one-way marginals, independently; columns without one are uniform."""
    one_way = [m for m in released.measurements if isinstance(m.query, Marginal) and len(m.query.axes) == 1]
    if not one_way:
        raise UserError("reference rows: no one-way marginal was released; measure some (method 'independent') first.")
    if rows < 1:
        raise UserError(f"reference rows: found rows = {rows}; it must be 1 or more.")
    first, second, third = split(key, 3)
    generator = Independent()
    state = generator.fit(second, generator.init(first, released.schema), released=released)
    return generator.sample(third, state, rows=rows)
