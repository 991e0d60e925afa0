"""The results file: one line of JSON per finished cell, so that a run that was stopped goes on where it was."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One tool on one table at one epsilon (0 for tools without a promise) with one seed."""

    tool: str
    table: str
    epsilon: float
    seed: int


@dataclass
class Store:
    """What is known about each cell; the last line about a cell holds."""

    path: Path
    found: dict[Cell, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self._lines():
            self.found[Cell(**line["cell"])] = line["result"]

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        for text in self.path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(text)
            except json.JSONDecodeError:  # cut off while it was written: that cell is run again
                continue

    def keep(self, cell: Cell, result: dict[str, Any]) -> None:
        """Write a finished cell down, at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        cut_off = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(("\n" if cut_off else "") + json.dumps({"cell": asdict(cell), "result": result}) + "\n")
        self.found[cell] = result

    def listed(self) -> list[dict[str, Any]]:
        """Every cell with its result, in one dictionary each."""
        return [asdict(cell) | result for cell, result in self.found.items()]
