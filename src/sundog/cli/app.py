"""The `sundog` command. One file per command; heavy imports wait until a command runs, so that help is instant."""

import json
import os
import sys

import typer

from sundog.cli import (
    adjust,
    answer,
    audit,
    certificate,
    check,
    compare,
    evaluate,
    generate,
    ledger,
    measure,
    methods,
    plan,
    schema,
    studio,
    synthesize,
    verify,
    workload,
)
from sundog.cli.output import tell
from sundog.errors import UserError, failure
from sundog.sizes import refuse_little_room
from sundog.version import __version__

app = typer.Typer(
    name="sundog",
    help="A differentially private likeness of a table: rows anyone may use, and a certificate of what was spent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("synthesize")(synthesize.synthesize)
app.command("plan")(plan.plan)
app.command("measure")(measure.measure)
app.command("generate")(generate.generate)
app.command("answer")(answer.answer)
app.command("compare")(compare.compare)
app.command("methods")(methods.methods)
app.command("check")(check.check)
app.command("evaluate")(evaluate.evaluate)
app.command("adjust")(adjust.adjust)
app.command("verify")(verify.verify)
app.command("certificate")(certificate.certificate)
app.command("studio")(studio.studio)
app.add_typer(audit.app, name="audit")
app.add_typer(schema.app, name="schema")
app.add_typer(workload.app, name="workload")
app.add_typer(ledger.app, name="ledger")

INTERRUPTED = 130


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sundog {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command; a mistake ends with a sentence and an exit code, never with a traceback."""
    try:
        refuse_little_room()
        app()
    except UserError as error:
        _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, SystemExit) as ended:  # Typer turns the former into the latter, without a word
        if isinstance(ended, SystemExit) and ended.code != INTERRUPTED:
            raise
        _fail("interrupted.", INTERRUPTED)
    except Exception as error:
        message, code = failure(error)
        if code == 1 and os.environ.get("SUNDOG_DEBUG"):
            raise
        _fail(message, code)


def _fail(message: str, code: int) -> None:
    if "--json" in sys.argv:
        typer.echo(json.dumps({"error": message, "exitCode": code}))
    tell(f"Error: {message}", err=True)
    sys.exit(code)
