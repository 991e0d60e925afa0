"""From what was seen in a column to a field of a schema, with a reason: the judgement of a draft. Pure.

Everything in a drafted field is marked `fromData` and explained in its `why`. Bounds are rounded outwards to round
numbers and whole years. What cannot be modelled (names, identifiers, free text) stays in the document as an identifier.
"""

from typing import Any

from sundog.domain.categories import LONGEST_LABEL
from sundog.domain.drafting.hierarchy import with_parents
from sundog.domain.drafting.seen import CODE, CODE_WORDS, MANY_CODES, MISSING, NAME_WORDS, UNKNOWN, Seen
from sundog.domain.drafting.truths import BOOLEANS
from sundog.domain.drafting.values import Judgement, best_reading, left_out, read_values

FEW_LABELS, MANY_LABELS = 50, 1000
PATTERNS = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}",
    "web addresses": r"https?://\S+|www\.\S+",
    "telephone numbers": r"(?=(?:\D*\d){7})[+(0][\d ()/.\-]*[ ()/\-][\d ()/.\-]*|\+\d{8,15}",
    "bank account numbers": r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?",
    "UUIDs": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "IP addresses": r"\d{1,3}(\.\d{1,3}){3}",
}
NAME = r"[^\W\d_][^\W\d_'.\-]*\.?([ ,'\-]+[^\W\d_][^\W\d_'.\-]*\.?){0,3}"


def drafted(seen: Seen, *, comma: bool) -> dict[str, Any]:
    """The field. `comma`: other columns of the file write decimal commas (and so days before months)."""
    for judge in (_empty, _truth, _contact, _padded_code, read_values, _named, _free_text, _labels):
        found = judge(seen, comma)
        if found is not None:
            return _finished(seen, *found)
    return _finished(
        seen, {"type": "string", "identifier": True}, f"Left out: {seen.about} different texts are too many for a list."
    )


def _finished(seen: Seen, domain: dict[str, Any], why: str) -> dict[str, Any]:
    words = [] if domain.get("identifier") else seen.missing_words(among_labels="categories" in domain)
    missing = seen.rows - seen.filled + sum(seen.words[word] for word in words)
    required = not missing and seen.rows > 0 and not domain.get("identifier")
    constraints = {**domain.pop("constraints", {}), **({"required": True} if required else {})}
    parts = {"missingValues": ["", *words]} if words else {}
    also = (
        [f"{missing:,} of {seen.rows:,} cells are missing."] if missing else ["No cell is missing."] if required else []
    )
    also += [f"Words that mean missing: {len(words)}."] if words else []
    own = {**domain.pop("sundog", {}), "origin": "fromData"}
    placed = {"constraints": constraints} if constraints else {}
    return {"name": seen.name, **domain, **parts, **placed, "sundog": own, "why": " ".join([why, *also])}


def _empty(seen: Seen, _: bool) -> Judgement:
    return None if seen.filled else left_out("every cell is empty")


def _truth(seen: Seen, _: bool) -> Judgement:
    if seen.kind == "truth":
        return {"type": "boolean"}, "The column holds truth values."
    texts = {text for text in seen.labels or {} if text.casefold() not in (*MISSING, *UNKNOWN)}
    folded = {text.casefold() for text in texts}
    pair = next((pair for pair in BOOLEANS if folded and folded <= set(pair)), None)
    if pair is None or (len(folded) == 1 and folded <= {"1", "0", "n", "t", "f"}):
        return None
    true, false = (sorted(text for text in texts if text.casefold() == word) or [word] for word in pair)
    return {
        "type": "boolean",
        "trueValues": true,
        "falseValues": false,
    }, f"Truth values in words, {len(texts)} spellings."


def _contact(seen: Seen, comma: bool) -> Judgement:
    moment = best_reading(seen, comma=comma)
    if seen.kind != "text" or seen.distinct < 3 or (moment is not None and moment.kind != "number"):
        return None  # dates with slashes could be telephone numbers
    found = next((what for what, pattern in PATTERNS.items() if seen.share(pattern) >= 0.9), None)
    return None if found is None else left_out(f"{found}, which name people or machines")


def _padded_code(seen: Seen, _: bool) -> Judgement:
    """Digits that are no number: some begin with zeros, or the name says that it is a code of one length.

    Where the name says so, a point may stand in them (01.11 of NACE).
    """
    called = bool(seen.hints & CODE_WORDS)
    digits = r"\d+(\.\d+)?" if called else r"\d+"
    if seen.kind != "text" or seen.share(digits) < 0.9:
        return None
    padded = seen.share(f"0{digits}") > 0
    fixed = seen.shortest == seen.longest >= 3 and called and seen.share(r"\d+") >= 0.9
    if not (padded or fixed):
        return None
    reason = "some begin with zeros" if padded else f"all have {seen.longest} digits and the name says code"
    if _listable(seen, most=MANY_CODES):
        return _list(seen, f"Codes of digits ({reason}), kept as text.", codes=True)
    return left_out(f"{seen.about} different numbers that are no amounts ({reason})")


def _named(seen: Seen, _: bool) -> Judgement:
    if seen.kind != "text" or seen.share(NAME) < 0.9:
        return None
    called = bool(seen.hints & NAME_WORDS or {"first", "last"} & seen.hints) and seen.distinct > 10
    many = seen.distinct > max(100, 0.3 * seen.filled) and seen.share(r"[^\W\d_]+([ \-][^\W\d_]+){0,3}") >= 0.9
    return left_out("names of people or things") if called or many else None


def _free_text(seen: Seen, _: bool) -> Judgement:
    words = sum(len(text.split()) for text in seen.sample) / max(len(seen.sample), 1)
    long = words >= 4 or seen.mean_length > 40
    if seen.kind == "text" and long and seen.distinct > max(FEW_LABELS, 0.2 * seen.filled):
        return left_out("free text, which cannot be modelled")
    return None


def _labels(seen: Seen, _: bool) -> Judgement:
    code = seen.share(CODE) >= 0.9
    most = MANY_CODES if code else MANY_LABELS
    if not code and seen.distinct > 20 and seen.distinct > 0.9 * seen.filled:
        return left_out("nearly every cell is different")
    if seen.called_key and not code and seen.distinct > FEW_LABELS:
        return left_out(f"{seen.about} different texts in a column called a key")
    return _list(seen, "Codes." if code else "Labels.", codes=code) if _listable(seen, most=most) else None


def _listable(seen: Seen, *, most: int) -> bool:
    if seen.labels is None:
        return False
    count = len(seen.labels)
    return count <= FEW_LABELS or (count <= most and count <= 0.5 * seen.filled)


def _list(seen: Seen, why: str, *, codes: bool) -> Judgement:
    said = [text for text in seen.labels or {} if text.casefold() not in MISSING]
    labels = sorted(text for text in said if len(text) <= LONGEST_LABEL)
    if not labels:
        return left_out(f"every text has more than {LONGEST_LABEL} characters" if said else "every cell means missing")
    rare = sum((seen.labels or {})[label] < 5 for label in labels)
    known = f" {rare} of them occur in fewer than 5 rows: keep only what is publicly known." if rare else ""
    long = (
        f" Not listed: {len(said) - len(labels)} of more than {LONGEST_LABEL} characters."
        if said[len(labels) :]
        else ""
    )
    listed, grouped = with_parents(labels) if codes and len(labels) > FEW_LABELS else (labels, "")
    return {"type": "string", "categories": listed}, f"{why} {len(labels)} different ones.{grouped}{known}{long}"
