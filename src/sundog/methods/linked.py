"""Linked tables: every view is measured as `auto` measures a flat table, one after the other, from one budget.

First single columns, then scores of all pairs, then the tables that pay, at the resolution that pays (select/allocate.py).
Pairs that are looked at: in a table's own rows, with the columns of its parent, and between two siblings. A view's share of
the budget grows with its number of new columns, siblings at half: their tables repeat what the rows already tell of each. Means of
children do not count; they are measured where noise would not hide them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from sundog.domain import Schema
from sundog.domain.linked.views import SECOND, LinkedSchema, View, count_name, is_count, is_mean, structural
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.estimate.hierarchy import level_shares, levels
from sundog.generate.linked.linked_search import LinkedSearch, LinkedState
from sundog.methods.differences import measure_differences, share_of_differences
from sundog.methods.loop import Keep, Report, measure_first, rounds
from sundog.methods.plan import ColumnPlan, Expected, PairPlan, expected
from sundog.methods.recipe import First, Recipe
from sundog.methods.recipes import METHODS
from sundog.postprocess.linked import repair
from sundog.private.curator import Curator
from sundog.queries import Marginal, Query
from sundog.queries.sensitivity import gaussian_stddev
from sundog.random.keys import Key
from sundog.released import Measurement, Released, Scores, Selection
from sundog.released.per_view import of_view, same_parents, shared
from sundog.select import Allocate

SIBLINGS = 0.5
"""What siblings count for, in columns of rows."""
FIRST = 0.33
"""The part of a view's budget that goes to single columns."""
COUNTED = 10.0
"""How much more than another column of its size a number of children gets: all that is below a parent rests on it."""
ITSELF = 6.0
"""How much more an error counts in a column of a row with the same one of its sibling: other pairs of siblings follow through it."""


VAGUE = 0.03
"""A mean of children is of no use where the noise in a count of it is beyond this part of the roots."""
MEANS = 0.12
"""The part of what is left after single columns that goes to means of children."""
PER_ROW = 4.0
"""How much more it counts in a column of a row with the number of rows: by it, what was counted per root is told per row."""


@dataclass
class ViewCurator:
    """What the loop asks of a curator, for one view and a part of the budget."""

    curator: Curator
    view: View
    rho: float

    @property
    def schema(self) -> Schema:
        """The schema of the view's columns."""
        return _schema(self.curator).of_view(self.view)

    @property
    def remaining_rho(self) -> float:
        """What is left of the view's part."""
        return min(self.rho, self.curator.remaining_rho)

    def released(self) -> Released:
        """What was released of the view, per root."""
        return of_view(self.curator.released(), self.view)

    def measure(
        self, queries: Sequence[Query], rho: float, *, shares: Sequence[float] | None = None
    ) -> list[Measurement]:
        """Noisy answers on the view."""
        asked = [shared(query, self.view) for query in queries]
        self.rho = max(0.0, self.rho - rho)
        return self.curator.measure(asked, rho, shares=shares)

    def score(self, selection: Selection, rho: float) -> Scores:
        """Noisy scores on the view, in weights."""
        candidates = tuple(shared(query, self.view) for query in selection.candidates)
        estimates = tuple(estimate * each.scale for estimate, each in zip(selection.estimates, candidates, strict=True))
        self.rho = max(0.0, self.rho - rho)
        return self.curator.score(replace(selection, candidates=candidates, estimates=estimates), rho)

    def select(self, selection: Selection, rho: float) -> list[Query]:
        """Refused: views are measured by a rule that makes no private choice."""
        raise UserError("linked tables: nothing is chosen privately.")


def view_budgets(schema: LinkedSchema, rho: float) -> list[tuple[View, float]]:
    """The views in the order in which they are measured, and each one's part of a budget."""
    weights = [_weight(view) for view in schema.views]
    return [(view, rho * weight / sum(weights)) for view, weight in zip(schema.views, weights, strict=True)]


def run_views(key: Key, curator: Curator, *, report: Report, keep: Keep = lambda _: None) -> Released:
    """Spend the curator's budget on all views; `keep` is given what was released after each."""
    for view, rho in view_budgets(_schema(curator), curator.remaining_rho):
        held = ViewCurator(curator, view, rho=rho)
        report(f"measuring {view.name}")
        _run_view(key, held, report=report)
        keep(curator.released())
    return curator.released()


def _run_view(key: Key, curator: ViewCurator, *, report: Report) -> None:
    schema = _schema(curator.curator)
    recipe = view_recipe(curator.view, schema, unused=unknown_means(curator, schema))
    measure_first(curator, recipe, more=bool(recipe.workload(curator.schema)))
    measure_means(curator)
    recipe = view_recipe(curator.view, schema, unused=unknown_means(curator, schema))
    workload = recipe.workload(curator.schema)
    if workload and recipe.bins is not None:
        share = share_of_differences(curator, curator.view)
        later = ViewCurator(curator.curator, curator.view, rho=share * curator.remaining_rho)
        curator.rho -= later.rho
        workload = recipe.bins.rebin(workload, curator.released())
        rounds(key, curator, recipe=recipe, workload=workload, state=None, report=report)
        if later.rho:
            report("measuring differences")
            measure_differences(later, curator.view, bins=recipe.bins)


def expected_of_views(schema: LinkedSchema, *, roots: int, rho: float, unit: PrivacyUnit) -> Expected:
    """What to expect at a budget, of this many roots of which each has rows in every table; names are those of the views."""
    columns: dict[str, ColumnPlan] = {}
    pairs: list[PairPlan] = []
    for view, part in view_budgets(schema, rho):
        recipe = view_recipe(view, schema)
        seconds = {f"{name}{SECOND}": replace(column, name=f"{name}{SECOND}") for name, column in columns.items()}
        known = {name: column for name, column in (columns | seconds).items() if name in schema.of_view(view).names}
        found = expected(schema.of_view(view), rows=roots, rho=part, unit=unit, recipe=recipe, known=known)
        columns |= {column.name: column for column in found.columns if column.name not in columns}
        pairs += found.pairs
    own = tuple(columns[name] for name in columns if not name.endswith(SECOND))
    return Expected(rho, own, tuple(pairs))


def measure_means(curator: ViewCurator) -> None:
    """The means of children that are a view's own, where their part of the budget tells anything."""
    columns = [curator.schema.column(name) for name in curator.view.own if is_mean(name)]
    queries = [query for column in columns for query in levels(column)]
    if not queries:
        return
    rho, released = MEANS * curator.remaining_rho, curator.released()
    if gaussian_stddev(queries[0], rho / len(queries), unit=released.guarantee.unit) <= VAGUE * released.rows:
        curator.measure(queries, rho)


def unknown_means(curator: ViewCurator, schema: LinkedSchema) -> frozenset[str]:
    """The means of children that were not measured: noise would have hidden them."""
    released = curator.curator.released()
    found: set[str] = set()
    for name in filter(is_mean, curator.view.names):
        flat = of_view(released, schema.view(name.split(".#")[0]))
        if not any(m.query.columns == (name,) for m in flat.measurements):
            found.add(name)
    return frozenset(found)


def view_recipe(view: View, schema: LinkedSchema, *, unused: frozenset[str] = frozenset()) -> Recipe:
    """How a view is measured: `auto`'s recipe with the view's columns and pairs, without those that are of no use."""
    names = [name for name in first_names(view, schema) if name not in unused]
    asked = [pair for pair in pairs(view) if not unused.intersection(pair)]

    def first(flat: Schema) -> tuple[Query, ...]:
        return tuple(query for name in names for query in levels(flat.column(name)))

    def shares(flat: Schema) -> list[float]:
        return [
            share * (COUNTED if is_count(name) else 1.0) for name in names for share in level_shares(flat.column(name))
        ]

    def workload(flat: Schema) -> tuple[Query, ...]:
        return tuple(Marginal.of(flat, *pair) for pair in asked)

    weights = tuple(_pair_weight(view, schema, *pair) for pair in asked)
    # the search takes pairs, and below the root it ties no columns
    rule = Allocate(weights=weights, checks_maps=view.root, share_wider=0, share_residuals=0)
    return replace(METHODS["auto"], rule=rule, workload=workload, first=First(first, FIRST, shares))


def _pair_weight(view: View, schema: LinkedSchema, first: str, second: str) -> float:
    """How much an error in a pair counts."""
    above = schema.package.table(view.table).parent
    counted = above is not None and second == count_name(above, view.table)
    return ITSELF if second == f"{first}{SECOND}" else PER_ROW if counted else 1.0


def first_names(view: View, schema: LinkedSchema) -> tuple[str, ...]:
    """The columns that are measured alone: new ones, and the parent's where its own measurement does not tell them."""
    if view.ordered:
        return (*view.own, *(f"{name}{SECOND}" for name in view.own))
    return view.own if view.siblings or same_parents(schema, view) else view.names


def pairs(view: View) -> list[tuple[str, str]]:
    """The pairs of columns that a view is there for."""
    if view.ordered:
        return [(first, f"{second}{SECOND}") for first, second in product(view.own, repeat=2)]
    if view.siblings:  # in both orders, so that one of the two tables says it
        return [(first, f"{second}{SECOND}") for k, first in enumerate(view.own) for second in view.own[k:]]
    own = [pair for pair in combinations(view.own, 2) if not all(structural(name) for name in pair)]
    return own + [pair for pair in product(view.own, view.given) if not structural(pair[0])]


def _weight(view: View) -> float:
    return sum(not is_mean(name) for name in view.own) * (SIBLINGS if view.siblings else 1.0)


def _schema(curator: Curator) -> LinkedSchema:
    if not isinstance(curator.schema, LinkedSchema):
        raise UserError("linked tables: the schema is of one table.")
    return curator.schema


def fit_tables(key: Key, released: Released, *, search: LinkedSearch) -> LinkedState:
    """Tables that have what was released, and satisfy all that is declared of them."""
    return search.fit(key, released, repair=repair)
