"""The settings of a method."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sundog.errors import UserError
from sundog.methods.recipe import Recipe


def with_settings(recipe: Recipe, settings: Mapping[str, Any]) -> Recipe:
    """The recipe with some of its generator's settings changed."""
    known = [field.name for field in fields(recipe.generator)]  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            raise UserError(f"method {recipe.name!r} has no setting {name!r}; it has {', '.join(known) or 'none'}.")
    try:
        generator = replace(recipe.generator, **settings)  # type: ignore[type-var]
    except TypeError:
        raise UserError(
            f"method {recipe.name!r}: a setting has a value of the wrong kind; see its docs page."
        ) from None
    return replace(recipe, generator=generator, settings=tuple(settings.items()))
