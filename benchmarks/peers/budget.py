"""The same promise for all: what a tool is given so that epsilon and delta mean the same neighbours.

The comparison counts a row added or removed. A tool that promises this gets the budget as it is. So does one that promises
one row replaced: for a sum over rows, to remove a row is to replace it by one that counts nowhere. What it says about the
number of rows is then nothing, and the page names it. The other way round two steps are needed, one row removed and one
added: (e, d) twice is (2 e, (1 + exp e) d), by group privacy (Dwork and Roth 2014, Theorem 2.2 and its proof for delta).
"""

import math

ADD_REMOVE, REPLACE = "add-remove", "replace"


def given(epsilon: float, delta: float, *, promised: str, wanted: str) -> tuple[float, float]:
    """What a tool that promises one relation may spend, so that the other one holds at (epsilon, delta).

    >>> given(1.0, 1e-6, promised=ADD_REMOVE, wanted=ADD_REMOVE)
    (1.0, 1e-06)
    >>> given(1.0, 1e-6, promised=ADD_REMOVE, wanted=REPLACE)[0]
    0.5
    """
    for relation in (promised, wanted):
        if relation not in (ADD_REMOVE, REPLACE):
            raise ValueError(f"neighbours {relation!r} are unknown; they are {ADD_REMOVE!r} or {REPLACE!r}")
    if (promised, wanted) == (ADD_REMOVE, REPLACE):
        return epsilon / 2, delta / (1 + math.exp(epsilon / 2))
    return epsilon, delta
