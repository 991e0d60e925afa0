"""sundog check: how the cells of a table are read with a schema. CONFIDENTIAL."""

from pathlib import Path
from typing import Annotated

import typer

from sundog.api.options import Charged
from sundog.api.writing import document_text, prepare_file, write_confidential
from sundog.cli import options as o
from sundog.cli.groups import TableOptions, grouped
from sundog.cli.output import load_schema, progress, say

Unit = Annotated[str | None, typer.Option(help="The column that names the people to protect, to count their rows.")]
RowsPerUnit = Annotated[int, typer.Option(help="How many rows of one unit would be used at most (with --unit).")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write it as JSON, readable by you only.")]


@grouped
def check(
    table: TableOptions,
    *,
    schema: o.SchemaFile,
    charged: Charged,
    unit: Unit = None,
    rows_per_unit: RowsPerUnit = 1,
    out: Out = None,
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Count how every cell was read, with remedies. CONFIDENTIAL: not for release; the ledger records it."""
    if out is not None:
        prepare_file(out, force=force)
    with progress("reading the table"):
        from sundog.api.check import check_document, check_lines, check_table

        facts = table.amend(load_schema(schema, linked=True))
        found = check_table(table.data, facts, unit=unit, rows_per_unit=rows_per_unit, sql=table.sql, **vars(charged))
        document = check_document(found)
        if out is not None:
            write_confidential(out, document_text(document))
    say(document, [*check_lines(found), *([f"Written (mode 0600): {out}"] if out else [])], as_json=json)
