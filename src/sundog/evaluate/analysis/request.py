"""What an analyst asks for, as a short text. It is parsed, never run.

    income ~ age + sex + age:sex        linear regression where the outcome is a number, logistic where it has two labels
    marital = Divorced ~ age + sex      logistic regression of one label against all others
    t(age by sex)                       the difference of the mean of a number between two labels (Welch)
    cor(age, hours)                     a correlation (Pearson), its interval by Fisher's z
    survival(days, died)                the Kaplan-Meier curve at the quartiles of the real times; also "by treatment"

Names with spaces or signs stand in quotes. Every text ends in an Analysis or in an error that says what is allowed.
"""

import re
from dataclasses import dataclass
from typing import Literal

from sundog.domain import Categorical, Column, Numeric, Schema
from sundog.errors import UserError

Kind = Literal["linear", "logistic", "t", "correlation", "survival"]
FORMS = "'y ~ x + z', 'y = label ~ x', 't(number by group)', 'cor(a, b)' or 'survival(time, event [by group])'"
_NAME = r"""(?:'[^']*'|"[^"]*"|`[^`]*`|[^\s~+*:=(),'"`]+)"""
_CALL = re.compile(rf"\s*(t|cor|survival)\s*\(\s*({_NAME})\s*(?:(,|by)\s*({_NAME})\s*)?(?:by\s+({_NAME})\s*)?\)\s*$")
_LEFT = re.compile(rf"\s*({_NAME})\s*(?:=\s*({_NAME})\s*)?$")
_TERM = re.compile(rf"\s*({_NAME})\s*(?::\s*({_NAME})\s*)?$")


@dataclass(frozen=True)
class Analysis:
    """One analysis: its kind, the outcome (with the label that counts as yes), and the terms that explain it."""

    text: str
    kind: Kind
    outcome: str
    terms: tuple[tuple[str, ...], ...] = ()
    label: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns it uses."""
        return tuple(dict.fromkeys([self.outcome, *(name for term in self.terms for name in term)]))


def parse_analysis(text: str, schema: Schema) -> Analysis:
    """The analysis that a text asks for, checked against the schema.

    >>> schema = Schema.from_json({"fields": [{"name": "smoker", "type": "boolean"}, {"name": "sex", "categories": ["f", "m"]}]})
    >>> parse_analysis("smoker ~ sex", schema).kind
    'logistic'
    """
    call = _CALL.match(text)
    made = _called(text, call, schema) if call else _regression(text, schema)
    return made


def _called(text: str, call: "re.Match[str]", schema: Schema) -> Analysis:
    name, first, joined, second, group = call.groups()
    one = _column(text, first, schema)
    if name == "cor" and joined == "," and second and group is None:
        other = _number(text, _column(text, second, schema))
        return Analysis(text.strip(), "correlation", _number(text, one).name, ((other.name,),))
    if name == "t" and joined == "by" and second and group is None:
        return Analysis(text.strip(), "t", _number(text, one).name, ((_labels(text, second, schema).name,),))
    if name == "survival" and joined == "," and second:
        event = _labels(text, second, schema)
        groups = ((_labels(text, group, schema).name,),) if group else ()
        return Analysis(text.strip(), "survival", _number(text, one).name, ((event.name,), *groups))
    raise UserError(f"analysis {text.strip()!r}: it is not complete; allowed are {FORMS}.")


def _regression(text: str, schema: Schema) -> Analysis:
    left, tilde, right = text.partition("~")
    said = _LEFT.match(left)
    terms = [_TERM.match(part) for part in right.split("+")]
    if not tilde or said is None or any(term is None for term in terms):
        raise UserError(f"analysis {text.strip()!r}: it cannot be read; allowed are {FORMS}.")
    outcome = _column(text, said[1], schema)
    named = tuple(tuple(_column(text, part, schema).name for part in term.groups() if part) for term in terms if term)
    if any(outcome.name in term or len(set(term)) < len(term) for term in named) or len(set(named)) < len(named):
        raise UserError(f"analysis {text.strip()!r}: a column explains itself or is named twice; name each once.")
    if isinstance(outcome, Numeric):
        if said[2] is not None:
            raise UserError(f"analysis {text.strip()!r}: {outcome.name!r} is a number; leave '= label' out.")
        return Analysis(text.strip(), "linear", outcome.name, named)
    return Analysis(text.strip(), "logistic", outcome.name, named, label=_yes(text, outcome, said[2]))


def _yes(text: str, outcome: Categorical, said: str | None) -> str:
    """The label that counts as yes: as named, or the second of two."""
    labels = [str(label) for label in outcome.labels]
    wanted = _bare(said) if said is not None else labels[-1] if len(labels) == 2 else None
    if wanted is None:
        raise UserError(
            f"analysis {text.strip()!r}: {outcome.name!r} has {len(labels)} labels; name the one that counts as yes, "
            f"such as {outcome.name} = {labels[0]} ~ ..."
        )
    if wanted not in labels:
        raise UserError(f"analysis {text.strip()!r}: {wanted!r} is not a label of {outcome.name!r}.")
    return wanted


def _column(text: str, said: str, schema: Schema) -> Column:
    name = _bare(said)
    if name not in schema.names:
        shown = ", ".join(repr(known) for known in schema.names[:12])
        raise UserError(f"analysis {text.strip()!r}: {name!r} is not a column; columns are {shown}.")
    return schema.column(name)


def _number(text: str, column: Column) -> Numeric:
    if not isinstance(column, Numeric):
        raise UserError(f"analysis {text.strip()!r}: {column.name!r} has labels; a number or date is needed there.")
    return column


def _labels(text: str, said: str, schema: Schema) -> Categorical:
    column = _column(text, said, schema)
    if isinstance(column, Numeric) or len(column.labels) < 2:
        raise UserError(f"analysis {text.strip()!r}: {column.name!r} must be a column with two or more labels.")
    return column


def _bare(said: str) -> str:
    return said[1:-1] if said[0] in "'\"`" and said[-1] == said[0] and len(said) > 1 else said
