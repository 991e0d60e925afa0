"""What `make demo` runs: a made-up table, its schema, a differentially private likeness of it, and a certificate.

Everything goes into the folder demo-output, the ledger too; run it as often as you like. Each run spends the budget once
more, and the ledger adds it up, as it would for real data.
"""

import csv
import shlex
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import clinic_visits
import patients_and_visits

ROWS, SEED = 20_000, 1
OUT = Path("demo-output")
LEDGER = OUT / "ledger.sqlite"
RESULT = OUT / "likeness"
LINKED = OUT / "linked-likeness"
PATIENTS = 4_000
PRIVACY = ["--epsilon", "1", "--delta", "1e-9"]


def main() -> None:
    """The whole way, step by step."""
    print(f"1. A made-up table of {ROWS} clinic visits stands in for the private data.\n")
    data, schema = clinic_visits.write(OUT, rows=ROWS, seed=SEED)
    print(f"   {data}\n   {schema} (the public schema: labels and round bounds)\n")
    print("2. A likeness of it, at epsilon 1 for each visit:\n")
    places = ["--ledger", str(LEDGER), "-o", str(RESULT), "--force"]
    sundog("synthesize", str(data), "--schema", str(schema), *PRIVACY, *places)
    print("\n3. What the ledger remembers, over all runs of this demo:\n")
    sundog("ledger", "show", "clinic_visits", "--ledger", str(LEDGER))
    print("\n4. A glance at the synthetic rows (nobody in them exists; each column is one row):\n")
    print(glance(RESULT / "synthetic.csv"))
    print(f"\nThe synthetic table:  {RESULT / 'synthetic.csv'}")
    print(f"How good it is:       {RESULT / 'report.html'} (open it in a browser)")
    print(f"The certificate:      {RESULT / 'certificate.html'} (open it in a browser)")
    print(
        f"\n5. Linked tables: {PATIENTS} made-up patients and their visits, at epsilon 1 for each patient with all visits:\n"
    )
    package = patients_and_visits.write(OUT / "linked", patients=PATIENTS, seed=SEED)
    places = ["--ledger", str(LEDGER), "-o", str(LINKED), "--force"]
    sundog("synthesize", str(package), *PRIVACY, *places)
    print("\n   The first visits of synthetic patients, in order of time:\n")
    print(glance(LINKED / "synthetic.visits.csv", rows=6))
    print("Next: sundog docs, or sundog help")


def sundog(*arguments: str) -> None:
    """Run the command as a user would, after showing it; if it fails, so does the demo."""
    command = shutil.which("sundog", path=str(Path(sys.executable).parent))
    if command is None:
        sys.exit("The sundog command is not installed beside this Python; set it up with: make demo")
    print(f"   $ {shlex.join(['sundog', *arguments])}\n", flush=True)
    done = subprocess.run([command, *arguments], check=False, text=True, stdout=subprocess.PIPE)
    print("".join(f"   {line}\n" for line in done.stdout.splitlines()), end="")
    if done.returncode:
        sys.exit(done.returncode)


def glance(path: Path, rows: int = 4) -> str:
    """The first rows of a CSV file, on their side."""
    with path.open(encoding="utf-8", newline="") as file:
        table = list(islice(csv.reader(file), rows + 1))
    widths = [max(len(cell) for cell in row) for row in table]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(column, widths, strict=True))
        for column in zip(*table, strict=True)
    ]
    return "\n".join(f"   {line}".rstrip() for line in lines)


if __name__ == "__main__":
    main()
