"""Conditions on rows, as people write them: `age >= 65 and sex = female`. No code is run.

Every text ends in a Condition or in an error that names the place.

    condition   = both { "or" both }
    both        = single { "and" single }
    single      = "not" single | "(" condition ")" | comparison
    comparison  = COLUMN ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) VALUE
                | COLUMN [ "not" ] "in" "(" VALUE { "," VALUE } ")"
                | COLUMN "is" [ "not" ] "missing"

Names and values with spaces or signs stand in quotes, 'so' or "so"; a quote inside is written twice. Words of the language may be
in capitals. Dates are written 2024-12-31. Order comparisons need numbers, dates or ordered labels.

As in SQL, a missing value satisfies no comparison, nor its negation; `is missing` asks for it. So "not" can be carried down
to the comparisons when the text is read, and what is left are unions and intersections of half-open runs of codes.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from jaxtyping import Bool, Int

from sundog.domain.columns import Categorical, Column, Numeric
from sundog.domain.rows import Rows
from sundog.domain.schema import Schema
from sundog.domain.values import code_of, grid_point
from sundog.errors import UserError

LONGEST = 10_000
"""This many characters a condition may have."""
DEEPEST = 50
"""The most parentheses and negations that may be nested."""

Runs = tuple[tuple[int, int], ...]
"""Half-open runs of codes, in order, none touching the next."""
Codes = Callable[[str], Int[np.ndarray, " rows"]]

_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<sign><=|>=|!=|<>|==|[=<>(),])|(?P<word>[^\s'"=<>!(),]+))"""
)
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_WORDS = ("and", "or", "not", "in", "is")


@dataclass(frozen=True)
class Inside:
    """Rows whose code of a column lies in one of some runs."""

    column: str
    runs: Runs


@dataclass(frozen=True)
class All:
    """Rows that satisfy every part."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True)
class Some:
    """Rows that satisfy at least one part."""

    parts: tuple["Condition", ...]


Condition = Inside | All | Some


def columns_of(condition: Condition) -> tuple[str, ...]:
    """The columns that it speaks of, in order of appearance."""
    return tuple(dict.fromkeys(inside.column for inside in _comparisons(condition)))


def borders(condition: Condition, column: str) -> tuple[int, ...]:
    """The codes of a column at which the condition may change."""
    found = {code for each in _comparisons(condition) if each.column == column for run in each.runs for code in run}
    return tuple(sorted(found))


def holds(condition: Condition, codes: Codes) -> Bool[np.ndarray, "..."]:
    """Where it holds, given the codes of every column it speaks of (arrays that can be combined with each other)."""

    def single(inside: Inside) -> Bool[np.ndarray, "..."]:
        own = codes(inside.column)
        found = np.zeros(np.shape(own), dtype=bool)
        for low, high in inside.runs:
            found |= (own >= low) & (own < high)
        return found

    return combined(condition, single)


def combined(condition: Condition, single: Callable[[Inside], Bool[np.ndarray, "..."]]) -> Bool[np.ndarray, "..."]:
    """What `single` says of every comparison, put together as the condition says."""
    if isinstance(condition, Inside):
        return single(condition)
    parts = [combined(part, single) for part in condition.parts]
    made = parts[0]
    for part in parts[1:]:
        made = made & part if isinstance(condition, All) else made | part
    return made


def satisfied(condition: Condition, rows: Rows) -> Bool[np.ndarray, " rows"]:
    """Which rows satisfy it."""
    return holds(condition, rows.column)


def parse_condition(text: str, schema: Schema) -> Condition:
    """The condition that a text describes, for tables of a schema.

    >>> schema = Schema.from_json({"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}}]})
    >>> parse_condition("not age < 65", schema)
    Inside(column='age', runs=((65, 100),))
    """
    if len(text) > LONGEST:
        raise UserError(f"condition: it has {len(text)} characters; at most {LONGEST} are read.")
    reader = _Reader(text, schema)
    made = reader.condition(negated=False, depth=0)
    reader.end()
    return made


@dataclass(frozen=True)
class _Token:
    text: str
    place: int
    kind: str

    @property
    def word(self) -> str:
        """The word of the language that it may be; quoted text is none."""
        return self.text.lower() if self.kind != "quoted" else ""


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, schema: Schema) -> None:
        self.text, self.schema = text, schema
        self.tokens = list(_tokens(text))
        self.next = 0

    def condition(self, *, negated: bool, depth: int) -> Condition:
        """Parts joined by "or"."""
        parts = [self._both(negated=negated, depth=depth)]
        while self._take("or"):
            parts.append(self._both(negated=negated, depth=depth))
        return parts[0] if len(parts) == 1 else (All if negated else Some)(tuple(parts))

    def end(self) -> None:
        """Refuse what follows the condition."""
        if self.next < len(self.tokens):
            self._refuse("here only 'and', 'or' or the end may follow")

    def _both(self, *, negated: bool, depth: int) -> Condition:
        parts = [self._single(negated=negated, depth=depth)]
        while self._take("and"):
            parts.append(self._single(negated=negated, depth=depth))
        return parts[0] if len(parts) == 1 else (Some if negated else All)(tuple(parts))

    def _single(self, *, negated: bool, depth: int) -> Condition:
        if depth > DEEPEST:
            self._refuse(f"more than {DEEPEST} parentheses and negations are nested")
        if self._take("not"):
            return self._single(negated=not negated, depth=depth + 1)
        if self._take("("):
            made = self.condition(negated=negated, depth=depth + 1)
            self._need(")")
            return made
        return self._comparison(negated=negated)

    def _comparison(self, *, negated: bool) -> Condition:
        column = self._column()
        if self._take("is"):
            return Inside(column.name, self._missing(column, negated=self._take("not") != negated))
        if self._take("not"):
            negated = not negated
            self._need("in")
            return Inside(column.name, self._listed(column, negated=negated))
        if self._take("in"):
            return Inside(column.name, self._listed(column, negated=negated))
        operator = self._operator()
        said = self._said()
        value = self._value()
        runs = compared(column, _OPPOSITE[operator] if negated else operator, value, said=said)
        return Inside(column.name, runs)

    def _column(self) -> Column:
        token = self._peek()
        if token is None or token.kind == "sign" or token.word in _WORDS:
            self._refuse("a column's name is expected")
        if token.text not in self.schema.names:
            known = ", ".join(repr(name) for name in self.schema.names[:12])
            more = f" and {len(self.schema.names) - 12} more" if len(self.schema.names) > 12 else ""
            self._refuse(f"it is not a column; columns are {known}{more}")
        self.next += 1
        return self.schema.column(token.text)

    def _missing(self, column: Column, *, negated: bool) -> Runs:
        if not (self._take("missing") or self._take("null")):
            self._refuse("'missing' is expected")
        present: Runs = ((0, column.size - column.nullable),)
        if negated:
            return present
        return ((column.missing, column.size),) if column.missing is not None else ()

    def _listed(self, column: Column, *, negated: bool) -> Runs:
        self._need("(")
        codes: set[int] = set()
        while True:
            said = self._said()
            codes |= {low for low, _ in compared(column, "=", self._value(), said=said)}
            if not self._take(","):
                break
        self._need(")")
        return _others(_runs(codes), column.size - column.nullable) if negated else _runs(codes)

    def _operator(self) -> str:
        token = self._peek()
        known = {"==": "=", "<>": "!="} | {sign: sign for sign in _OPPOSITE}
        if token is None or token.kind != "sign" or token.text not in known:
            self._refuse("one of =, !=, <, <=, >, >=, 'in' or 'is' is expected")
        self.next += 1
        return known[token.text]

    def _value(self) -> str:
        token = self._peek()
        if token is None or token.kind == "sign":
            self._refuse("a value is expected; values with signs or spaces stand in quotes")
        self.next += 1
        return token.text

    def _peek(self) -> _Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def _take(self, word: str) -> bool:
        token = self._peek()
        if token is None or token.word != word:
            return False
        self.next += 1
        return True

    def _need(self, word: str) -> None:
        if not self._take(word):
            self._refuse(f"{word!r} is expected")

    def _said(self) -> str:
        token = self._peek()
        return f"condition, at character {len(self.text) + 1 if token is None else token.place}"

    def _refuse(self, problem: str) -> NoReturn:
        token = self._peek()
        found = "the end" if token is None else repr(token.text)
        raise UserError(f"{self._said()}: found {found}; {problem}.")


def compared(column: Column, operator: str, value: str, *, said: str) -> Runs:
    """The codes whose value compares like this with a value; never the missing one."""
    present = column.size - column.nullable
    if isinstance(column, Categorical) or operator in ("=", "!="):
        return _equal_or_ordered(column, operator, value, said=said)
    exact = grid_point(column, value, said=said)
    below, upto = math.ceil(exact), math.floor(exact) + 1
    low, high = {"<": (0, below), "<=": (0, upto), ">": (upto, present), ">=": (below, present)}[operator]
    low, high = max(low, 0), min(high, present)
    return ((low, high),) if low < high else ()


def _equal_or_ordered(column: Column, operator: str, value: str, *, said: str) -> Runs:
    present = column.size - column.nullable
    if isinstance(column, Numeric) and (
        (exact := grid_point(column, value, said=said)).denominator != 1 or not 0 <= exact < present
    ):
        return ((0, present),) if operator == "!=" else ()
    if isinstance(column, Categorical) and not column.ordered and operator not in ("=", "!="):
        raise UserError(
            f"{said}: the labels of {column.name!r} have no order; use =, != or in, or declare categoriesOrdered."
        )
    code = code_of(column, value, said=said)
    ranges = {
        "=": ((code, code + 1),),
        "!=": ((0, code), (code + 1, present)),
        "<": ((0, code),),
        "<=": ((0, code + 1),),
        ">": ((code + 1, present),),
        ">=": ((code, present),),
    }
    return tuple((low, high) for low, high in ranges[operator] if low < high)


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None:
            start = len(text) - len(text[place:].lstrip())
            problem = "this quote is not closed" if text[start] in "'\"" else "this sign has no meaning here"
            raise UserError(f"condition, at character {start + 1}: found {text[start]!r}; {problem}.")
        kind = str(found.lastgroup)
        said = found[kind]
        if kind == "quoted":
            said = said[1:-1].replace(said[0] * 2, said[0])
        yield _Token(said, found.start(kind) + 1, kind)
        place = found.end()


def _comparisons(condition: Condition) -> Iterator[Inside]:
    if isinstance(condition, Inside):
        yield condition
    else:
        for part in condition.parts:
            yield from _comparisons(part)


def _others(runs: Runs, present: int) -> Runs:
    """What is left of the codes below `present`."""
    ends = [0, *(code for run in runs for code in run), present]
    return tuple((low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if low < high)


def _runs(codes: set[int]) -> Runs:
    """Codes as half-open runs."""
    runs: list[list[int]] = []
    for code in sorted(codes):
        if runs and runs[-1][1] == code:
            runs[-1][1] = code + 1
        else:
            runs.append([code, code + 1])
    return tuple((low, high) for low, high in runs)
