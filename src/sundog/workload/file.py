"""Workload files (TOML): a list of [[queries]], each with a `kind`, its options, and an optional `weight`."""

import inspect
import tomllib
from collections.abc import Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from sundog.errors import UserError
from sundog.rows import Rows
from sundog.schema import Schema
from sundog.workload.model import KINDS, Workload


def load_workload(path: str | Path, schema: Schema, *, reference: Rows | None = None) -> Workload:
    """The workload that a file describes."""
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"workload file {str(path)!r} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"workload file {str(path)!r} is not TOML: {error}.") from None
    entries = document.get("queries")
    if not isinstance(entries, list) or not entries or set(document) != {"queries"}:
        raise UserError(f"workload file {str(path)!r}: it must be a list of [[queries]] and nothing else.")
    return reduce(add, (_entry(entry, number, schema, reference) for number, entry in enumerate(entries, 1)))


def _entry(entry: Mapping[str, Any], number: int, schema: Schema, reference: Rows | None) -> Workload:
    place = f"workload, [[queries]] number {number}"
    options = dict(entry)
    kind, weight = options.pop("kind", None), options.pop("weight", 1.0)
    if kind not in KINDS:
        raise UserError(f"{place}: kind is {kind!r}; allowed are {', '.join(KINDS)}.")
    if not isinstance(weight, int | float) or not weight > 0:
        raise UserError(f"{place}: weight is {weight!r}; it must be a number above 0.")
    allowed = [name for name in inspect.signature(KINDS[kind]).parameters if name not in ("schema", "reference")]
    for name in options:
        if name not in allowed:
            raise UserError(f"{place}: {kind} has no option {name!r}; its options are {', '.join(allowed)}.")
    if reference is not None and "reference" in inspect.signature(KINDS[kind]).parameters:
        options["reference"] = reference
    try:
        return KINDS[kind](schema, **options).weighted(weight)
    except (TypeError, ValueError):
        raise UserError(f"{place}: an option has the wrong type; see: sundog workload list.") from None
