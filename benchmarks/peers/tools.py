"""The tools: where each runs, which adapter speaks to it, what it promises, and what it reads from the rows for free.

A new tool is one adapter, one environment and one line here. The order is that of a run: cheap ones first. What is said about
the others was read in the code of the versions that environments.py pins.
"""

from dataclasses import dataclass

from peers.budget import ADD_REMOVE, REPLACE

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


def _synthcity(method: str, name: str, neighbours: str, accounting: str, free: str) -> Tool:
    return Tool(f"synthcity {name}", "synthcity", "use_synthcity.py", method, neighbours, accounting, free)


STATIC = "which columns have one value, or missing ones"
DOMAIN = "labels, ranges and the encoders of all columns"
ALL = "everything"
TOOLS = (
    _sundog("auto"),
    _sundog("independent"),
    Tool("trees (synthpop-like)", "", "use_trees.py", "trees", NONE, "no promise", ALL),
    Tool(
        "DataSynthesizer PrivBayes", "datasynthesizer", "use_datasynthesizer.py", "privbayes", ADD_REMOVE, "pure epsilon",
        "the number of rows; the labels that occur; its description file holds every column's histogram at epsilon once more",
    ),
    Tool("SDV copula", "sdv", "use_sdv.py", "copula", NONE, "no promise", ALL),
    _sundog("mst"),
    _sundog("aim"),
    _synthcity(
        "privbayes", "PrivBayes", REPLACE, "pure epsilon",
        f"{DOMAIN}; which cells are empty; noise made for shares (divided by the number of rows) is added to counts",
    ),
    _dpmm(
        "privbayes", "PrivBayes",
        f"{STATIC}; the number of rows; scores are normalised, noise is that of scores that are not",
    ),
    _smartnoise("mst", "MST", "zCDP", "the number of rows"),
    _dpmm("mst", "MST", STATIC),
    Tool(
        "MOSTLY AI", "mostlyai", "use_mostlyai.py", "argn", ADD_REMOVE, "RDP of DP-SGD",
        "the number of rows; when to stop (a validation loss on held-out rows)",
    ),
    _smartnoise(
        "patectgan", "PATE-CTGAN", "moments accountant of PATE",
        "the number of rows; how often each label occurs; teachers and student are one network, which learns from the rows",
    ),
    _synthcity(
        "pategan", "PATE-GAN", ADD_REMOVE, "moments accountant of PATE",
        f"{DOMAIN}; delta is set from the number of rows; the student learns from the rows too",
    ),
    _synthcity("dpgan", "DP-GAN", ADD_REMOVE, "RDP of DP-SGD", f"{DOMAIN}; when to stop (a detector on held-out rows)"),
    _smartnoise("dpctgan", "DP-CTGAN", "RDP of DP-SGD", "the number of rows; how often each label occurs"),
    _smartnoise("aim", "AIM", "zCDP", "nothing"),
    _dpmm("aim", "AIM", STATIC),
    Tool("SDV CTGAN", "sdv", "use_sdv.py", "ctgan", NONE, "no promise", ALL),
)  # fmt: skip
BY_NAME = {tool.name: tool for tool in TOOLS}
