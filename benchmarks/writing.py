"""How fast many synthetic rows are written, and in how much memory: `sundog generate --rows N --format parquet`.

    python benchmarks/writing.py [--sizes 1e7 1e8] [--methods auto mst] [--json]

The model is fitted to 100,000 rows of the 15 columns of counting.py; the command then starts from its released.json, so that the
figures hold everything a user waits for. Memory is that of all processes at one moment (proportional set size: shared pages count
once), looked at twice a second. The files are removed again.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import auto_speed
import harness
import psutil
from harness import Case, bars, markdown, mean_by_case, publish

COLUMNS = {
    "rows_per_cpu_s": "rows per CPU s",
    "cpu": "CPU s",
    "wall": "s",
    "peak_mb": "MB, all processes",
    "files": "files",
    "file_mb": "MB on disk",
}
SHORT = {"sizes": ("2e7",), "methods": ("mst",)}
FULL = {"sizes": ("1e7", "1e8"), "methods": ("auto", "mst")}
FITTED = {"rows": 100_000, "columns": 15}
COMMAND = "from sundog.cli.app import main; main()"
LOOK_EVERY_S = 0.5


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Fit, then write and watch."""
    with tempfile.TemporaryDirectory() as folder:
        released, out = Path(folder) / "released.json", Path(folder) / "release"
        harness.measured(fit, {"method": settings["method"], "folder": folder, "released": str(released)}, seed)
        command = [sys.executable, "-c", COMMAND, "generate", str(released), "--method", settings["method"]]
        command += ["--rows", str(settings["rows"]), "--format", "parquet", "--seed", str(seed), "-o", str(out)]
        before, start = _children_cpu(), time.monotonic()
        peak = watched(command)
        cpu, files = _children_cpu() - before, list(out.glob("synthetic*.parquet"))
        return {
            "rows_per_cpu_s": settings["rows"] / cpu,
            "cpu": cpu,
            "wall": time.monotonic() - start,
            "peak_mb": peak,
            "files": len(files),
            "file_mb": sum(file.stat().st_size for file in files) / 1e6,
        }


def fit(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The released measurements, in a process of their own."""
    import sundog

    data = Path(settings["folder"]) / "data.parquet"
    auto_speed.write({**FITTED, "path": str(data)}, seed)
    sundog.Synthesizer(
        auto_speed.document(FITTED["columns"]), method=settings["method"], epsilon=1.0, delta=1e-9, dataset="writing",
        ledger=Path(settings["folder"]) / "ledger.db",
    ).fit(str(data)).released.save(Path(settings["released"]))  # fmt: skip
    return {}


def watched(command: list[str]) -> float:
    """Run it; the most memory that it and all below it held at one moment, in MB."""
    peak = 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        while child.poll() is None:
            peak = max(peak, _held_mb(child.pid))
            time.sleep(LOOK_EVERY_S)
    if child.returncode:
        raise RuntimeError(f"exit code {child.returncode}")
    return peak


def _held_mb(pid: int) -> float:
    held = 0
    try:
        top = psutil.Process(pid)
        for process in (top, *top.children(recursive=True)):
            held += process.memory_full_info().pss
    except psutil.Error:  # it ended while we looked
        pass
    return held / 2**20


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """One line per method and number of rows."""
    cases = [
        Case(f"{method} {rows}", {"method": method, "rows": int(float(rows))})
        for rows in sizes["sizes"]
        for method in sizes["methods"]
    ]
    result = mean_by_case(harness.run("writing", cases, work=work, fresh=fresh))
    publish("writing", result, table=table(result), picture=bars(result, {"cpu": "CPU s", "peak_mb": "MB"}))
    return result


def table(result: Mapping[str, Any]) -> str:
    """Markdown."""
    return markdown(result, COLUMNS, first="method and rows")


def main() -> None:
    """Run what was asked for."""
    parser = harness.options(__doc__)
    parser.add_argument("--sizes", nargs="+", default=list(SHORT["sizes"]), metavar="ROWS")
    parser.add_argument("--methods", nargs="+", default=list(SHORT["methods"]))
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
