"""The options that several commands share, declared once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Data = Annotated[str, typer.Argument(help="The private table: a CSV, TSV, Parquet or DuckDB file, or a glob.")]
SchemaFile = Annotated[Path, typer.Option("--schema", help="The public schema (Table Schema JSON).")]
Epsilon = Annotated[float | None, typer.Option(help="The privacy budget, with --delta.")]
Delta = Annotated[
    float | None,
    typer.Option(help="The chance that epsilon does not hold; default 1/n² where the number of rows is public."),
]
Rho = Annotated[float | None, typer.Option(help="The privacy budget as zCDP, instead of --epsilon.")]
Method = Annotated[str, typer.Option(help="The method; `sundog methods` lists them.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, such as rows=1000; may be repeated."),
]
WorkloadFile = Annotated[
    Path | None, typer.Option("--workload", help="What should come out right (TOML; see: sundog workload list).")
]
Public = Annotated[
    str | None, typer.Option(help="A public table of the same schema to start from (see: sundog methods).")
]
Adjust = Annotated[
    str | None,
    typer.Option(help="Measures that the rows are adjusted to, such as 'correlations: A, B' (see: sundog adjust)."),
]
AdjustShare = Annotated[float, typer.Option(help="The part of the budget that --adjust may spend.")]
NeighboursOption = Annotated[
    Literal["add-remove", "replace"],
    typer.Option("--neighbours", help="add-remove: the number of rows is private; replace: it is public."),
]
Unit = Annotated[
    str | None, typer.Option(help="The column that names the people to protect; default: each row is one.")
]
RowsPerUnit = Annotated[int, typer.Option(help="How many rows of one unit are used at most (with --unit).")]
Dataset = Annotated[
    str | None, typer.Option(help="The ledger's account; default: the schema's name, else the file's name.")
]
Seed = Annotated[int | None, typer.Option(help="Fixes generation and sampling; never the privacy noise.")]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="The ledger; default: in your data directory, or $SUNDOG_LEDGER.")
]
Delimiter = Annotated[str | None, typer.Option(help="The separator of a text file; default: comma, or tab for .tsv.")]
Sql = Annotated[str | None, typer.Option(help="What to read from a DuckDB database.")]
Rows = Annotated[int | None, typer.Option(help="How many synthetic rows; default: about as many as the table has.")]
Format = Annotated[Literal["csv", "parquet"], typer.Option("--format", help="The synthetic table's format.")]
OutFolder = Annotated[Path, typer.Option("--out", "-o", help="The folder for the results.")]
OutFile = Annotated[Path, typer.Option("--out", "-o", help="The file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing results.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
