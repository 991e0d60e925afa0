"""Budgets that make no sense are questioned before anything is spent.

    delta above 1e-3         a mechanism that publishes one unit in a thousand outright would satisfy it
    delta above 1/n          the same, for a table of n rows: one of them could be published outright
    epsilon above 10         odds may change by a factor of e^10 = 22,026
    a limit below what is spent   every further charge would be refused

n is used where it is public: counted under "replace" (one row replaced), else only if the owner states it
(`rows_about`). Under add-remove the number of rows is private, and an answer that depended on it would be a free look at
it; after a run the released estimate, which was paid for, is used instead (estimate.warnings).
A budget given as rho is judged at its own delta, or at 1e-9 where it has none.
"""

import math

from sundog.errors import UserError
from sundog.private.account import Account
from sundog.private.accountant import Budget, zcdp_epsilon

MOST_DELTA = 1e-3
MOST_EPSILON = 10.0
USUAL_DELTA = 1e-9
REMEDY = "Change it, or go ahead with --yes (confirmed=True in Python)."


def doubts(budget: Budget, *, rows: int | None = None) -> list[str]:
    """What is odd about a budget, a sentence each. `rows`: how many rows there are, as far as that is public."""
    epsilon = budget.epsilon
    if epsilon is None and budget.rho is not None:
        epsilon = zcdp_epsilon(budget.rho, budget.delta or USUAL_DELTA)
    found = []
    if epsilon is not None and epsilon > MOST_EPSILON:
        found.append(
            f"epsilon {epsilon:.4g} is above {MOST_EPSILON:g}: the odds of a guess about one unit may change by a factor "
            f"of {_factor(epsilon)}, which is almost no protection."
        )
    if budget.delta is not None and budget.delta > MOST_DELTA:
        found.append(
            f"delta {budget.delta:g} is above {MOST_DELTA:g}: it would allow publishing one unit in "
            f"{math.floor(1 / budget.delta):,} outright. A common choice is 1e-9."
        )
    elif budget.delta is not None and rows and budget.delta > 1 / rows:
        found.append(
            f"delta {budget.delta:g} is above 1/{rows:,}, one by the number of rows: it would allow publishing a whole "
            f"row. Choose it well below, such as {1 / rows**2:.2g}."
        )
    return found


def limit_doubts(limit: Budget, account: Account) -> list[str]:
    """What is odd about a limit for an account."""
    found = doubts(limit)
    spent = account.rho
    if spent and limit.total_rho("gaussian" if account.accounting == "gaussian" else "zcdp") < spent:
        found.append(
            f"the limit {limit.describe()} is below what is spent already (rho {spent:.6g}): every further charge to "
            f"{account.dataset!r} would be refused."
        )
    return found


def refuse_doubtful(found: list[str], *, confirmed: bool) -> None:
    """Refuse what was found, unless the owner has confirmed it."""
    if found and not confirmed:
        raise UserError(f"budget: {' '.join(found)} Nothing was spent or changed. {REMEDY}")


def _factor(epsilon: float) -> str:
    return f"{math.exp(epsilon):,.0f}" if epsilon <= 20 else f"e^{epsilon:.4g}"
