"""What to do about cells that were not understood: a likely cause and the key to set, from some of their texts. Pure.

Remedies name keys and formats, and never a text.
"""

from collections.abc import Callable, Sequence

from sundog.domain.columns import Categorical, Column, Numeric
from sundog.domain.drafting.seen import MISSING, UNKNOWN, candidates
from sundog.domain.drafting.truths import BOOLEANS
from sundog.domain.readings import Reading

MOST = 0.8
"""A cause is named if it explains this share of the texts."""
BROKEN = "\ufffd"


def remedy_unread(column: Column, texts: Sequence[str]) -> str:
    """For cells that could not be read, or that are no listed label; of a distance without texts the base is to blame."""
    if isinstance(column, Numeric) and column.distance is not None and not texts:
        return f"field {column.distance.base.name!r}, from which it is counted, cannot be read there: see its findings"
    if _share(texts, lambda text: BROKEN in text) >= MOST / 2:
        return "looks like another encoding: set dialect.encoding (--encoding), such as windows-1252"
    rest = [text for text in texts if text.strip().casefold() not in (*MISSING, *UNKNOWN)]
    if not rest:
        return "looks like words that mean missing: list them in missingValues"
    also = "; some look like words that mean missing: list those in missingValues" if len(rest) < len(texts) else ""
    if isinstance(column, Numeric):
        return _unread_value(column, rest) + also
    return (_unlisted_truth(rest) if column.boolean else _unlisted_label(column, rest)) + also


def remedy_clamped(texts: Sequence[str], *, low: bool, high: bool) -> str:
    """For cells outside the bounds."""
    if len(set(texts)) == 1:
        return "it is always the same value, perhaps a code for missing: list it in missingValues"
    bounds = " and ".join(name for name, out in (("minimum", low), ("maximum", high)) if out)
    return f"widen constraints.{bounds}, if that is publicly known, or check the unit of the numbers"


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, texts)) / max(len(texts), 1)


def _unread_value(column: Numeric, texts: Sequence[str]) -> str:
    found = next(iter(candidates("text", texts)), None)
    number = column.kind in ("integer", "number")
    if found is None:
        wrong = "numbers" if number else "dates" if column.kind == "date" else "moments"
        return f"no {wrong} in any way that is known: declare what they mean in missingValues, or the field as a string"
    if found.kind == "number":
        return _marks(column, found) if number else 'looks like numbers: set type to "integer" or "number"'
    form = f'format to "{found.format}"' if found.format else "no format (ISO 8601)"
    if found.kind == column.kind:
        return f"looks like a {column.kind} in another format: set {form}"
    return f'looks like a {found.kind}: set type to "{found.kind}" and {form}'


def _marks(column: Numeric, found: Reading) -> str:
    """Which marks of a number differ from those declared."""
    changes = []
    if found.decimal != column.marks.decimal:
        changes.append(
            ("decimal commas" if found.decimal == "," else "decimal points", f'decimalChar to "{found.decimal}"')
        )
    if found.group is not None and found.group != column.marks.group:
        changes.append(("marks between thousands", f'groupChar to "{found.group}"'))
    if not found.bare and column.marks.bare:
        changes.append(("money, percent or unit signs", "bareNumber to false"))
    if not changes:
        return "numbers that the declared marks do not explain: check decimalChar, groupChar and bareNumber"
    what, keys = zip(*changes, strict=True)
    return f"looks like {', '.join(what)}: set {', '.join(keys)}"


def _unlisted_truth(texts: Sequence[str]) -> str:
    words = {word for pair in BOOLEANS for word in pair}
    if _share(texts, lambda text: text.strip().casefold() in words) >= MOST:
        return "looks like truth values in other words: set trueValues and falseValues"
    return "no truth values: declare the field as a string with categories, or set trueValues and falseValues"


def _unlisted_label(column: Categorical, texts: Sequence[str]) -> str:
    listed = [str(label) for label in column.labels]
    folded, bare = {label.strip().casefold() for label in listed}, {label.lstrip("0") for label in listed}
    if _share(texts, lambda text: text.strip().casefold() in folded) >= MOST:
        return "labels differ from those listed by case or spaces only: list them as the file spells them"
    if _share(texts, lambda text: text.lstrip("0") in bare or text.removesuffix(".0") in listed) >= MOST:
        return (
            "labels differ from those listed by leading zeros or a decimal: keep codes as text where the file is made"
        )
    return "list them in categories, if they are publicly known, or set sundog.outOfDomain to a label such as other"
