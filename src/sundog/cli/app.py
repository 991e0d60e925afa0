"""The `sundog` command. One file per command; heavy imports wait until a command runs, so that help is instant."""

import json
import os
import sys
from contextlib import suppress
from typing import TextIO

import typer

from sundog.cli import (
    adjust,
    answer,
    audit,
    certificate,
    check,
    compare,
    docs,
    evaluate,
    generate,
    help_topic,
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
from sundog.cli.output import visible
from sundog.errors import INTERRUPTED, UserError, failure
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
app.command("help")(help_topic.help_topic)
app.command("docs")(docs.docs)
app.add_typer(audit.app, name="audit")
app.add_typer(schema.app, name="schema")
app.add_typer(workload.app, name="workload")
app.add_typer(ledger.app, name="ledger")

UNREAD = 141
"""The exit code of a pipe whose reader went away, as shells have it."""


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
    _have_streams()
    try:
        refuse_little_room()
        app()
    except UserError as error:
        _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, SystemExit) as ended:  # Typer turns the former into the latter, without a word
        if isinstance(ended, SystemExit) and ended.code == 1:  # what Typer says of a pipe that nobody reads
            sys.exit(UNREAD)
        if isinstance(ended, SystemExit) and ended.code != INTERRUPTED:
            _tell_machines_of_usage(ended)
            raise
        _fail(*failure(KeyboardInterrupt()))
    except Exception as error:
        message, code = failure(error)
        if code == 1 and os.environ.get("SUNDOG_DEBUG"):
            raise
        _fail(message, code)


def _have_streams() -> None:
    """A command that was started with its outputs closed says its words to nobody."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _tell_machines_of_usage(ended: SystemExit) -> None:
    """An option or argument that cannot be read: Typer has told people on standard error, and left by that exception."""
    words = getattr(ended.__context__, "format_message", None)
    if words is not None and isinstance(ended.code, int):
        _tell_machines(words(), ended.code)


def _tell_machines(message: str, code: int) -> None:
    if "--json" in sys.argv:
        _say(json.dumps({"error": message, "exitCode": code}), sys.stdout)


def _fail(message: str, code: int) -> None:
    _tell_machines(message, code)
    _say(visible(f"Error: {message}"), sys.stderr)
    sys.exit(code)


def _say(text: str, stream: TextIO) -> None:
    """Say it, or, where nothing can be written there (a full disk, a closed pipe), leave the word to the exit code."""
    try:
        typer.echo(text, file=stream)
    except OSError:
        with suppress(OSError, ValueError):  # what is left to write would fail once more at the end, with another code
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
