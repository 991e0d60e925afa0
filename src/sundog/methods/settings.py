"""The settings of a method: all that its parts declare (declare.py), by one name each.

The generator's own have plain names (rows, descent.rate); those of the other parts begin with the part: rule.rounds (T),
rule.per_round (K), bins.most, first.share, workload.directions. What a part does not declare cannot be set.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sundog.declare import Setting, changed, settings_of
from sundog.errors import UserError
from sundog.methods.recipe import Recipe
from sundog.methods.workloads import nothing

MEASURING = ("rule", "bins", "first", "workload")
"""The parts whose settings say what is measured; all others are the generator's."""


def method_settings(recipe: Recipe) -> dict[str, Setting]:
    """Every setting of a method, with its default, in the order in which the parts work."""
    found = settings_of(recipe.generator)
    for part in MEASURING:
        if part != "first" or recipe.workload is not nothing:  # first takes all where nothing follows
            found |= settings_of(getattr(recipe, part), prefix=f"{part}.")
    return found


def with_settings(recipe: Recipe, given: Mapping[str, Any]) -> Recipe:
    """The recipe with these settings changed; refuses, before anything is spent, what is unknown or not allowed."""
    known = method_settings(recipe)
    values = {name: _setting(recipe, known, name).read(value) for name, value in given.items()}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        part, _, rest = name.partition(".")
        part, rest = (part, rest) if part in MEASURING else ("generator", name)
        parts.setdefault(part, {})[rest] = value
    made: dict[str, Any] = {part: changed(getattr(recipe, part), inner) for part, inner in parts.items()}
    return replace(recipe, **made, settings=tuple(values.items()))


def check_generator_settings(given: Mapping[str, Any]) -> None:
    """Refuse settings of measuring where measuring is over: they would change nothing."""
    for name in given:
        if name.partition(".")[0] in MEASURING:
            raise UserError(
                f"setting {name!r}: it says what is measured, and these measurements are made; leave it out, or give it to "
                "sundog measure or synthesize."
            )


def without_removed(recipe: Recipe, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a stored model, less those of measuring that this version no longer has: measuring is over."""
    known = method_settings(recipe)
    return {name: value for name, value in stored.items() if name in known or name.partition(".")[0] not in MEASURING}


def _setting(recipe: Recipe, known: Mapping[str, Setting], name: str) -> Setting:
    if name in known:
        return known[name]
    group = [each for each in known if each.startswith(f"{name}.")]
    if group:
        raise UserError(f"setting {name!r}: it is a group; set {', '.join(group)}, each by its name.")
    raise UserError(f"method {recipe.name!r} has no setting {name!r}; it has {', '.join(known) or 'none'}.")
