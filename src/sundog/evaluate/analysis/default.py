"""Analyses for whoever names none: every target explained by the other columns, and correlations of numbers."""

from itertools import combinations

from sundog.domain import Categorical, Column, Numeric, Schema
from sundog.evaluate.analysis.request import Analysis

MOST_LABELS = 12
MOST_TERMS = 8
MOST_PAIRS = 6


def default_analyses(schema: Schema) -> tuple[Analysis, ...]:
    """A regression per target (or of the last column), and the correlations of the first numbers."""
    usable = [column for column in schema.columns if _usable(column)]
    targets = [column for column in usable if column.name in schema.targets] or usable[-1:]
    regressions = [made for target in targets if (made := _regression(target, usable)) is not None]
    numbers = [column for column in usable if isinstance(column, Numeric)]
    pairs = list(combinations(numbers, 2))[:MOST_PAIRS]
    correlations = [
        Analysis(f"cor({one.name}, {other.name})", "correlation", one.name, ((other.name,),)) for one, other in pairs
    ]
    return (*regressions, *correlations)


def _usable(column: Column) -> bool:
    return column.steps > 1 if isinstance(column, Numeric) else 2 <= len(column.labels) <= MOST_LABELS


def _regression(target: Column, usable: list[Column]) -> Analysis | None:
    others = [column.name for column in usable if column.name != target.name][:MOST_TERMS]
    if not others:
        return None
    terms, right = tuple((name,) for name in others), " + ".join(others)
    if isinstance(target, Categorical):
        label = str(target.labels[-1])
        return Analysis(f"{target.name} = {label} ~ {right}", "logistic", target.name, terms, label=label)
    return Analysis(f"{target.name} ~ {right}", "linear", target.name, terms)
