"""Declared settings: type, range, choices and meaning of every parameter of an algorithm, stated on its dataclass field.

    rows: Annotated[int, "How many soft rows there are.", Range(1, 100_000)] = 1000

A field is a setting if its annotation carries a meaning. One validator reads the declaration, and `sundog methods NAME`
prints it. A field that holds another such dataclass is a group; its settings are named with a dot, as in descent.rate.
"""

import json
import math
import numbers
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sundog.errors import UserError
from sundog.sizes import whole_number

Owner = TypeVar("Owner")
WORDS: dict[Any, str] = {str: "a text", Path: "a path", Mapping: "a mapping from names to values", object: "anything"}
MOST_NUMBERS = 16
"""This many numbers a list may have."""


@dataclass(frozen=True)
class Range:
    """Both ends are allowed."""

    least: float
    most: float


@dataclass(frozen=True)
class Setting:
    """What a user may change: its kind (int, float, bool, choices, a list of int, or classes), bounds and meaning."""

    name: str
    kind: Any
    meaning: str
    bounds: Range | None
    optional: bool
    default: Any = None
    called: str = "setting"

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that are allowed, where it is a text."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def several(self) -> bool:
        """Whether it is a list of whole numbers."""
        return get_origin(self.kind) is tuple

    def allowed(self) -> str:
        """What values may be, in words."""
        if self.choices:
            words = " or ".join(repr(choice) for choice in self.choices)
        elif self.kind is bool:
            words = "true or false"
        elif isinstance(self.kind, tuple):
            words = " or ".join(WORDS.get(kind, f"a {kind.__name__}") for kind in self.kind)
        else:
            words = "a number" if self.kind is float else "a whole number"
            finite = "a finite number" if self.kind is float else words
            words = f"{words} from {_end(self.bounds.least)} to {_end(self.bounds.most)}" if self.bounds else finite
            words = f"1 to {MOST_NUMBERS} of [{words}]" if self.several else words
        return f"{words}, or null" if self.optional else words

    def read(self, value: Any) -> Any:
        """The value as the algorithm takes it; refuses what is not allowed."""
        if value is None and self.optional:
            return None
        if self.several:
            if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_NUMBERS:
                raise self._wrong(value)
            return tuple(self._number(each, int, found=value) for each in value)
        if self.choices or self.kind is bool:
            allowed = self.choices or (True, False)
            if type(value) not in (str, bool) or value not in allowed:
                raise self._wrong(value)
            return value
        if isinstance(self.kind, tuple):
            if not isinstance(value, self.kind):
                raise self._wrong(value)
            return value
        return self._number(value, self.kind, found=value)

    def _number(self, value: Any, kind: type, *, found: Any) -> Any:
        try:
            number = whole_number(self.name, value, least=-(2**63)) if kind is int else _real(value)
        except (UserError, TypeError, OverflowError):
            raise self._wrong(found) from None
        if self.bounds is not None and not self.bounds.least <= number <= self.bounds.most:
            raise self._wrong(found)
        return number

    def _wrong(self, found: Any) -> UserError:
        return UserError(f"{self.called} {self.name!r}: found {repr(found)[:60]}; it must be {self.allowed()}.")


def typed(text: str) -> Any:
    """A value as people type it: a number, a truth value, a list; anything else is a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def settings_of(owner: Any, *, prefix: str = "") -> dict[str, Setting]:
    """The settings of an algorithm by name, groups with a dot, each with the value that it has now as default."""
    found: dict[str, Setting] = {}
    kind: Any = type(owner)
    for name, setting in (_declared(kind) if is_dataclass(owner) else {}).items():
        value = getattr(owner, name)
        if setting is None:
            found |= settings_of(value, prefix=f"{prefix}{name}.")
        else:
            found[prefix + name] = replace(setting, name=prefix + name, default=value)
    return found


def check_declared(owner: Any, *, called: str = "setting") -> None:
    """Refuse a value that is not what its field declares; for `__post_init__`."""
    kind: Any = type(owner)
    for name, setting in _declared(kind).items():
        if setting is not None:
            replace(setting, called=called).read(getattr(owner, name))


def changed(owner: Owner, values: Mapping[str, Any]) -> Owner:
    """The algorithm with these settings (dotted names) changed, all at once; values are as `Setting.read` gave them."""
    own = {name: value for name, value in values.items() if "." not in name}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        group, dot, rest = name.partition(".")
        if dot:
            groups.setdefault(group, {})[rest] = value
    made = {name: changed(getattr(owner, name), inner) for name, inner in groups.items()}
    return replace(owner, **own, **made)  # type: ignore[type-var]


@cache
def _declared(kind: type) -> dict[str, Setting | None]:
    """The settings of a dataclass; None for a group."""
    hints = get_type_hints(kind, include_extras=True)
    made: dict[str, Setting | None] = {}
    for field in fields(kind):
        hint = hints[field.name]
        if get_origin(hint) is Annotated:
            made[field.name] = _setting(field.name, *get_args(hint))
        elif is_dataclass(hint):
            made[field.name] = None
    return made


def _setting(name: str, kind: Any, meaning: str, bounds: Range | None = None) -> Setting:
    union = get_origin(kind) in (Union, types.UnionType)
    kinds = [each for each in get_args(kind) if each is not types.NoneType] if union else [kind]
    only = kinds[0]
    if only not in (int, float, bool) and get_origin(only) not in (Literal, tuple):
        only = tuple(object if each is Any else get_origin(each) or each for each in kinds)
    return Setting(name, only, meaning, bounds, optional=union)


def _end(number: float) -> str:
    """An end of a range: whole numbers in full."""
    return f"{int(number):,}" if number == int(number) and abs(number) < 10**13 else f"{number:g}"


def _real(value: Any) -> float:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError
    return float(value)
