"""Workload files (TOML): a list of [[queries]], each with a `kind`, its options, and an optional `weight`."""

import inspect
import math
import tomllib
from collections.abc import Mapping
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, get_args

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


def _entry(entry: Any, number: int, schema: Schema, reference: Rows | None) -> Workload:
    place = f"workload, [[queries]] number {number}"
    if not isinstance(entry, Mapping):
        raise UserError(f"{place}: found {entry!r}; each must be a table with a kind.")
    options = dict(entry)
    kind, weight = options.pop("kind", None), options.pop("weight", 1.0)
    if kind not in KINDS:
        raise UserError(f"{place}: kind is {kind!r}; allowed are {', '.join(KINDS)}.")
    if not _is_number(weight) or not 0 < weight < math.inf:
        raise UserError(f"{place}: weight is {weight!r}; it must be a number above 0.")
    parameters = inspect.signature(KINDS[kind]).parameters
    allowed = [name for name in parameters if name not in ("schema", "reference")]
    for name, value in options.items():
        if name not in allowed:
            raise UserError(f"{place}: {kind} has no option {name!r}; its options are {', '.join(allowed)}.")
        _check_option(f"{place}: {name}", value, parameters[name].annotation)
    if reference is not None and "reference" in parameters:
        options["reference"] = reference
    try:
        return KINDS[kind](schema, **options).weighted(weight)
    except UserError as error:
        raise UserError(f"{place}: {error}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_option(option: str, value: Any, annotation: Any) -> None:
    """Whether a value is what the builder's own annotation asks for: a whole number, or a list of texts."""
    if int in (annotation, *get_args(annotation)):
        if not _is_number(value) or not isinstance(value, int) or value < 0:
            raise UserError(f"{option} is {value!r}; it must be a whole number, 0 or more.")
    elif not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UserError(f"{option} is {value!r}; it must be a list of texts.")
