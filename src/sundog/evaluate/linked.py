"""How like the real ones synthetic linked tables are: children per parent, rows, parent with child, siblings, aggregates.

All figures but the last are total variation between marginals (total_variation.py), averaged over columns or pairs:

- columns, pairs: of a table's own rows, with where sequences below it begin and, in a sequence, the gaps; children per parent: the
  numbers of children;
- parent and child: a column of a row with one of its parent; siblings: a column of a row with one of its sibling;
- aggregates: the mean and the maximum of a child's numbers below one parent, and how often its most common label occurs
  there, each in ten bins that hold a tenth of the real parents;
- F1 of a root label: macro F1 of predicting the root's first label target (else its first label) from such aggregates of its
  children, trained on synthetic and tested on real roots; higher is better.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from sundog.domain import Categorical, Numeric, Schema
from sundog.domain.linked.table import LinkedTable
from sundog.domain.linked.views import SECOND, LinkedSchema, View, has_value, is_count
from sundog.domain.rows import Rows
from sundog.evaluate.base import Comparison
from sundog.evaluate.learning import available, macro_f1
from sundog.evaluate.total_variation import total_variation
from sundog.random.keys import Key, key_of

Codes = Int[np.ndarray, " rows"]
Numbers = Float[np.ndarray, " parents"]
BINS = 10


class Viewed(Protocol):
    """Linked tables whose views can be read: real ones through the door for evaluation, synthetic ones freely."""

    def read_view(self, view: View, schema: LinkedSchema) -> Rows:
        """All rows of a view."""

    def parents_of(self, name: str) -> tuple[Codes, int]:
        """Each row's parent, and how many parents there are."""


@dataclass(frozen=True)
class LinkedScore:
    """One figure of one table; `better` says which way."""

    table: str
    name: str
    value: float
    better: str = "lower"
    parts: Mapping[str, float] = field(default_factory=dict, repr=False)
    """Column by column, or pair by pair."""


def linked_scores(
    schema: LinkedSchema, *, real: Viewed, synthetic: Viewed, key: Key | None = None, learning: bool | None = None
) -> list[LinkedScore]:
    """Every figure of every table; learning by default where scikit-learn is installed."""
    found: list[LinkedScore] = []
    sides = {view.name: (real.read_view(view, schema), synthetic.read_view(view, schema)) for view in schema.views}
    for view in schema.views:
        rows = sides[view.name]
        if all(len(each) for each in rows):
            subject = Comparison(*rows, key=key or key_of(0))
            found += [_averaged(view.table, name, subject, sets) for name, sets in _of_view(subject, view)]
    for table in schema.package.tables[1:]:
        features = [
            _aggregates(table, side, rows) for side, rows in zip((real, synthetic), sides[table.name], strict=True)
        ]
        found += [LinkedScore(table.name, "aggregates", value) for value in _aggregate_gaps(*features)]
    if available() if learning is None else learning:
        found += _root_label(schema, real=real, synthetic=synthetic, sides=sides)
    return found


def _of_view(subject: Comparison, view: View) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    """The figures of a view, and the sets of columns that each is over."""
    place = {name: k for k, name in enumerate(subject.schema.names)}
    own = [place[name] for name in view.own if has_value(name)]
    counts = [place[name] for name in view.own if is_count(name)]
    given = [place[name] for name in view.given if has_value(name)]
    if view.siblings:
        seconds = [place[f"{subject.schema.names[k]}{SECOND}"] for k in own]
        yield "siblings", [(a, b) for a in own for b in seconds]
        return
    yield "columns", [(a,) for a in own]
    if len(own) > 1:
        yield "pairs", [(a, b) for k, a in enumerate(own) for b in own[k + 1 :]]
    if counts:
        yield "children per parent", [(k,) for k in counts]
    if given:
        yield "parent and child", [(a, b) for a in own for b in given]


def _averaged(table: str, name: str, subject: Comparison, sets: Sequence[tuple[int, ...]]) -> LinkedScore:
    names = subject.schema.names
    parts = {" x ".join(names[k] for k in columns): total_variation(subject, columns) for columns in sets}
    return LinkedScore(table, name, float(np.mean(list(parts.values()))), parts=parts)


def _aggregates(table: LinkedTable, side: Viewed, rows: Rows) -> dict[str, Numbers]:
    """Mean, maximum and count by category below each parent that has children."""
    parent, number = side.parents_of(table.name)
    sizes = np.bincount(parent, minlength=number)
    made: dict[str, Numbers] = {"children": sizes.astype(float)}
    for column in table.schema.columns:
        if column.name != table.order:
            codes = rows.column(f"{table.name}.{column.name}")
            made |= {f"{column.name}: {what}": values for what, values in _of_column(column, codes, parent, number)}
    return made


def _of_column(
    column: Categorical | Numeric, codes: Codes, parent: Codes, number: int
) -> Iterator[tuple[str, Numbers]]:
    if isinstance(column, Categorical):
        for code in range(min(column.size, 3)):
            yield (
                f"number of {column.describe(code)}",
                np.bincount(parent[codes == code], minlength=number).astype(float),
            )
        return
    known = codes < column.steps
    sums = np.bincount(parent[known], weights=codes[known], minlength=number)
    counts = np.bincount(parent[known], minlength=number)
    largest = np.full(number, -1.0)
    np.maximum.at(largest, parent[known], codes[known].astype(float))
    yield "mean", np.where(counts > 0, sums / np.maximum(counts, 1), -1.0)
    yield "maximum", largest


def _aggregate_gaps(real: Mapping[str, Numbers], synthetic: Mapping[str, Numbers]) -> Iterator[float]:
    gaps = []
    for name, values in real.items():
        if len(values) and len(synthetic[name]):
            cuts = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
            shares = [_shares(side, cuts) for side in (values, synthetic[name])]
            gaps.append(0.5 * float(np.abs(shares[0] - shares[1]).sum()))
    if gaps:
        yield float(np.mean(gaps))


def _shares(values: Numbers, cuts: Numbers) -> Numbers:
    return np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1) / len(values)


def _root_label(
    schema: LinkedSchema, *, real: Viewed, synthetic: Viewed, sides: Mapping[str, tuple[Rows, Rows]]
) -> list[LinkedScore]:
    """How well a model trained on synthetic roots tells a label of real ones from what lies below them."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    root = schema.package.root
    target = _label(root.schema)
    children = schema.package.children(root.name)
    if target is None or not children:
        return []
    made = []
    for k, side in enumerate((real, synthetic)):
        labels = sides[root.name][k].column(f"{root.name}.{target}")
        parts = [_aggregates(child, side, sides[child.name][k]) for child in children]
        features = np.stack([values for part in parts for values in part.values()], axis=1)
        made.append((features, labels))
    (test, truth), (train, labels) = made
    if len(np.unique(labels)) < 2:
        return []
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(train, labels)
    return [LinkedScore(root.name, f"F1 of {target} from children", macro_f1(truth, model.predict(test)), "higher")]


def _label(schema: Schema) -> str | None:
    labels = [name for name in schema.names if isinstance(schema.column(name), Categorical)]
    return next((name for name in schema.targets if name in labels), labels[0] if labels else None)
