"""The files of a release, in one table: what each is, and what it is made from. Nothing else may lie in a release folder.

`made` says how `sundog verify` checks a file, beyond its SHA-256:

- measured: the noisy measurements, from which everything else follows; they are read and compared with the certificate.
- recorded: what the run was asked for, or was given; it is read, and what follows from it is made again.
- stated: text that follows from the measurements and the record; it is written again.
- drawn: what is fitted and drawn; it is fitted and drawn again, with the recorded method and seed.
- matched: made from a table that is not in the folder, so it cannot be made again.
- signature: checked with the public key.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Made = Literal["measured", "recorded", "stated", "drawn", "matched", "signature"]


@dataclass(frozen=True)
class ReleaseFile:
    """A file of a release: what README.txt says of it, the studio's title, and whether a model without rows has it too."""

    name: str
    made: Made
    about: str
    title: str = ""
    saved: bool = False


_TABLE = "The synthetic table"
FILES: dict[str, ReleaseFile] = {
    each.name: each
    for each in (
        ReleaseFile("synthetic.csv", "drawn", "the synthetic rows, one per line, with a header", _TABLE),
        ReleaseFile("synthetic.parquet", "drawn", "the synthetic rows", _TABLE),
        ReleaseFile(
            "parts.json", "recorded", "how the synthetic rows are divided into the files synthetic.part-*.parquet"
        ),
        ReleaseFile(
            "adjusted.csv", "matched", "the synthetic rows, reweighted to match the measures in adjust.json", _TABLE
        ),
        ReleaseFile(
            "adjusted.parquet", "matched", "the synthetic rows, reweighted to match the measures in adjust.json", _TABLE
        ),
        ReleaseFile("adjust.json", "matched", "what the rows were matched to, and how well"),
        ReleaseFile(
            "report.html",
            "drawn",
            "how far the rows can be relied on, column by column and pair by pair",
            "Report: what was released, and how far to rely on it",
        ),
        ReleaseFile(
            "explore.html",
            "drawn",
            "every column and pair with intervals; filter and cross-tabulate the rows in a browser",
            "Explore: ask the release questions",
        ),
        ReleaseFile(
            "certificate.html",
            "stated",
            "what was promised, what was paid, and the SHA-256 of every file here",
            "Certificate: what is claimed, and what was paid",
            saved=True,
        ),
        ReleaseFile("certificate.json", "stated", "the same for machines", "The certificate, for machines", saved=True),
        ReleaseFile(
            "certificate.sig",
            "signature",
            "an Ed25519 signature of certificate.json",
            "The signature of the certificate",
            saved=True,
        ),
        ReleaseFile(
            "released.json",
            "measured",
            "the noisy measurements themselves; everything else was made from them",
            "All measurements",
            saved=True,
        ),
        ReleaseFile("model.json", "recorded", "which method made the rows, and the seed", "The model", saved=True),
        ReleaseFile(
            "fitted.npz",
            "drawn",
            "the fitted model as plain arrays: `sundog answer` and `sundog.load` read it",
            "The fitted model",
            saved=True,
        ),
        ReleaseFile("public.parquet", "recorded", "the public table that the method started from", saved=True),
        ReleaseFile(
            "datapackage.json",
            "stated",
            "columns, types, labels and bounds (Data Package, with Croissant keys)",
            "Description, for machines",
            saved=True,
        ),
        ReleaseFile("README.txt", "stated", "this page", "Description, for people", saved=True),
    )
}
LINKED = re.compile(r"synthetic\.[\w-]+\.(csv|parquet)")
"""One of several synthetic tables, or a part of one."""


def is_release_file(name: str) -> bool:
    """Whether a release may hold a file of this name."""
    return name in FILES or LINKED.fullmatch(name) is not None


def is_table(name: str) -> bool:
    """Whether a file of a release holds synthetic rows."""
    return name.startswith(("synthetic.", "adjusted.")) and is_release_file(name)


def needs_rows(name: str) -> bool:
    """Whether a file is there only where rows were written; a saved model alone does not have it."""
    return is_release_file(name) and not (name in FILES and FILES[name].saved)


def made(name: str) -> Made:
    """What a file of a release is made from."""
    return FILES[name].made if name in FILES else "drawn"


def about(name: str) -> str:
    """What README.txt says of a file."""
    return FILES[name].about if name in FILES else f"the synthetic table {name.split('.')[1]!r}"


def title(name: str) -> str:
    """What the studio calls a file, if it has a name for it."""
    return FILES[name].title if name in FILES else "A synthetic table"


def in_order(names: Iterable[str]) -> list[str]:
    """The files of a release among these names: linked tables and parts first, then in the order of the table."""
    held = set(names)
    return [
        *sorted(name for name in held if name not in FILES and LINKED.fullmatch(name)),
        *(n for n in FILES if n in held),
    ]
