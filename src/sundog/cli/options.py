"""The options that only commands have, declared once; those that Python users have too are in api/options.py."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import typer

Data = Annotated[
    str,
    typer.Argument(
        help="The private table: a text, Parquet, Excel, Stata, SPSS, SAS, DuckDB or SQLite file, a glob, or the address of a "
        "database (postgresql://HOST/DATABASE)."
    ),
]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The public schema (Table Schema JSON).")]
SchemaOrPackage = Annotated[
    Path | None,
    typer.Option("--schema", help="The public schema (Table Schema JSON); a datapackage.json brings its own."),
]
Delimiter = Annotated[str | None, typer.Option(help="The separator of a text file; default: comma, or tab for .tsv.")]
Signs = Annotated[
    bool | None, typer.Option("--signs/--no-signs", help="Signs such as $ or % may stand around numbers in text.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether a text file begins with its column names; default: it does."),
]
Multiline = Annotated[
    bool | None,
    typer.Option("--multiline/--lines", help="Quoted cells may hold line ends; default: every line is one record."),
]
NewAccount = Annotated[
    bool, typer.Option("--new-account", help="Open a new account although its name looks like that of an existing one.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Go ahead with a budget or limit that makes little sense.")]
Sql = Annotated[str | None, typer.Option(help="A query: of a database, or of any other file as the table `data`.")]
Engine = Annotated[
    Literal["spark"] | None,
    typer.Option(help="What reads and counts the table; default: this process. spark: Parquet files, by a cluster."),
]
Master = Annotated[
    str | None,
    typer.Option(help="The Spark cluster: local[N] or spark://HOST:PORT; default: all cores of this machine."),
]
PushDown = Annotated[
    bool, typer.Option("--push-down", help="PostgreSQL counts, so that no row leaves the server; only totals do.")
]


def _whole(text: str) -> int:
    """A whole number, also written as 1e9."""
    number = (
        Decimal(text) if re.fullmatch(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE]\+?[0-9]{1,2})?", text) else Decimal("nan")
    )
    if number != number.to_integral_value():
        raise typer.BadParameter(f"{text!r} is no whole number.")
    return int(number)


Rows = Annotated[
    int | None,
    typer.Option(
        parser=_whole,
        metavar="INTEGER",
        help="How many synthetic rows, such as 5000 or 1e9; default: about as many as the table has.",
    ),
]
Format = Annotated[Literal["csv", "parquet"], typer.Option("--format", help="The synthetic table's format.")]
OutFolder = Annotated[Path, typer.Option("--out", "-o", help="The folder for the results.")]
OutFile = Annotated[Path, typer.Option("--out", "-o", help="The file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing results.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
