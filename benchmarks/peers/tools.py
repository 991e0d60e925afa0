"""The tools: where each runs, which adapter speaks to it, what it promises, and what it reads from the rows for free.

A new tool is one adapter, one environment and one line here. The order is that of a run: cheap ones first. What is said about
the others was read in the code of the versions that environments.py pins.
"""

from dataclasses import dataclass

from peers.budget import ADD_REMOVE

NONE = "none"


@dataclass(frozen=True)
class Tool:
    """One line of the comparison."""

    name: str
    environment: str
    adapter: str
    method: str
    neighbours: str
    """The relation that it promises, or NONE for a tool without a promise: a ceiling."""
    accounting: str
    free: str
    """What it reads from the rows without paying, as run here (labels and bounds are declared to all that take them)."""

    @property
    def private(self) -> bool:
        """Whether it promises differential privacy."""
        return self.neighbours != NONE


def _sundog(method: str) -> Tool:
    return Tool(f"sundog {method}", "", "use_sundog.py", method, ADD_REMOVE, "zCDP, exact discrete noise", "nothing")


def _dpmm(method: str, name: str, free: str) -> Tool:
    accounting = "zCDP; selection by floating-point random numbers"
    return Tool(f"dpmm {name}", "dpmm", "use_dpmm.py", method, ADD_REMOVE, accounting, free)


def _smartnoise(method: str, name: str, accounting: str, free: str) -> Tool:
    return Tool(f"smartnoise {name}", "smartnoise", "use_smartnoise.py", method, ADD_REMOVE, accounting, free)


STATIC = "columns with one value, columns with missing values"
TOOLS = (
    _sundog("independent"),
    _sundog("mst"),
    _sundog("auto"),
    _sundog("aim"),
    _dpmm("mst", "MST", STATIC),
    _smartnoise("mst", "MST", "zCDP", "the number of rows"),
    _dpmm("aim", "AIM", STATIC),
    _smartnoise("aim", "AIM", "zCDP", "the number of rows"),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
