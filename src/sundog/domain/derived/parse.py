"""Expressions: parsed by recursive descent into typed nodes; what is wrong is named with its place. No code is run."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from sundog.domain.derived.functions import FUNCTIONS, call, equal, kind_of_call
from sundog.domain.derived.values import Kind, Values, common, constant, either_missing, objects
from sundog.errors import UserError

LONGEST, DEEPEST = 2_000, 40
DAY = 86_400
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*"|`[^`]*`)|(?P<number>\d+(?:\.\d+)?(?![\w.]))|(?P<sign><=|>=|!=|[-=<>+*/(),])|(?P<word>[^\W\d]\w*))"""
)
_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}
ORDERED = ("number", "date", "moment", "duration")
_WORDS = ("and", "or", "not", "is", "missing", "true", "false")


@dataclass(frozen=True)
class Node:
    """A typed expression: what it needs, and how it is computed from the columns of some rows."""

    kind: Kind
    columns: tuple[str, ...]
    value: Callable[[Mapping[str, Values], int], Values]


def parse_expression(text: str, kinds: Mapping[str, Kind], *, said: str) -> Node:
    """The expression that a text describes, given the kinds of the columns it may use."""
    if len(text) > LONGEST:
        raise UserError(f"{said}: it has {len(text)} characters; at most {LONGEST} are read.")
    reader = _Reader(list(_tokens(text, said)), kinds, said)
    made = reader.expression(0)
    if reader.place < len(reader.tokens):
        reader.refuse("here an operator or the end is expected")
    return made


def _tokens(text: str, said: str) -> Iterator[tuple[str, str, int]]:
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None:
            start = len(text) - len(text[place:].lstrip())
            raise UserError(f"{said}, at character {start + 1}: found {text[start]!r}; it has no meaning here.")
        kind = str(found.lastgroup)
        yield kind, found[kind], found.start(kind) + 1
        place = found.end()


class _Reader:
    def __init__(self, tokens: list[tuple[str, str, int]], kinds: Mapping[str, Kind], said: str) -> None:
        self.tokens, self.kinds, self.said, self.place = tokens, kinds, said, 0

    def expression(self, depth: int) -> Node:
        """Conditions joined by "and" and "or", from left to right; one of them needs parentheses beside the other."""
        made, joined = self._compared(depth), None
        while (word := self._word()) in ("and", "or"):
            if joined is not None and word != joined:
                self.refuse("'and' and 'or' stand side by side; say with parentheses which goes first")
            self.place += 1
            joined = word
            made = self._both(made, self._compared(depth), word)
        return made

    def _both(self, one: Node, other: Node, word: str) -> Node:
        if one.kind != "truth" or other.kind != "truth":
            self.refuse(f"{word!r} joins conditions; found {one.kind} and {other.kind}")
        join = all if word == "and" else any

        def value(rows: Mapping[str, Values], count: int) -> Values:
            a, b = one.value(rows, count), other.value(rows, count)
            of = objects([join((bool(x), bool(y))) for x, y in zip(a.of, b.of, strict=True)])
            return Values("truth", of, either_missing(a, b))

        return Node("truth", one.columns + other.columns, value)

    def _compared(self, depth: int) -> Node:
        made = self._sum(depth)
        if self._word() == "is":
            self.place += 1
            wanted = not self._take_word("not")
            if not self._take_word("missing"):
                self.refuse("'missing' is expected")
            return Node("truth", made.columns, _is_missing(made, wanted))
        sign = self._sign()
        if sign not in ("=", "!=", *_ORDER):
            return made
        self.place += 1
        other = self._sum(depth)
        if made.kind != other.kind or (sign in _ORDER and made.kind not in ORDERED):
            self.refuse(f"{sign!r} compares values of one kind; found {made.kind} and {other.kind}")
        return Node("truth", made.columns + other.columns, _comparison(sign, made, other))

    def _sum(self, depth: int) -> Node:
        made = self._product(depth)
        while (sign := self._sign()) in ("+", "-"):
            self.place += 1
            made = self._added(made, self._product(depth), sign)
        return made

    def _added(self, one: Node, other: Node, sign: str) -> Node:
        kinds = (one.kind, other.kind)
        if kinds == ("number", "number"):
            return Node("number", one.columns + other.columns, _sum_of(one, other, sign))
        if sign == "-" and one.kind == other.kind and one.kind in ("date", "moment"):
            return Node("duration", one.columns + other.columns, _difference(one, other))
        self.refuse(f"{sign!r} takes two numbers, or two dates with '-'; found {one.kind} and {other.kind}")

    def _product(self, depth: int) -> Node:
        made = self._single(depth)
        while (sign := self._sign()) in ("*", "/"):
            self.place += 1
            other = self._single(depth)
            if (made.kind, other.kind) != ("number", "number"):
                self.refuse(f"{sign!r} takes two numbers; found {made.kind} and {other.kind}")
            made = Node("number", made.columns + other.columns, (_times if sign == "*" else _divided)(made, other))
        return made

    def _single(self, depth: int) -> Node:
        if depth > DEEPEST:
            self.refuse(f"more than {DEEPEST} parentheses are nested")
        if self.place >= len(self.tokens):
            self.refuse("a value is expected")
        kind, text, _ = self.tokens[self.place]
        self.place += 1
        if kind == "sign" and text == "(":
            made = self.expression(depth + 1)
            self._need(")")
            return made
        if kind == "sign" and text == "-":
            zero = Node("number", (), lambda rows, count: constant("number", 0, count))
            return self._added(zero, self._single(depth + 1), "-")
        if kind == "number":
            exact = Fraction(text)
            return Node("number", (), lambda _, n: constant("number", exact.numerator, n, exact.denominator))
        if kind == "text":
            plain = text[1:-1].replace("''", "'")
            return Node("text", (), lambda _, n: constant("text", plain, n))
        return self._named(kind, text, depth)

    def _named(self, kind: str, text: str, depth: int) -> Node:
        if kind == "word" and text in ("true", "false"):
            held = text == "true"
            return Node("truth", (), lambda _, n: constant("truth", held, n))
        if kind == "word" and text == "not":
            return self._negated(self._single(depth + 1))
        if kind == "word" and self._sign() == "(":
            return self._called(text, depth)
        name = text[1:-1].replace('""', '"') if kind == "quoted" else text
        if kind == "sign" or name not in self.kinds:
            self.place -= 1
            shown = ", ".join(repr(known) for known in list(self.kinds)[:12])
            self.refuse(f"it is neither a column nor a function; columns are {shown}")
        return Node(self.kinds[name], (name,), lambda rows, _: rows[name])

    def _negated(self, asked: Node) -> Node:
        if asked.kind != "truth":
            self.refuse(f"'not' takes a condition; found {asked.kind}")

        def value(rows: Mapping[str, Values], count: int) -> Values:
            held = asked.value(rows, count)
            return Values("truth", objects([not each for each in held.of]), held.missing)

        return Node("truth", asked.columns, value)

    def _called(self, name: str, depth: int) -> Node:
        if name not in FUNCTIONS:
            self.place -= 1
            self.refuse(f"there is no such function; functions are {', '.join(FUNCTIONS)}")
        self.place += 1
        arguments: list[Node] = []
        while self._sign() != ")" or arguments:
            arguments.append(self.expression(depth + 1))
            if self._sign() != ",":
                break
            self.place += 1
        self._need(")")
        kind = kind_of_call(name, [each.kind for each in arguments], said=self.said)
        columns = tuple(column for each in arguments for column in each.columns)
        return Node(kind, columns, lambda rows, n: call(name, [each.value(rows, n) for each in arguments]))

    def _sign(self) -> str | None:
        kind, text, _ = self.tokens[self.place] if self.place < len(self.tokens) else ("", "", 0)
        return text if kind == "sign" else None

    def _word(self) -> str | None:
        kind, text, _ = self.tokens[self.place] if self.place < len(self.tokens) else ("", "", 0)
        return text if kind == "word" and text in _WORDS else None

    def _take_word(self, word: str) -> bool:
        taken = self._word() == word
        self.place += taken
        return taken

    def _need(self, sign: str) -> None:
        if self._sign() != sign:
            self.refuse(f"{sign!r} is expected")
        self.place += 1

    def refuse(self, problem: str) -> NoReturn:
        """Say what is wrong at this place."""
        if self.place < len(self.tokens):
            _, found, at = self.tokens[self.place]
            raise UserError(f"{self.said}, at character {at}: found {found!r}; {problem}.")
        raise UserError(f"{self.said}, at the end: {problem}.")


Value = Callable[[Mapping[str, Values], int], Values]


def _is_missing(asked: Node, wanted: bool) -> Value:
    def value(rows: Mapping[str, Values], count: int) -> Values:
        missing = asked.value(rows, count).missing
        return Values("truth", objects((missing == wanted).tolist()), np.zeros(count, dtype=bool))

    return value


def _comparison(sign: str, one: Node, other: Node) -> Value:
    def value(rows: Mapping[str, Values], count: int) -> Values:
        a, b = one.value(rows, count), other.value(rows, count)
        if sign in ("=", "!="):
            same = equal(a, b)
            of = same.of if sign == "=" else objects([not each for each in same.of])
            return Values("truth", of, same.missing)
        x, y, _ = common(a, b)
        held = [_ORDER[sign](p, q) for p, q in zip(x, y, strict=True)]
        return Values("truth", objects(held), either_missing(a, b))

    return value


def _sum_of(one: Node, other: Node, sign: str) -> Value:
    def value(rows: Mapping[str, Values], count: int) -> Values:
        a, b = one.value(rows, count), other.value(rows, count)
        x, y, over = common(a, b)
        return Values("number", x + y if sign == "+" else x - y, either_missing(a, b), over)

    return value


def _difference(one: Node, other: Node) -> Value:
    def value(rows: Mapping[str, Values], count: int) -> Values:
        a, b = one.value(rows, count), other.value(rows, count)
        return Values("duration", (a.of - b.of) * (DAY if a.kind == "date" else 1), either_missing(a, b))

    return value


def _times(one: Node, other: Node) -> Value:
    def value(rows: Mapping[str, Values], count: int) -> Values:
        a, b = one.value(rows, count), other.value(rows, count)
        return Values("number", a.of * b.of, either_missing(a, b), a.over * b.over)

    return value


def _divided(one: Node, other: Node) -> Value:
    """Denominators stay positive, so that fractions can be compared; a division by zero is missing."""

    def value(rows: Mapping[str, Values], count: int) -> Values:
        a, b = one.value(rows, count), other.value(rows, count)
        zero = np.array([each == 0 for each in b.of], dtype=bool)
        sign = objects([-1 if each < 0 else 1 for each in b.of])
        size = np.where(zero, 1, b.of * sign)
        return Values("number", a.of * b.over * sign, either_missing(a, b) | zero, a.over * size)

    return value
