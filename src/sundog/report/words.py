"""What a guarantee means, in plain words that change with epsilon. Public values only.

(epsilon, delta) bounds the odds of every conclusion: they change by at most a factor e^epsilon, apart from an event of
probability delta. Someone who was 50 % sure becomes at most 1/(1 + e^-epsilon) sure. At epsilon 1 that is 74 %, at 10
already 99.996 %: the same sentence cannot serve for both. Where only rho is stated, epsilon is taken at delta 1e-9 by the
simple bound rho + 2 sqrt(rho ln(1/delta)).
"""

import math
from collections.abc import Sequence

from sundog.domain.linked.views import LinkedSchema
from sundog.domain.origin import Origin, grouped
from sundog.estimate.warnings import warnings_of
from sundog.released import Guarantee, Released
from sundog.released.per_view import by_table

USUAL_DELTA = 1e-9


def level(guarantee: Guarantee) -> float:
    """The epsilon that words are chosen by."""
    if guarantee.epsilon is not None:
        return guarantee.epsilon
    return guarantee.rho + 2 * math.sqrt(guarantee.rho * math.log(1 / USUAL_DELTA))


def promise(guarantee: Guarantee) -> str:
    """What anyone can learn about one unit, at most."""
    epsilon = level(guarantee)
    without = "as they would have learned without this unit's rows"
    if epsilon <= 1:
        return f"Whatever anyone does with the released files, and whatever else they know, they learn almost the same {without}."
    if epsilon <= 3:
        return (
            "Whatever anyone does with the released files, and whatever else they know, they learn little more about one "
            f"unit than {without.removeprefix('as ')}."
        )
    if epsilon <= 10:
        return (
            "Someone who already suspects a fact about one unit may find it confirmed by the released files with high "
            "confidence: this epsilon limits what can be learned about one unit, but not to little."
        )
    return (
        "At this epsilon the guarantee promises almost nothing: it does not rule out that someone becomes practically "
        "certain of a fact about one unit. Do not rely on it to protect people."
    )


def meaning(guarantee: Guarantee) -> str:
    """The number behind the promise."""
    epsilon = level(guarantee)
    odds = f"The odds of any conclusion change by at most a factor of {_factor(epsilon)}"
    if guarantee.epsilon is None:
        return f"{odds} (epsilon {epsilon:.3g}, taken from rho at delta {USUAL_DELTA:g}, since no delta was given)."
    sure = f"someone who was 50 % sure of a fact about one unit becomes at most {_percent(epsilon)} sure"
    rare = f"up to the {'' if (guarantee.delta or 0) > 1e-3 else 'small '}probability delta = {guarantee.delta:g}"
    return f"{odds}, {rare}: {sure}."


def rests_on(released: Released) -> list[str]:
    """What the bound on one unit of linked tables rests on, and how it is known; nothing for one table."""
    schema = released.schema
    if not isinstance(schema, LinkedSchema):
        return []
    package, keys = schema.package, released.guarantee.keys
    grounds = {
        "checked": "are present and unique: checked before measuring.",
        "ensured": "are present and unique: ensured by the database.",
        None: "are taken to be present and unique: not checked by the version that measured.",
    }
    said = [
        f"Keys of {_listed(names)} {ground}"
        for how, ground in grounds.items()
        if (names := [name for name in package.named_by_key if keys.get(name) == how])
    ]
    carried = [
        table.name for table in package.tables if table.unit_key and table.parent not in (None, package.root.name)
    ]
    if carried:
        said.append(f"Rows of {_listed(carried)} carry the key of {package.root.name}, and are joined by it too.")
    return said


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]


def origins(released: Released) -> dict[Origin, list[str]]:
    """All fields by where they come from, as a run looks at them before it spends anything."""
    return grouped(released.schema.origins)


def warning_sentences(released: Released) -> list[str]:
    """All that the owner should know of a release: domains from the rows, and what the released counts suggest."""
    unreviewed = origin_warning(released)
    found = [sentence for each in by_table(released) for sentence in (w.sentence for w in warnings_of(each))]
    return [*([unreviewed] if unreviewed else []), *dict.fromkeys(found)]


def origin_warning(released: Released) -> str:
    """What must be said where domains came from the rows; empty where none did."""
    names = origins(released).get("fromData", [])
    if not names:
        return ""
    return (
        f"The domains (bounds, category lists, 'required', formulas) of {len(names)} columns were read from the rows without noise and "
        f"not reviewed: {', '.join(names)}. The guarantee does not cover what these domains tell about single rows."
    )


def _factor(epsilon: float) -> str:
    return f"{math.exp(epsilon):,.3g}" if epsilon <= 7 else f"e^{epsilon:.4g}"


def _percent(epsilon: float) -> str:
    doubt = 100 / (1 + math.exp(min(epsilon, 700.0)))
    if doubt < 1e-3:
        return "practically 100 %"
    digits = 0 if doubt >= 1 else 3
    return f"{math.ceil((100 - doubt) * 10**digits) / 10**digits:g} %"
