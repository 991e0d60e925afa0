"""Draft a schema by looking at the data. CONFIDENTIAL: every domain in it is read from the rows.

It saves the owner typing. Every field says in `why` what was seen, and is marked `fromData` until somebody reviews it; the
dialect of a text file is guessed, and the description says why. The ledger records the disclosure before anything is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sundog.domain import Dialect, Schema
from sundog.domain.drafting.fields import drafted
from sundog.domain.drafting.relations import candidates as candidates_of
from sundog.domain.drafting.relations import derived_field, labelled, offset_fields, offset_pairs, without_circles
from sundog.domain.drafting.seen import MISSING, UNKNOWN, Seen, candidates, lists_labels
from sundog.domain.drafting.values import writes_commas
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable, open_whole
from sundog.sources.duck import DuckTable
from sundog.sources.files import text_files
from sundog.sources.profile import Wanted, details, overview
from sundog.sources.relations import Related
from sundog.sources.sniff import Guess, guess_dialect
from sundog.sources.streams import byte_chunks

BRAND = "CONFIDENTIAL DRAFT: read from the data. Review every field (sundog schema review) against public knowledge."
NO_GUESS = Guess({}, (), 0)


@dataclass(frozen=True)
class Drafting:
    """Whose data it is, and where that is written: the document's name, the account, the ledger."""

    name: str
    dataset: str
    ledger: Ledger


def draft(
    data: Any, drafting: Drafting, *, dialect: Mapping[str, Any] | None = None, sql: str | None = None
) -> dict[str, Any]:
    """A Table Schema document for a table, after the disclosure is on the ledger. What of the dialect is given stays."""
    known = dict(dialect or {})
    stated = Dialect.of(known)
    known |= {name: getattr(stated, name) for name in ("encoding", "delimiter") if name in known}
    paths, delimiter = text_files(data) if isinstance(data, str | Path) else ([], "")
    drafting.ledger.disclose(drafting.dataset, "schema draft: domains read from the data, without noise")
    guess = guess_dialect(byte_chunks(paths[0]), delimiter=delimiter, given=known) if paths else NO_GUESS
    names = tuple(f"column{place}" for place in range(1, guess.columns + 1))
    declared = Dialect.of(guess.dialect)
    table = PrivateTable(data, dialect=declared if declared.header else replace(declared, names=names), sql=sql)
    source = open_whole(table)
    seen = _seen(source)
    comma = any(writes_commas(column) for column in seen.values())
    unnamed = sum(not column for column in source.columns)
    notes = [BRAND, *guess.why, *([f"Columns without a name in the header, left out: {unnamed}."] if unnamed else [])]
    marks = {"dialect": guess.dialect} if guess.dialect else {}
    fields = [
        drafted(seen[column], comma=comma) if column in seen else _nested(column) for column in source.columns if column
    ]
    document = {"name": drafting.name, "description": " ".join(notes), **marks, "missingValues": [""]}
    return {**document, "fields": _related(fields, source, rows=_rows_seen(seen))}


def _rows_seen(seen: Mapping[str, Seen]) -> int:
    return max((column.rows for column in seen.values()), default=0)


def _related(fields: list[dict[str, Any]], source: DuckTable, *, rows: int) -> list[dict[str, Any]]:
    """The fields, with derivations that hold in every row and offsets where these say more."""
    if all(field.get("identifier") for field in fields):
        return fields
    schema = Schema.from_json({"fields": fields})
    related = Related(source, schema)
    proved = {each.candidate: each.pairs for each in related.proved(candidates_of(schema.columns))}
    derived = {each.target.name: each for each in without_circles(proved)}
    made = [
        derived_field(field, each, each.text(labelled(each, proved[each])), rows=rows)
        if (each := derived.get(field["name"])) is not None
        else field
        for field in fields
    ]
    return offset_fields(made, related.spreads(offset_pairs(schema.columns, derived)))


def _nested(name: str) -> dict[str, Any]:
    why = "Left out: its cells hold lists, structures or intervals."
    return {"name": name, "type": "string", "identifier": True, "sundog": {"origin": "fromData"}, "why": why}


def _seen(source: DuckTable) -> dict[str, Seen]:
    """All that is known of the columns whose cells are single values, in two passes."""
    columns = [column for column in source.columns if column and source.readable(column)]
    first = {name: Seen(name, **vars(facts)) for name, facts in overview(source, columns).items()}
    wanted = {
        name: Wanted(candidates(facts.kind, facts.sample), (*MISSING, *UNKNOWN), lists_labels(facts))
        for name, facts in first.items()
    }
    found = details(source, wanted)
    return {name: Seen(**{**vars(facts), **vars(found[name])}) for name, facts in first.items()}
