"""Templates of ours with their values; everything that is not our own markup is escaped."""

from importlib.resources import files
from typing import Any

from markupsafe import Markup

STYLE = "style.css"


def render(template: str, *, styles: tuple[str, ...] = (STYLE,), **values: Any) -> str:
    """A page from its template, its style sheets inside it."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(text_of),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    style = "".join(text_of(name) for name in styles)
    return environment.get_template(template).render(style=Markup(style), **values)  # noqa: S704


def text_of(name: str) -> str:
    """The text of a file among the templates."""
    return files("sundog.report").joinpath("templates", name).read_text(encoding="utf-8")
