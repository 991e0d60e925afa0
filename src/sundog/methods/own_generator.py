"""A generator made in Python in place of a method's own, such as Particles with a penalty: it fits what was released.

A method's name and settings say all about it, so that a saved model can be loaded; a function of a user's cannot be written down.
Such a model is therefore not saved, but its rows are like any others.
"""

from dataclasses import replace
from typing import Any

from sundog.errors import UserError
from sundog.generate import Generator
from sundog.methods.recipe import Recipe
from sundog.methods.recipes import recipe_of
from sundog.methods.settings import with_settings


def with_generator(recipe: Recipe, generator: Generator[Any]) -> Recipe:
    """The recipe with this generator, which has its settings already."""
    if recipe.settings:
        raise UserError(
            "settings: they would change the method's own generator; make them on the generator that is given."
        )
    return replace(recipe, generator=generator)


def check_named(recipe: Recipe) -> None:
    """Refuse to save what a method's name and settings do not say."""
    if with_settings(recipe_of(recipe.name), dict(recipe.settings)).generator != recipe.generator:
        raise UserError(
            "save: this model's generator was made in Python and could not be loaded again; write its rows instead."
        )
