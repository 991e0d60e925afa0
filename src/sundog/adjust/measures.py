"""The measures a user cares about, in words: what to match, as queries.

    correlations: age, income, hours      first and second moments of these columns
    correlations                          of the five columns most correlated with the target IN THE SYNTHETIC rows
    means: income by sex                  sums and counts of a column in every group of another
    marginals: age, sex                   the table of these columns
    FILE.toml                             any workload file

Several are joined with ";".
"""

from pathlib import Path

import numpy as np

from sundog.errors import UserError
from sundog.queries import GroupSums, Marginal, Moments, Query
from sundog.rows import Rows
from sundog.schema import Schema
from sundog.workload import Workload

CHOSEN = 5


def measures_of(text: str, schema: Schema, *, rows: Rows) -> tuple[Query, ...]:
    """The queries of a description; `rows` are the synthetic ones."""
    queries = [query for part in text.split(";") if part.strip() for query in _part(part.strip(), schema, rows)]
    if not queries:
        raise UserError("measures: none were named; for example: --measures 'correlations: age, income'.")
    return tuple(dict.fromkeys(queries))


def _part(part: str, schema: Schema, rows: Rows) -> list[Query]:
    if part.endswith(".toml"):
        return list(Workload.load(Path(part), schema, reference=rows).queries)
    kind, _, rest = part.partition(":")
    names = [name.strip() for name in rest.split(",") if name.strip()]
    match kind.strip():
        case "correlations":
            return [Moments.of(schema, *(names or most_correlated(rows, schema)))]
        case "marginals" if names:
            return [Marginal.of(schema, *names)]
        case "means" if " by " in rest:
            return _means(rest, schema)
    raise UserError(
        f"measures: found {part!r}; allowed are 'correlations: A, B', 'means: A by B', 'marginals: A, B' and a .toml file."
    )


def _means(rest: str, schema: Schema) -> list[Query]:
    names, _, by = rest.rpartition(" by ")
    group = by.strip()
    sums: list[Query] = [GroupSums.of(schema, name.strip(), by=group) for name in names.split(",")]
    return [Marginal.of(schema, group), *sums]


def most_correlated(rows: Rows, schema: Schema) -> list[str]:
    """The target and the columns most correlated with it in the synthetic rows, five in all (the paper's rule)."""
    if not schema.targets:
        raise UserError("measures: correlations without columns need a target; declare 'targets' in the schema.")
    names = [column.name for column in schema.columns if column.size - column.nullable > 1]
    query = Moments(tuple(names))
    values = query.vectors(rows)[:, : len(names)].astype(float)
    spread = values.std(axis=0)
    target = names.index(schema.targets[0])
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = ((values - values.mean(axis=0)) * (values[:, [target]] - values[:, target].mean())).mean(axis=0)
        correlation = np.abs(covariance / (spread * spread[target]))
    order = np.argsort(-np.nan_to_num(correlation), kind="stable")
    return [names[place] for place in sorted(order[:CHOSEN])]
