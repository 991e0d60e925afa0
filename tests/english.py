"""Wordings that a native statistician would not write, in lines that a change adds: `python tests/english.py [REVISION]`.

Compares the working tree with a revision (by default the last commit) and names every added line of src, docs, examples,
website and of the pages at the top that has one of them, with plain words to use. Exit code 1 if there is one. Text that
was there before is not judged. A line that has to quote such words ends with "plain: ignore" in a comment.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("src", "docs", "examples", "website", "news", "*.md", ":!*.ipynb", ":!*.jsonl", ":!*.min.js", ":!*.json")
PLAIN = {
    r"(?:is|are|was|were) no (?!longer|more|less|fewer|one|other|greater|larger|smaller|better|worse)\w+": "is not a ...",
    r"whoever": "anyone who, or the noun",
    r"told(?! apart)": "reported, printed, said to",
    r"comes? by": "gets, obtains",
    r"of use": "useful",
    r"let go": "discarded, released",
    r"stands? for": "means, represents",
    r"so many(?! \w+ that)": "this many",
    r"by itself": "automatically, on its own",
    r"likeness": "synthetic data",
}
"""What is found (whole words, any case), and what to write."""
IGNORED = "plain: ignore"


def main(arguments: list[str]) -> int:
    """Print what was found."""
    command = ["git", "diff", "--unified=0", "--no-color", *(arguments or ["HEAD"]), "--", *PLACES]
    diff = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [f"{place}: {found!r}; plainer: {PLAIN[pattern]}" for place, found, pattern in faults(diff)]
    print("\n".join(lines), end="\n" if lines else "", file=sys.stderr)
    return 1 if lines else 0


def faults(diff: str) -> Iterator[tuple[str, str, str]]:
    """FILE:LINE, the words and the pattern of every fault in the added lines of a diff."""
    name, number = "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line.removeprefix("+++ ").removeprefix("b/")
        elif start := re.match(r"@@ -\S+ \+(\d+)", line):
            number = int(start[1])
        elif line.startswith("+"):
            yield from ((f"{name}:{number}", *fault) for fault in _of_line(line[1:]))
            number += 1


def _of_line(line: str) -> Iterator[tuple[str, str]]:
    for pattern in () if IGNORED in line else PLAIN:
        for found in re.finditer(rf"\b(?:{pattern})\b", line, flags=re.IGNORECASE):
            yield found[0], pattern


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
