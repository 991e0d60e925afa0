"""The report in sentences: how far the rows follow what was measured, how exact a count is, and what nobody modelled.

Released values and synthetic rows alone. The rows are compared with noisy measurements, never with the real table, so a
sentence says how far they are from the measurement and what noise alone would do.
"""

from collections.abc import Sequence
from statistics import median

from sundog.queries import Marginal
from sundog.released import Released
from sundog.report.charts import percent
from sundog.report.facts import ClassFacts, ColumnFacts, PairFacts

BEYOND, SLACK = 1.5, 0.005
"""Rows are further off than noise explains beyond this many times its mean distance and half a per cent more, and beyond its reach."""
NAMED = 5

Facts = Sequence[ColumnFacts | PairFacts]


def verdict(
    columns: Sequence[ColumnFacts],
    pairs: Sequence[PairFacts],
    classes: Sequence[ClassFacts],
    *,
    unmeasured: int,
) -> tuple[str, ...]:
    """The first sentence says it all; the others give the numbers."""
    known = [each for each in columns if each.disagreement is not None]
    if not known and not pairs:
        return ("Nothing was measured, so these rows say nothing about the real table.",)
    off_columns, off_pairs = _off(known), _off(pairs)
    told = (_lead(off_columns, off_pairs), _apart("columns", known), _apart("measured pairs", pairs))
    return tuple(sentence for sentence in (*told, _guessed(len(pairs), unmeasured), _exact(classes)) if sentence)


def apart(disagreement: float | None, noise: float | None) -> str:
    """How far synthetic and measured counts are apart, beside what noise alone explains."""
    if disagreement is None or noise is None:
        return "not measured"
    return f"{percent(disagreement)} of the rows elsewhere than measured; noise alone: {percent(noise)}"


def _name(facts: ColumnFacts | PairFacts) -> str:
    return facts.column.name if isinstance(facts, ColumnFacts) else " by ".join(facts.columns)


def _off(facts: Facts) -> list[str]:
    """The names of what is further from its measurement than noise explains."""
    return [_name(each) for each in facts if (each.disagreement or 0.0) > _explained(each)]


def _explained(facts: ColumnFacts | PairFacts) -> float:
    return max(BEYOND * (facts.noise or 0.0) + SLACK, facts.reach or 0.0)


def _lead(columns: list[str], pairs: list[str]) -> str:
    if not columns and not pairs:
        return "The synthetic rows follow everything that was measured as closely as its noise allows."
    told = [
        f"{len(names)} {what if len(names) > 1 else what[:-1]} ({_listed(names)})"
        for what, names in (("columns", columns), ("pairs", pairs))
        if names
    ]
    return f"The synthetic rows are further from the measurement than noise explains in {' and '.join(told)}; do not rely on them there."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _apart(what: str, facts: Facts) -> str:
    if not facts:
        return ""
    worst = max(facts, key=lambda each: each.disagreement or 0.0)
    typical, noise = (median(getattr(each, name) or 0.0 for each in facts) for name in ("disagreement", "noise"))
    return (
        f"Of {len(facts)} {what}, a typical one has {percent(typical)} of the rows elsewhere than measured (noise alone: "
        f"{percent(noise)}); the furthest is {_name(worst)} with {percent(worst.disagreement or 0.0)} (noise alone: {percent(worst.noise or 0.0)})."
    )


def _guessed(measured: int, unmeasured: int) -> str:
    if not unmeasured:
        return ""
    if not measured:
        return "No pair of columns was measured: relations between columns in these rows are not taken from the data."
    return (
        f"{unmeasured} pairs of columns were not measured: there the rows are the method's guess, without an error bar."
    )


def _exact(classes: Sequence[ClassFacts]) -> str:
    counted = [each for each in classes if each.share is not None]
    if not counted:
        return ""
    worst = max(counted, key=lambda each: each.error_bar)
    return (
        f"A measured count read from the rows is within ± {worst.error_bar:,.0f} rows ({percent(worst.share or 0.0)} of all) of the exact one in 95 of "
        "100 cases: groups smaller than that cannot be distinguished from none."
    )


def not_modelled(released: Released, columns: Sequence[ColumnFacts], *, unsupported: Sequence[str]) -> list[str]:
    """What the rows cannot show, because nothing of it was measured or asked for."""
    schema = released.schema
    groups = (
        ("Left out, as identifiers", [each.name for each in schema.identifiers if not each.regenerate]),
        ("Renumbered, as identifiers", [each.name for each in schema.identifiers if each.regenerate]),
        ("Computed from other fields", [each.name for each in schema.derived]),
        ("Not measured, a guess of the method", [each.column.name for each in columns if each.measured is None]),
    )
    told = [f"{what}: {', '.join(names)}." for what, names in groups if names]
    wide = [m for m in released.measurements if isinstance(m.query, Marginal) and len(m.query.axes) > 2]
    if len(schema.names) > 2 and not wide:
        told.append("Relations of three and more columns: none was measured; they follow from the pairs.")
    return [*told, *unsupported]
