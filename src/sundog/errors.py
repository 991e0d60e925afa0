"""The two ways in which Sundog says no: the user's input is wrong, or the budget does not allow it.

Every message names the part, what was found, what is allowed and the remedy; never a value from a private row.
"""


class UserError(Exception):
    """Something the user gave cannot be used; the message says what and how to mend it (exit code 2)."""

    exit_code = 2


class BudgetRefused(UserError):
    """The privacy budget does not allow this; nothing was computed (exit code 3)."""

    exit_code = 3
