"""sundog methods: what there is to choose from, and what can be set."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.cli import options as o
from sundog.cli.output import say

if TYPE_CHECKING:
    from sundog.declare import Setting
    from sundog.methods.recipe import Recipe

Name = Annotated[str | None, typer.Argument(help="A method, to see its settings; default: all methods, in short.")]


def methods(name: Name = None, *, json: o.AsJson = False) -> None:
    """List the methods: what each is good for, which queries it can use, what it costs; or the settings of one."""
    from sundog.methods.recipes import METHODS, recipe_of

    if name is not None:
        _settings(recipe_of(name), as_json=json)
        return
    lines = [line for recipe in METHODS.values() for line in _lines(recipe)]
    lines.append("RULE/GENERATOR joins how one method chooses with how another generates, e.g. aim/mwem-pgm.")
    lines.append("sundog methods NAME prints the settings of one.")
    say({"methods": [_document(recipe) for recipe in METHODS.values()]}, lines, as_json=json)


def _settings(recipe: "Recipe", *, as_json: bool) -> None:
    from sundog.methods.settings import method_settings

    found = method_settings(recipe)
    lines = [*_lines(recipe), "Settings (--set NAME=VALUE):" if found else "It has no settings."]
    for name, setting in found.items():
        lines += [f"  {name} = {_shown(setting.default)}", f"    {setting.meaning}", f"    {setting.allowed()}"]
    say(_document(recipe) | {"settings": {name: _facts(each) for name, each in found.items()}}, lines, as_json=as_json)


def _lines(recipe: "Recipe") -> list[str]:
    from sundog.select import Settles

    adaptive = "chooses privately what to measure" if recipe.rule.selects else "measures a fixed set"
    if isinstance(recipe.rule, Settles):
        adaptive = (
            "measures a fixed set, or chooses in rounds (rule.rounds; by itself where the workload is very large)"
        )
    public = "; can start from a public table (--public)" if recipe.public else ""
    lines = [recipe.name, f"  {recipe.summary}", f"  {adaptive}; uses {recipe.uses}{public}"]
    return [*lines, f"  cost: {recipe.cost}"] if recipe.cost else lines


def _document(recipe: "Recipe") -> dict[str, Any]:
    facts = {"name": recipe.name, "summary": recipe.summary, "selects": recipe.rule.selects, "uses": recipe.uses}
    return facts | {"public": recipe.public, "cost": recipe.cost}


def _facts(setting: "Setting") -> dict[str, Any]:
    bounds = None if setting.bounds is None else [setting.bounds.least, setting.bounds.most]
    return {
        "default": setting.default,
        "meaning": setting.meaning,
        "allowed": setting.allowed(),
        "choices": list(setting.choices),
        "range": bounds,
        "optional": setting.optional,
    }


def _shown(default: Any) -> str:
    import json

    return json.dumps(default) if not isinstance(default, str) else default
