"""explore.html: answers made ahead and packed synthetic rows in one static page, with a small script of our own.

A function of released measurements and synthetic rows: the same two give the same bytes. It loads nothing: style and script
are named by their SHA-256 in the page's content security policy, and everything else is forbidden. Labels reach the page as
JSON in which no character can end a script, and the script writes them as text, never as markup.
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from markupsafe import Markup
from threadpoolctl import threadpool_limits

from sundog.domain.rows import Rows
from sundog.estimate.evidence import Evidence
from sundog.estimate.guesses import NOTHING_KNOWN, Misfit, misfit_of
from sundog.released import Released
from sundog.report.certificate import claim
from sundog.report.explore.codebook import codebook
from sundog.report.explore.columns import CELLS, kept_rows
from sundog.report.explore.document import document_of
from sundog.report.explore.pack import Pack
from sundog.report.explore.tables import Tables, tables_of
from sundog.report.template import STYLE, render, text_of
from sundog.report.words import warning_sentences
from sundog.version import __version__

SCRIPTS = ("explore/unpack.js", "explore/count.js", "explore/conditions.js", "explore/show.js", "explore/controls.js")
STYLES = (STYLE, "explore/explore.css")
MOST_TEXT = 2_600_000
"""This many characters the packed numbers may take; rows are left out until they do."""


def write_explore(released: Released, rows: Rows, path: Path, *, method: str) -> None:
    """Write the page explore.html."""
    path.write_bytes(explore_page(released, rows, method=method).encode())


def explore_page(released: Released, rows: Rows, *, method: str) -> str:
    """The text of the page explore.html."""
    evidence = Evidence(released) if released.tells_rows else None
    with threadpool_limits(limits=1):  # many small products, which threads only slow down
        tables = None if evidence is None else tables_of(evidence, targets=released.schema.targets)
        misfit = Misfit(NOTHING_KNOWN**2, 0.0, 1.0) if evidence is None else misfit_of(evidence, rows)
    document, packed, kept = _fitting(released, rows.widened(), tables=tables, misfit=misfit)
    script = "".join(f"{text_of(name)}\n" for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}}})();'
    style = "".join(text_of(name) for name in STYLES)
    return render(
        "explore.html",
        styles=STYLES,
        policy=_policy(style, script),
        script=Markup(script),  # noqa: S704
        document=Markup(_harmless(document)),  # noqa: S704
        packed=Markup(packed),  # noqa: S704 - base64
        dataset=released.dataset,
        sundog=__version__,
        method=method,
        claim=claim(released.guarantee),
        warnings=warning_sentences(released),
        rows=len(rows),
        kept=kept,
        cut=[(each["name"], each["cut"]) for each in document["columns"] if each["cut"]],
        left_out=[] if tables is None else [" by ".join(pair) for pair in tables.left_out],
        codebook=codebook(released.schema, tables),
    )


def _fitting(
    released: Released, rows: Rows, *, tables: Tables | None, misfit: Misfit
) -> tuple[dict[str, Any], str, int]:
    """The document, the packed numbers and how many rows they hold: as many as a page should."""
    most = min(len(rows), max(CELLS // len(rows.codes), 1))
    while True:
        kept = kept_rows(rows, most)
        pack = Pack()
        document = document_of(released, kept, tables=tables, misfit=misfit, pack=pack)
        text = pack.text()
        if len(text) <= MOST_TEXT or most <= 100:
            return document, text, len(kept)
        most = int(most * 0.95 * MOST_TEXT / len(text))


def _harmless(document: dict[str, Any]) -> str:
    """JSON in ASCII without a sign that could end or open an element."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, script: str) -> str:
    """What the page may do: use this style and this script, and nothing else."""
    return f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
