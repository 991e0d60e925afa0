"""The one door through which real rows leave for evaluation. CONFIDENTIAL: it adds no noise.

The disclosure is written into the ledger first, durably; only then are the rows read. Everything computed from them is
to be branded CONFIDENTIAL and kept from release: the guarantee of the certificates does not cover it.
"""

from sundog.domain import Schema
from sundog.domain.linked.views import LinkedSchema
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable, PrivateTables, open_private, open_whole
from sundog.sources.linked import LinkedSource

BRAND = "CONFIDENTIAL: computed on real rows without noise, outside every privacy guarantee. Do not release."


def disclose_rows(table: PrivateTable, schema: Schema, *, purpose: str, dataset: str, ledger: Ledger) -> Rows:
    """The real rows, after the disclosure is on the ledger. A table that lacks a column is refused before that."""
    source = open_whole(table)
    source.check(schema.fields)
    ledger.disclose(dataset, f"CONFIDENTIAL: real rows handed out for {purpose}, without noise")
    return source.read(schema)


def disclose_views(
    tables: PrivateTables, schema: LinkedSchema, *, purpose: str, dataset: str, ledger: Ledger
) -> LinkedSource:
    """Real linked tables, after the disclosure is on the ledger; their views can then be read."""
    source = open_private(tables)
    if not isinstance(source, LinkedSource):
        raise UserError("evaluate: these are no linked tables.")
    source.check(schema.names)
    ledger.disclose(dataset, f"CONFIDENTIAL: real rows handed out for {purpose}, without noise")
    return source
