"""What the checks of the law of physical lines share: files in every form, and the exact answers that reach the noise."""

import atexit
import bz2
import gzip
import io
import zipfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from unittest import mock

import numpy as np
import pyarrow as pa

from privacy.stand_ins import ONE_WAY, TINY, TWO_WAY, MemoryLedger, Recorder
from sundog.domain.dialect import STANDARD, Dialect
from sundog.domain.unit import PrivacyUnit
from sundog.private.accountant import Budget
from sundog.private.curator import Curator, public_rows
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.sources import duck, split, streams, text

ROW = PrivacyUnit("add-remove")


def _zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def _zip(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return packed.getvalue()


PACKED = {"plain": bytes, "gzip": gzip.compress, "bz2": bz2.compress, "zstd": _zstd, "zip": _zip}
ENDINGS = {"plain": "csv", "gzip": "csv.gz", "bz2": "csv.bz2", "zstd": "csv.zst", "zip": "zip"}


@dataclass(frozen=True)
class Form:
    """How lines are stored: the dialect, the header, the bytes that end a line, those that begin a file, and the packing.

    In several files (`glob`), or as one packed member per line (`members`), as appending to a packed file makes them.
    """

    dialect: Dialect = STANDARD
    header: bytes = b"c,other,n"
    line_feed: bytes = b"\n"
    begin: bytes = b""
    packing: str = "plain"
    glob: bool = False
    members: bool = False

    def write(self, folder, lines):
        """The files; the path or pattern that names them."""
        ending = ENDINGS[self.packing]
        for old in folder.iterdir():
            old.unlink()
        parts = [lines[: len(lines) // 2], lines[len(lines) // 2 :]] if self.glob else [lines]
        for number, part in enumerate(parts):
            pieces = [line + self.line_feed for line in [self.begin + self.header, *part]]
            packed = [PACKED[self.packing](piece) for piece in (pieces if self.members else [b"".join(pieces)])]
            (folder / f"{number}.{ending}").write_bytes(b"".join(packed))
        return str(folder / f"*.{ending}" if self.glob else folder / f"0.{ending}")


@cache
def _engine(threads):
    """One for all files, since making one takes longer than reading them."""
    connection = duck.connect()
    connection.execute(f"SET threads = {threads}")
    return connection


atexit.register(_engine.cache_clear)


def _connect(threads):
    return _engine(threads).cursor()


@contextmanager
def reading(*, chunk=1 << 19, rows=8192, threads=2):
    """Blocks of this many bytes, batches of this many rows, an engine of this many threads: nothing may depend on them."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(streams, "CHUNK", chunk))
        stack.enter_context(mock.patch.object(split, "MOST_ROWS", rows))
        stack.enter_context(mock.patch.object(text, "connect", partial(_connect, threads)))
        yield


def answers(data, unit=ROW, *, dialect=STANDARD):
    """The exact answers that reach the noise, and the public number of rows where it is public."""
    count = public_rows(PrivateTable(data, dialect=dialect), TINY, unit=unit) if unit.neighbours == "replace" else None
    spending = Spending(Budget(rho=1.0), "tiny", unit=unit, ledger=MemoryLedger())
    curator = Curator(PrivateTable(data, dialect=dialect), TINY, spending=spending)
    with Recorder(silent=True)() as seen:
        curator.measure([*ONE_WAY, TWO_WAY], 1.0)
    return np.concatenate([call.exact for call in seen.calls]), count


def rows_in(found):
    """How many rows are in the answers."""
    return found[: ONE_WAY[0].size].sum()
