"""Synthetic rows in parts: as many as a disk holds, in memory that does not grow with them, by all cores.

Part k is drawn with a key of its own, (seed, ..., k), so it comes out the same whoever draws it, alone or among others. It is
written under another name, flushed to the disk and then renamed: a part that was not finished is never taken for one. What is
in the folder is enough to go on after a stop: the saved model, and parts.json, which says how many rows there are to be.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from errno import EDQUOT, ENOSPC
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sundog.domain import Schema
from sundog.domain.constraints.kinds import Determines
from sundog.domain.rows import Rows
from sundog.errors import UserError
from sundog.json_files import read_json
from sundog.sizes import MOST_ROWS, memory, whole_number

if TYPE_CHECKING:
    import pyarrow as pa

    from sundog.released import Released

PART_ROWS = 500_000
MANY_ROWS = 10_000_000
"""A Parquet release of more rows comes in parts."""
PROCESS_BYTES = 700_000_000
"""What a process that draws parts may need; there are no more of them than fit into memory."""
RECORD = "parts.json"


class Drawing(Protocol):
    """A model: what was released, and rows of any part."""

    @property
    def released(self) -> "Released":
        """What it was fitted to."""

    def part(self, part: int, rows: int, *, seed: int | None, where: str | None) -> Rows:
        """Encoded rows of one of many parts."""


Load = Callable[[Path], Any]
"""Reads a saved model."""


@dataclass(frozen=True)
class Parts:
    """How many rows there are in all and per part, the seed of the draw (None: the model's), and a condition on the rows."""

    rows: int
    part_rows: int = PART_ROWS
    seed: int | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        whole_number("rows", self.rows, most=MOST_ROWS)
        whole_number("rows per part", self.part_rows, most=MANY_ROWS)

    @property
    def count(self) -> int:
        """The number of parts."""
        return -(-self.rows // self.part_rows)

    def size(self, part: int) -> int:
        """The rows of one part."""
        return min(self.part_rows, self.rows - part * self.part_rows)

    @property
    def names(self) -> list[str]:
        """The files of all parts."""
        width = max(len(str(self.count - 1)), 5)
        return [f"synthetic.part-{part:0{width}d}.parquet" for part in range(self.count)]


def check_parts(model: Drawing) -> None:
    """Refuse what only a table as a whole can have: weights, and dependencies that are learned from its rows."""
    if model.released.adjustments:
        raise UserError(
            "rows: a release that was adjusted is one table of weighted rows; ask for fewer rows, in one table."
        )
    for rule in _learned(model.released.schema):
        raise UserError(
            f"rows: the constraint {rule.name!r} follows what is most common among the rows of one table, in which parts would "
            "differ; declare its whole map, or ask for fewer rows, in one table."
        )


def _learned(schema: Schema) -> Iterator[Determines]:
    """Dependencies whose public map does not say all."""
    for rule in schema.constraints:
        if isinstance(rule, Determines):
            known = {given for given, _ in rule.mapping}
            if len(rule.by) > 1 or len(known) < schema.column(rule.by[0]).size:
                yield rule


def drawn(model: Drawing, parts: Parts, part: int) -> "pa.Table":
    """One part; identifiers are numbered on from the part before."""
    rows = model.part(part, parts.size(part), seed=parts.seed, where=parts.where)
    return rows.to_arrow(before=part * parts.part_rows, total=parts.rows)


def write_parts(
    folder: Path, parts: Parts, *, load: Load, report: Callable[[str], None], workers: int | None = None
) -> Iterator[str]:
    """Draw and write the parts that are not there yet, from the model that is saved in the folder, which `load` reads.

    Each one's name is given once it is there.
    """
    names = parts.names
    _model.cache_clear()  # the folder may have held another model before
    for left in folder.glob("synthetic.unfinished-*"):
        left.unlink()
    wanted = [part for part, name in enumerate(names) if not (folder / name).exists()]
    done = parts.count - len(wanted)
    for part in _written(folder, parts, wanted, load=load, workers=workers or _workers(len(wanted))):
        done += 1
        report(f"sampling, {done} of {parts.count} parts")
        yield names[part]


def _written(folder: Path, parts: Parts, wanted: list[int], *, load: Load, workers: int) -> Iterator[int]:
    if workers <= 1:
        yield from (write_part(folder, parts, part, load) for part in wanted)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        yield from pool.map(write_part, *zip(*((folder, parts, part, load) for part in wanted), strict=True))
    except BrokenProcessPool:
        raise UserError(
            "a process that draws rows was ended, probably for lack of memory; go on with --resume where there is more of it."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def write_part(folder: Path, parts: Parts, part: int, load: Load) -> int:
    """Draw one part, and write it whole or not at all."""
    from pyarrow import parquet

    name = parts.names[part]
    unfinished = folder / name.replace("part-", "unfinished-")
    table = drawn(_model(folder, load), parts, part)
    try:
        with open(unfinished, "wb") as file:
            parquet.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, folder / name)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        if error.errno not in (ENOSPC, EDQUOT):
            raise
        raise UserError(
            f"--out: the disk of {str(folder)!r} is full; the parts that are there are whole. Make room, and go on with --resume."
        ) from None
    return part


@cache
def _model(folder: Path, load: Load) -> Drawing:
    """The model in a folder, read once per process."""
    made: Drawing = load(folder)
    return made


def _workers(parts: int) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(parts, cores, memory() // PROCESS_BYTES))


def save_record(folder: Path, parts: Parts, *, released: "Released") -> None:
    """What is needed to go on: the parts, and a digest of the measurements."""
    text = json.dumps({**asdict(parts), "released": _digest(released)}) + "\n"
    (folder / RECORD).write_bytes(text.encode())


def load_record(folder: Path, *, released: "Released", rows: int | None) -> Parts:
    """The parts that were begun in a folder; refused where the measurements or the number of rows are others."""
    document = read_json(folder / RECORD, what="release in parts", absent="leave out --resume to begin one")
    try:
        parts = Parts(*(document[name] for name in ("rows", "part_rows", "seed", "where")))
        same = document["released"] == _digest(released) and rows in (None, parts.rows)
    except (KeyError, TypeError, UserError):
        raise UserError(f"--resume: {str(folder / RECORD)!r} is damaged; start again with --force.") from None
    if not same:
        raise UserError(
            f"--resume: {str(folder)!r} was begun with other measurements or another number of rows ({parts.rows}); give the same."
        )
    return parts


def _digest(released: "Released") -> str:
    return hashlib.sha256(json.dumps(released.to_json(), sort_keys=True).encode()).hexdigest()
