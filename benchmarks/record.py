"""Keep the results of benchmarks beside the docs that quote them, and lay them out again in another clone.

    python benchmarks/record.py keep [SCRIPT ...]    results/ -> docs/evidence/measured.jsonl, one line per case and seed
    python benchmarks/record.py lay [SCRIPT ...]     and back, so that a benchmark does only what is missing

A line has what results/SCRIPT/CASE.json has, and the commit at which it was kept. A later result of the same case and seed takes the
place of an earlier one. Failed runs are not kept. Nothing that is laid out replaces a result that is there.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness import RESULTS, Case, save

STORE = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "measured.jsonl"


def keep(scripts: Sequence[str], *, results: Path = RESULTS, store: Path = STORE) -> int:
    """Add all results of these benchmarks (of all, if none is named); how many."""
    found = [
        {"script": path.parent.name} | json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(results.glob("*/*.json"))
        if not scripts or path.parent.name in scripts
    ]
    found = [line | {"commit": _commit()} for line in found if "result" in line]
    lines = {_name(line): line for line in _lines(store)}
    new = {_name(line): line for line in found if not _same(line, lines.get(_name(line)))}
    lines |= new
    text = "".join(json.dumps(lines[name], sort_keys=True) + "\n" for name in sorted(lines))
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(text, encoding="utf-8")
    return len(new)


def lay(scripts: Sequence[str], *, results: Path = RESULTS, store: Path = STORE) -> int:
    """Write the kept results of these benchmarks where they look for them; how many were not there."""
    count = 0
    for line in _lines(store):
        path = _path(line, results)
        if (not scripts or line["script"] in scripts) and not path.exists():
            save(path, {key: value for key, value in line.items() if key not in ("script", "commit")})
            count += 1
    return count


def _lines(store: Path) -> Iterator[dict[str, Any]]:
    if store.exists():
        yield from map(json.loads, store.read_text(encoding="utf-8").splitlines())


def _path(line: dict[str, Any], results: Path) -> Path:
    return Case(line["case"], line["settings"]).path(line["script"], line["seed"], results)


def _name(line: dict[str, Any]) -> str:
    return str(_path(line, Path()))


def _same(line: dict[str, Any], other: dict[str, Any] | None) -> bool:
    return other is not None and line | {"commit": other["commit"]} == other


def _commit() -> str:
    asked = ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def main() -> None:
    """Keep or lay out."""
    parser = argparse.ArgumentParser(description="Results of benchmarks, beside the docs.")
    parser.add_argument("what", choices=("keep", "lay"))
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help="folders of results/ (default: all)")
    given = parser.parse_args()
    count = (keep if given.what == "keep" else lay)(given.scripts)
    print(f"{count} results {'kept' if given.what == 'keep' else 'laid out'}")


if __name__ == "__main__":
    main()
