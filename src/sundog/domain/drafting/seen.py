"""What is known of a column before its field is drafted: counts, some texts, the words in its name. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sundog.domain.readings import ALL, Reading

MISSING = ("na", "n/a", "#n/a", "n.a.", "nan", "null", "-", "--", "---", "?", ".", "k.a.", "k. a.", "keine angabe")
"""Words that mean "missing" wherever they stand."""
UNKNOWN = ("unknown", "unbekannt", "unk", "none", "nil", "missing", "not available", "inconnu")
"""Words that mean "missing" among numbers, dates and truth values; among labels they are labels."""
ID_WORDS = {"id", "key", "uuid", "guid", "ssn", "mrn", "pid", "nbr", "caseno"}
ID_ENDINGS = {"nr", "no", "num", "number", "nummer"}
"""Words that name a key at the end of a name (case number), and a count elsewhere (number of visits)."""
NAME_WORDS = {
    "name",
    "names",
    "surname",
    "firstname",
    "lastname",
    "vorname",
    "nachname",
    "familienname",
    "nom",
    "prenom",
}
CODE_WORDS = {
    "zip",
    "plz",
    "postcode",
    "postal",
    "code",
    "icd",
    "ops",
    "drg",
    "nace",
    "naics",
    "isco",
    "cpt",
    "atc",
    "type",
    "class",
}
CODE = r"[A-Z]{1,3}\d{1,3}(\.[A-Z0-9]{1,4})?|\d+-\d+(\.[a-z0-9]+)?"
MANY_CODES = 5000
"""This many different codes may be listed."""


@dataclass(frozen=True)
class Seen:
    """What is known of a column: its name, counts, some texts, what the engine holds, and what readings reach."""

    name: str
    kind: str
    filled: int
    rows: int
    distinct: int
    shortest: int
    longest: int
    mean_length: float
    sample: tuple[str, ...]
    reaches: Mapping[Reading, Any] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, int] | None = None

    @property
    def hints(self) -> set[str]:
        """The words in the column's name."""
        return set(self._tokens)

    @property
    def called_key(self) -> bool:
        """Whether the name calls it a key."""
        return bool(self.hints & ID_WORDS) or self._tokens[-1] in ID_ENDINGS

    @property
    def _tokens(self) -> list[str]:
        apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", self.name).casefold()
        return re.split(r"[\W_]+", apart)

    def missing_words(self, *, among_labels: bool) -> list[str]:
        """The words in the column that mean "missing"."""
        known = MISSING if among_labels else (*MISSING, *UNKNOWN)
        return sorted(word for word in self.words if word.casefold() in known)

    @property
    def known(self) -> int:
        """How many cells say something."""
        return self.filled - sum(self.words.get(word, 0) for word in self.missing_words(among_labels=False))

    @property
    def about(self) -> str:
        """How many different texts there are, in words."""
        return f"{len(self.labels):,}" if self.labels is not None else f"about {self.distinct:,}"

    def share(self, pattern: str) -> float:
        """How many of the sampled texts a pattern fits."""
        texts = [text for text in self.sample if text.casefold() not in (*MISSING, *UNKNOWN)]
        return sum(re.fullmatch(pattern, text) is not None for text in texts) / max(len(texts), 1)


def candidates(kind: str, sample: Sequence[str]) -> tuple[Reading, ...]:
    """The readings that are worth trying on a whole column: those that read most of the sampled texts."""
    if kind in ("whole", "number"):
        return (Reading("number"),)
    if kind in ("date", "datetime", "time"):
        return (Reading("time"),) if kind == "time" else (Reading("datetime"),)
    texts = [text for text in sample if text.casefold() not in (*MISSING, *UNKNOWN)]
    if kind != "text" or not texts:
        return ()
    few = texts[:: -(-len(texts) // 12)]
    likely = [reading for reading in ALL if sum(map(reading.reads, few)) >= 0.8 * len(few)]
    found = [reading for reading in likely if sum(map(reading.reads, texts)) >= 0.9 * len(texts)]
    return tuple(reading for reading in found if reading.bare or len({reading.signs(text) for text in texts}) <= 2)


def lists_labels(seen: Seen) -> bool:
    """Whether a column has few enough different texts for a list."""
    return seen.kind in ("text", "whole") and seen.distinct <= MANY_CODES
