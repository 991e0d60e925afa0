"""Templates of ours with their values; everything that is not our own markup is escaped."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment

STYLE = "style.css"


def render(template: str, *, styles: tuple[str, ...] = (STYLE,), **values: Any) -> str:
    """A page from its template, its style sheets inside it."""
    style = "".join(text_of(name) for name in styles)
    return environment().get_template(template).render(style=Markup(style), **values)  # noqa: S704


@cache
def environment(*, strict: bool = True) -> "Environment":
    """Compiles each template once per process; `strict` refuses names that have no value."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined, Undefined

    return Environment(
        loader=FunctionLoader(text_of),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined if strict else Undefined,
    )


def text_of(name: str) -> str:
    """The text of a file among the templates."""
    return files("sundog.report").joinpath("templates", name).read_text(encoding="utf-8")
