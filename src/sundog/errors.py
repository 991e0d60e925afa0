"""The two ways in which Sundog says no: the user's input is wrong, or the budget does not allow it.

Every message names the part, what was found, what is allowed and the remedy; never a value from a private row.
"""


class UserError(Exception):
    """Something the user gave cannot be used; the message says what and how to correct it (exit code 2)."""

    exit_code = 2


class BudgetRefused(UserError):
    """The privacy budget does not allow this; nothing was computed (exit code 3)."""

    exit_code = 3


NO_MEMORY = (
    "the run needs more memory than this process may use. Ask for fewer rows or queries, use a method with a smaller model, or "
    "give the process more memory."
)


INTERRUPTED = 130
"""The exit code of Ctrl-C, as shells have it."""


def is_interruption(error: BaseException) -> bool:
    """Whether Ctrl-C was pressed: the table engine says so by a RuntimeError where it was at work."""
    return isinstance(error, KeyboardInterrupt) or (
        type(error) is RuntimeError and error.args == ("Query interrupted",)
    )


def failure(error: BaseException) -> tuple[str, int]:
    """What to say of an error that is no UserError, and the exit code: 1 only where it is a fault in Sundog."""
    if is_interruption(error):
        return "interrupted.", INTERRUPTED
    if (
        isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"
    ):  # the table engine's word for it
        return NO_MEMORY, 2
    if isinstance(error, OSError):
        where = f" {error.filename!r}" if isinstance(error.filename, str) else ""
        reason = error.strerror or "the system gave no reason"
        return (
            f"a file{where} could not be read or written ({reason}). Check the path, the space on the disk and the rights.",
            2,
        )
    return (
        f"an unexpected {type(error).__name__} stopped the run; this is a fault in Sundog. Its text is withheld, since it "
        "could quote a cell; SUNDOG_DEBUG=1 shows the traceback on your own screen.",
        1,
    )
