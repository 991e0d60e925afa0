"""The door of private/check.py for linked tables: every table's cells, and how the tables hang together. CONFIDENTIAL."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sundog.domain.linked.table import LinkedTable, key_text
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.unit import PrivacyUnit
from sundog.private.check import Finding, KeyCheck, TableCheck, check_rows
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTables, open_private
from sundog.sources.linked import LinkedSource
from sundog.sources.linked_counts import Links, count_links


@dataclass(frozen=True)
class LinkedCheck:
    """CONFIDENTIAL: what was found in each table, and what is wrong with the links."""

    dataset: str
    tables: Mapping[str, TableCheck]
    links: Mapping[str, tuple[Finding, ...]]

    def __repr__(self) -> str:
        return f"LinkedCheck(CONFIDENTIAL, dataset={self.dataset!r}, tables={len(self.tables)})"


def check_links(tables: Mapping[str, Any], schema: LinkedSchema, *, dataset: str, ledger: Ledger) -> LinkedCheck:
    """How the cells were read and links of linked tables, after the disclosures are on the ledger."""
    package = schema.package
    private = PrivateTables(package, tables)
    private.check(schema.names)
    source = open_private(private)
    if not isinstance(source, LinkedSource):
        raise TypeError("linked tables are one source")
    found = {}
    for table in package.tables:
        if table.name in tables:
            # The cells of a database are those of the snapshot on which links are counted.
            given = source.tables[table.name] if isinstance(tables[table.name], tuple) else tables[table.name]
            check = check_rows(given, table.schema, unit=PrivacyUnit(), dataset=dataset, ledger=ledger)
            found[table.name] = replace(check, keys=tuple(_plain(key) for key in check.keys))
    links = {
        each.table: tuple(_findings(each, package.table(each.table), referred=each.table in package.named_by_key))
        for each in count_links(source)
    }
    return LinkedCheck(dataset, found, links)


def _plain(key: KeyCheck) -> KeyCheck:
    """A key without the remedies for one table: what is wrong with links is counted apart."""
    return replace(key, findings=())


def _findings(links: Links, table: LinkedTable, *, referred: bool) -> Iterator[Finding]:
    key = key_text(table.key)
    found = (
        (f"have no {key!r}", links.without_key, "give every record a key" + (", or a run is refused" if referred else "")),
        (f"repeat a {key!r}", links.repeated_keys, "a primaryKey names one record: look for duplicates" + (", or a run is refused" if referred else "")),
        (f"name no {table.parent!r}", links.without_foreign_key, "a key is missing, so they belong to nobody and are left out"),
        (f"have no parent in {table.parent!r}", links.without_parent, "they are left out; look for keys written differently"),
        ("are beyond the maximumPerParent", links.beyond, f"more than {table.most} rows of a parent are not used; raise it to keep them"),
    )  # fmt: skip
    for what, count, remedy in found:
        if count:
            yield Finding(what, count, count / max(links.rows, 1), remedy)
    if links.few:
        remedy = f"they are taken to have {table.least}; lower minimumPerParent if that is wrong"
        yield Finding(
            f"parents have fewer than {table.least} rows", links.few, links.few / max(links.parents, 1), remedy
        )
