"""sundog methods: what there is to choose from."""

from sundog.cli import options as o
from sundog.cli.output import say


def methods(*, json: o.AsJson = False) -> None:
    """List the methods: what each is good for, which queries it can use, what it costs."""
    from sundog.methods.recipes import METHODS

    lines, documents = [], []
    for name, recipe in METHODS.items():
        adaptive = "chooses privately what to measure" if recipe.rule.selects else "measures a fixed set"
        public = "; can start from a public table (--public)" if recipe.public else ""
        lines += [name, f"  {recipe.summary}", f"  {adaptive}; uses {recipe.uses}{public}"]
        lines += [f"  cost: {recipe.cost}"] if recipe.cost else []
        documents.append(
            {
                "name": name,
                "summary": recipe.summary,
                "selects": recipe.rule.selects,
                "uses": recipe.uses,
                "public": recipe.public,
                "cost": recipe.cost,
            }
        )
    lines.append("RULE/GENERATOR joins how one method chooses with how another generates, e.g. aim/mwem-pgm.")
    say({"methods": documents}, lines, as_json=json)
