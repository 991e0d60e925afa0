"""The tables of options in docs/reference/command-line.md, made from the commands themselves. Run this file to write them again."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from sundog.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "command-line.md"
HEAD = "| option | meaning | default |\n|---|---|---|\n"
GLOBAL = {"--help", "-h", "--version"}


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command by its full name."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, (*path, name))
    if not hasattr(command, "commands"):
        yield " ".join(path), command


COMMANDS = dict(leaves(typer.main.get_command(app)))


def table(command: Any) -> str:
    """One line per argument and option: names, choices, meaning, default."""
    hints = get_type_hints(command.callback, include_extras=False)
    parts = sorted(command.params, key=lambda part: part.opts[0].startswith("-"))  # arguments first
    return HEAD + "".join(_line(part, hints.get(part.name)) for part in parts if not GLOBAL & {*part.opts})


def _line(part: Any, hint: Any) -> str:
    option = part.opts[0].startswith("-")
    names = ", ".join(f"`{name}`" for name in [*part.opts, *part.secondary_opts]) if option else f"`{_shown(part)}`"
    choices = " or ".join(f"`{choice}`" for choice in get_args(hint) if get_origin(hint) is Literal)
    names += "" if option or part.required else " (optional)"
    default = "required" if part.required and option else _default(part.default)
    return f"| {names}{' ' + choices if choices else ''} | {part.help} | {default} |\n"


def _shown(part: Any) -> str:
    return (part.metavar or part.name).strip("{}[]").upper()


def _default(default: Any) -> str:
    return "" if default is None or default is False or default == [] else f"`{default}`"


def written(text: str) -> str:
    """The page with every command's table as it should be; a table stands at the end of its command's section."""
    for name, command in COMMANDS.items():
        section = re.search(rf"^## sundog {re.escape(name)}\n.*?(?=^## |\Z)", text, flags=re.DOTALL | re.MULTILINE)
        if section is None:
            raise LookupError(f"docs/reference/command-line.md lacks a section on sundog {name}")
        kept = re.sub(r"^\| option \| meaning \| default \|\n(\|.*\n)*", table(command), section[0], flags=re.MULTILINE)
        text = text.replace(section[0], kept)
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
