"""sundog schema: draft, check, import and complete the public schema of a table."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.options import Charged, Confirmation, Privacy, Purpose
from sundog.api.writing import document_text, prepare_file, write_confidential
from sundog.cli import options as o
from sundog.cli.groups import TableOptions, TextOptions, grouped
from sundog.cli.output import load_noted, load_schema, progress, say
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.private.complete import Gaps

app = typer.Typer(help="Draft, check, import or complete a schema.", no_args_is_help=True)

SchemaArgument = Annotated[Path, typer.Argument(help="The schema file (Table Schema JSON).")]
SchemaOrPackageArgument = Annotated[
    Path, typer.Argument(help="The schema file (Table Schema JSON), or the datapackage.json of linked tables.")
]
OptionalData = Annotated[
    str | None, typer.Argument(help="The table to check it against (column names and types only).")
]


@app.command()
@grouped
def draft(
    table: TableOptions, *, charged: Charged, out: o.OutFile, force: o.Force = False, json: o.AsJson = False
) -> None:
    """Draft a schema by reading the data: CONFIDENTIAL, for the owner to review."""
    prepare_file(out, force=force)
    with progress("reading the table"):
        from sundog.api.schema import draft_schema

        document = draft_schema(table.data, dialect=table.given(), sql=table.sql, **vars(charged))
    write_confidential(out, document_text(document))
    fields = document["fields"]
    left = sum(bool(field.get("identifier")) for field in fields)
    lines = [
        f"CONFIDENTIAL draft: {out} (fields: {len(fields)}, left out: {left}; each says why)",
        "Its bounds, lists and dialect were read from the data, and nothing may be spent with it before it is reviewed:",
        f"sundog schema review {out}",
    ]
    said = {"fields": len(fields), "leftOut": left, "dialect": document.get("dialect", {})}
    say({"file": str(out), **said, "confidential": True}, lines, as_json=json)


@app.command()
@grouped
def check(
    schema: SchemaOrPackageArgument,
    data: OptionalData = None,
    *,
    text: TextOptions,
    sql: o.Sql = None,
    json: o.AsJson = False,
) -> None:
    """Check a schema, that its constraints can be satisfied, and that a table has its columns; reads no row."""
    from sundog.domain.contradictions import constraint_doubts, refuse_contradictions
    from sundog.domain.linked.reading import refuse_linked

    public = text.amend(load_schema(schema, linked=True))
    columns = [public.column(name) for name in public.declared_names]
    refuse_contradictions(public)
    lines = [f"{schema} is a valid schema: {len(columns)} columns, {len(public.identifiers)} identifiers."]
    lines += [f"  {column.name}: {_kind(column)}" for column in columns]
    result: dict[str, Any] = {"valid": True, "columns": {column.name: column.size for column in columns}}
    if doubts := constraint_doubts(public):
        result["warnings"] = doubts
        lines += [f"WARNING: {doubt}" for doubt in doubts]
    if data is not None:
        refuse_linked(public, "schema check DATA")
        from sundog.private.table import PrivateTable

        table = PrivateTable(data, dialect=public.dialect, sql=sql)
        table.check(public.fields)
        known = {
            *public.fields,
            *(identifier.name for identifier in public.identifiers),
            *(one.name for one in public.derived),
        }
        result["notInSchema"] = [name for name in table.columns if name not in known]
        lines.append(f"{data} has all of these columns.")
        if result["notInSchema"]:
            lines.append(f"Not in the schema, so left out: {', '.join(result['notInSchema'])}.")
    say(result, lines, as_json=json)


@app.command()
def review(
    schema: SchemaArgument,
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write it; default: the same file.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="A field that is right as it is; may be repeated.")] = None,
    json: o.AsJson = False,
) -> None:
    """Walk through the fields that were read from the data: keep, change or leave out each. It reads no row."""
    from sundog.cli.review import ask, told
    from sundog.domain.review import Review

    target, under_review = out or schema, Review(load_noted(schema))

    def save(now: Review) -> None:
        write_confidential(target, document_text(dict(now.document)))

    for name in keep or []:
        under_review = under_review.keep(name)
        save(under_review)
    if not (keep or json):
        under_review = ask(under_review, save)
    result, lines = told(under_review, target)
    say(result, lines, as_json=json)


@app.command("import-sdv")
def import_sdv(
    metadata: Annotated[Path, typer.Argument(help="SDV metadata (JSON).")],
    *,
    out: o.OutFile,
    table: Annotated[str | None, typer.Option(help="Which table of the metadata.")] = None,
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Make a schema from SDV metadata; bounds and categories that it lacks are listed for you to fill in."""
    from sundog.domain.schema import load_document
    from sundog.domain.sdv import from_sdv

    prepare_file(out, force=force)
    document, lacking = from_sdv(load_document(metadata), table=table)
    write_document(document, out)
    lines = [f"Schema: {out} ({len(document['fields'])} fields)"]
    if lacking:
        lines += ["Still to be declared (from public knowledge, or paid for with: sundog schema complete):"]
        lines += [f"  {lack}" for lack in lacking]
    say({"file": str(out), "lacking": lacking}, lines, as_json=json)


@app.command()
@grouped
def complete(
    table: TableOptions,
    *,
    schema: o.SchemaFile,
    out: o.OutFile,
    privacy: Privacy,
    charged: Charged,
    consent: Confirmation,
    purpose: Purpose,
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Pay for the bounds and category lists that a schema does not declare, by noisy counts."""
    with progress("measuring domains"):
        from sundog.api.charging import Terms, curator_for
        from sundog.domain.review import Review
        from sundog.domain.schema import amend_dialect
        from sundog.private.complete import complete as complete_schema
        from sundog.private.complete import find_gaps
        from sundog.report.certificate import claim

        document = amend_dialect(load_noted(schema), table.given())
        gaps = find_gaps(document)
        if not (gaps.labels or gaps.numbers):
            raise UserError(f"schema {str(schema)!r} declares every domain already; there is nothing to pay for.")
        if gaps.labels and privacy.delta is None:
            raise UserError(
                "delta: category lists are found by a threshold, which needs --delta; a common choice is 1e-9."
            )
        half = (privacy.delta or 0.0) / 2 if gaps.labels else 0.0
        named = replace(charged, dataset=charged.account(gaps.provisional.name, table.data))
        curator = curator_for(
            table.open(gaps.provisional.dialect),
            gaps.provisional,
            privacy=privacy,
            charged=named,
            consent=consent,
            terms=Terms("gaussian", "schema complete", purpose.purpose, delta_thresholds=half),
        )
        prepare_file(out, force=force)
        filled = complete_schema(document, curator, gaps=gaps, delta=half)
        waiting = [question.name for question in Review(filled).questions]
        if waiting:
            write_confidential(out, document_text(filled))
        else:
            write_document(filled, out)
        guarantee = curator.released().guarantee
    open_still = _still_open(filled, gaps)
    lines = [f"Schema: {out}", f"Paid: {claim(guarantee)}"]
    lines += [f"  {name}: nothing stood clear of the noise; declare it or spend more" for name in open_still]
    lines += [f"CONFIDENTIAL: {len(waiting)} fields wait for review: sundog schema review {out}"] if waiting else []
    say({"file": str(out), "epsilon": guarantee.epsilon, "rho": guarantee.rho, "open": open_still}, lines, as_json=json)


def write_document(document: dict[str, Any], path: Path) -> None:
    """A schema document as a readable file."""
    path.write_text(document_text(document), encoding="utf-8")


def _still_open(document: dict[str, Any], gaps: "Gaps") -> list[str]:
    """The fields for which nothing was found."""
    fields = {field["name"]: field for field in document["fields"]}
    found = {
        name for name, field in fields.items() if field.get("categories") or "maximum" in field.get("constraints", {})
    }
    return [name for name in (*gaps.labels, *gaps.numbers) if name not in found]


def _kind(column: Any) -> str:
    from sundog.domain import Numeric
    from sundog.domain.grids import unit_of

    missing = ", may be missing" if column.nullable else ""
    if isinstance(column, Numeric):
        unit = f" {unit_of(column)}" if unit_of(column) else ""
        return f"{column.kind}, {column.describe(0)} to {column.describe(column.steps - 1)}{unit}{missing}"
    return f"{len(column.labels)} {'ordered ' if column.ordered else ''}categories{missing}"
