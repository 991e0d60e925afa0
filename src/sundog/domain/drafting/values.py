"""Numbers and moments in a draft: which reading is meant, between which bounds, and what is doubtful about it. Pure."""

import math
import re
from typing import Any

from sundog.domain.columns import GRID_LIMIT
from sundog.domain.drafting.seen import CODE, CODE_WORDS, MISSING, UNKNOWN, Seen
from sundog.domain.readings import Reading, ambiguous

MOSTLY = 0.98
"""A reading is taken if it reads this share of the cells that are not missing."""
MOST_DECIMALS = 6
FEW_CODES = 50
WHOLE_MINUTES = r"[^:]*:\d\d(:00(\.0+)?)?\s*([AaPp][Mm]|Z|[+-]\d\d:?\d\d)?"

Judgement = tuple[dict[str, Any], str] | None


def left_out(what: str) -> Judgement:
    """A column that is not modelled."""
    return {"type": "string", "identifier": True}, f"Left out: {what}."


def read_values(seen: Seen, comma: bool) -> Judgement:
    """The field of a column that some reading reads; None where none does."""
    best = best_reading(seen, comma=comma)
    if best is None or _odd_codes(seen, best):
        return None
    reach = seen.reaches[best]
    unread = seen.known - reach.count
    note = f" {unread:,} cells cannot be read." if unread > 0 else ""
    found = _number(seen, best) if best.kind == "number" else _moment(seen, best)
    return (found[0], f"{found[1]}{_doubt(seen, best)}{note}") if found is not None else None


def _odd_codes(seen: Seen, best: Reading) -> bool:
    """Whether what a reading of numbers does not read are codes (E880 among 250.01): then all of them are."""
    odd = [text for text in seen.labels or {} if not best.reads(text) and text.casefold() not in (*MISSING, *UNKNOWN)]
    return best.kind == "number" and bool(odd) and sum(bool(re.fullmatch(CODE, text)) for text in odd) >= 0.9 * len(odd)


def best_reading(seen: Seen, *, comma: bool) -> Reading | None:
    """The reading that reads most cells; of equals the preferred one, or the one that other columns suggest."""
    good = [reading for reading, reach in seen.reaches.items() if seen.known and reach.count >= MOSTLY * seen.known]
    if not good:
        return None
    most = max(seen.reaches[reading].count for reading in good)
    equal = [reading for reading in good if seen.reaches[reading].count == most]
    if not comma:
        return next((reading for reading in equal if not _needs_evidence(reading)), equal[0])
    return next((other for other in equal if _differ(seen, other, equal[0]) and _continental(other)), equal[0])


def _differ(seen: Seen, one: Reading, other: Reading) -> bool:
    """Whether two readings of the same cells mean different values."""
    reach, than = seen.reaches[one], seen.reaches[other]
    same = one.kind == "number" and (reach.low, reach.high, reach.fine) == (than.low, than.high, than.fine)
    return ambiguous(one, other) and not same


def _continental(reading: Reading) -> bool:
    return reading.decimal == "," if reading.kind == "number" else (reading.format or "").startswith("%d")


def _needs_evidence(reading: Reading) -> bool:
    """Days before months with slashes: as likely as the other way round, which is then taken."""
    return reading.kind != "number" and (reading.format or "").startswith("%d/%m")


def _doubt(seen: Seen, best: Reading) -> str:
    """Other readings that fit as well and mean something else."""
    count = seen.reaches[best].count
    others = [
        reading for reading, reach in seen.reaches.items() if reach.count == count and _differ(seen, reading, best)
    ]
    if best.kind == "number":
        return " A point or comma may be read in two ways: check." if others else ""
    return f" {others[0].format} reads every cell as well: check the order of day and month." if others else ""


def _number(seen: Seen, best: Reading) -> Judgement:
    reach = seen.reaches[best]
    decimals = min(reach.fine, MOST_DECIMALS)
    if not decimals and _numbers_rows(seen, reach):
        return left_out("numbers that name rows or people, as a running number or key does")
    if not decimals and seen.hints & {"id", *CODE_WORDS} and seen.labels and len(seen.labels) <= FEW_CODES:
        return _number_codes(seen, best)
    low, high = _bounds(reach.low, reach.high)
    reaching = math.floor(math.log10(GRID_LIMIT / 2 / max(abs(low), abs(high), 1)))
    if reaching < 0:
        return left_out("numbers this large name things")
    marks: dict[str, Any] = {} if best.decimal == "." else {"decimalChar": best.decimal}
    marks |= {} if best.group is None else {"groupChar": best.group}
    marks |= {} if best.bare else {"bareNumber": False}
    what = "Whole numbers" if not decimals else f"Numbers with up to {reach.fine} decimals"
    why = f"{what}{_written(seen, best)}. Bounds rounded outwards from what was seen.{_sentinel(seen, reach)}"
    bounds = {"minimum": low if decimals else int(low), "maximum": high if decimals else int(high)}
    own = {"sundog": {"decimals": min(decimals, reaching)}} if decimals else {}
    return {"type": "number" if decimals else "integer", **marks, "constraints": bounds, **own}, why


def _number_codes(seen: Seen, best: Reading) -> Judgement:
    """Whole numbers that the name calls codes: labels, since their sizes mean nothing."""
    codes = sorted(
        {int(text) for text in seen.labels or {} if re.fullmatch(r"[+-]?\d{1,9}", text) and best.reads(text)}
    )
    why = f"Whole numbers that the name calls codes, {len(codes)} different ones: labels, not amounts."
    return {"type": "integer", "categories": codes}, why


def _written(seen: Seen, best: Reading) -> str:
    said = []
    if best.decimal == "," and best.kind == "number":
        said.append("decimal commas")
    if best.group is not None:
        said.append("marks between thousands")
    shown = [text for text in seen.sample if text.casefold() not in (*MISSING, *UNKNOWN)]
    signs = {best.signs(text) for text in shown} - {""}
    if signs and not best.bare:
        said.append("percent signs" if signs <= {"%", "‰"} else "money or unit signs")
    if best.accounts and any("(" in text for text in shown):
        said.append("negative amounts in parentheses")
    return f" with {', '.join(said)}" if said else ""


def _numbers_rows(seen: Seen, reach: Any) -> bool:
    """Whether whole numbers name rows or people: many and called so, or all different, of one length or without gaps."""
    if seen.called_key and seen.distinct > max(FEW_CODES, 0.2 * seen.filled):
        return True
    if seen.filled < 20 or seen.distinct < 0.95 * seen.filled:
        return False
    return reach.high - reach.low + 1 <= 1.05 * seen.filled or seen.shortest == seen.longest >= 6


def _sentinel(seen: Seen, reach: Any) -> str:
    """A lowest or highest number that stands alone is often a code for missing."""
    shown = {text.strip() for text in seen.sample}
    odd = [str(int(value)) for value in (reach.low, reach.high) if abs(value) in (9, 88, 99, 888, 999, 9999, 8888)]
    alone = [text for text in odd if text in shown and ((text.startswith("-") and reach.high > 9) or len(text) > 2)]
    return " The number at an end of the range may mean missing: declare it in missingValues." if alone else ""


def _bounds(low: float, high: float) -> tuple[float, float]:
    """Round numbers outside of what was seen; zero where the lowest is near it."""
    span = high - low
    lower = 0.0 if 0 <= low < span and span >= 10 else math.floor(low / _step(low, span)) * _step(low, span)
    upper = math.ceil(high / _step(high, span)) * _step(high, span)
    return float(f"{lower:.10g}"), float(f"{upper:.10g}")


def _step(value: float, span: float) -> float:
    """What an end is rounded to: its leading digit (two digits after a 1), and no coarser than the span."""
    digits = math.floor(math.log10(abs(value))) if value else 0
    leading = abs(value) / 10.0**digits
    own = 10.0 ** (digits - (1 <= leading < 2))
    return min(own, 10.0 ** math.floor(math.log10(span))) if span > 0 else own


def _moment(seen: Seen, best: Reading) -> Judgement:
    reach, form = seen.reaches[best], {"format": best.format} if best.format else {}
    written = f" written {best.format}" if best.format else ""
    if best.kind == "time":
        return {"type": "time", **form, **_minutes(seen, best)}, f"Times of day{written}."
    low, high = f"{reach.low}-01-01", f"{reach.high}-12-31"
    if best.kind == "date" or not reach.fine:
        return {
            "type": "date",
            **form,
            "constraints": {"minimum": low, "maximum": high},
        }, f"Dates{written}, whole years."
    bounds = {"minimum": f"{low}T00:00:00", "maximum": f"{high}T23:59:59"}
    drafted = {"type": "datetime", **form, "constraints": bounds, **_minutes(seen, best)}
    return drafted, f"Dates with times{written}, whole years."


def _minutes(seen: Seen, best: Reading) -> dict[str, Any]:
    """Whole minutes, where seconds are not written or are zero in all sampled cells."""
    unwritten = best.format is not None and "%S" not in best.format
    return {"sundog": {"resolution": 60}} if unwritten or seen.share(WHOLE_MINUTES) == 1 else {}


def writes_commas(seen: Seen) -> bool:
    """Whether a column can only be read with decimal commas."""
    best = best_reading(seen, comma=False)
    return best is not None and best.kind == "number" and best.decimal == ","
