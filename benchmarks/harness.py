"""What benchmark scripts share: cases in processes of their own, seeds, CPU seconds, memory, results that resume.

A script names its cases and a top-level function `work(settings, seed) -> dict`, and calls `run`. Every case and seed runs in
a fresh process, so that CPU seconds and peak memory are its own, and leaves one JSON file in benchmarks/results/SCRIPT/;
a second call does only what is missing (or failed). `--jobs 8` runs eight at a time: errors are the same, CPU seconds and memory those of a busy machine. What was
measured for the docs lies in docs/evidence/measured.jsonl (record.py), from where it can be laid out again. `markdown`, `bars` and `curves` turn results into a table and pictures, and
`publish` leaves them as NAME.json, NAME.md and NAME.svg in benchmarks/results/.

    cases = [Case("adult-independent", {"dataset": "adult", "method": "independent"})]
    results = run("methods_table", cases, work=work, seeds=range(3))
"""

import argparse
import hashlib
import json
import math
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from threading import Event
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""The public tables beside the project; benchmarks say so where they are absent."""
PROBLEMS: list[str] = []
"""Cases of this process's runs that failed, in words; run.py names them at the end."""
JOBS = {"at once": 1}
"""How many cases this process runs at a time (--jobs)."""
COUNTS = {"measured": 0, "kept": 0}
"""How many results of this process's runs were measured, and how many lay there already."""
LETTER = 6.0
"""The width of a figure in pictures."""
COLOURS = ("#d97a1c", "#2c6fbb", "#5b8c5a", "#a4508b", "#7a6f5d", "#c0392b", "#16808a", "#8e6c8a")

Work = Callable[[Mapping[str, Any], int], Mapping[str, Any]]


@dataclass(frozen=True)
class Case:
    """One line of a table: a name and what the work function needs to know."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def path(self, script: str, seed: int, folder: Path = RESULTS) -> Path:
        """Where its result lies; other settings are another file."""
        mark = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:8]
        return folder / script / f"{self.name}-{mark}-{seed}.json"


def run(
    script: str,
    cases: Sequence[Case],
    *,
    work: Work,
    seeds: Iterable[int] = (0,),
    fresh: bool = False,
    folder: Path = RESULTS,
) -> list[dict[str, Any]]:
    """The results of all cases and seeds, those that exist from their files."""
    wanted = [(case, seed, case.path(script, seed, folder)) for seed in seeds for case in cases]
    missing = [each for each in wanted if fresh or not _done(each[2])]
    COUNTS["measured"] += len(missing)
    COUNTS["kept"] += len(wanted) - len(missing)

    def one(case: Case, seed: int, path: Path) -> None:
        print(f"{script}: {case.name}, seed {seed}", file=sys.stderr, flush=True)
        settings = {"case": case.name, "seed": seed, "settings": dict(case.settings)}
        save(path, settings | measured(work, case.settings, seed))

    _several_at_once(missing, one)
    found = [json.loads(path.read_text(encoding="utf-8")) for _, _, path in wanted]
    for line in found:
        if "error" in line:
            PROBLEMS.append(f"{script}: {line['case']}, seed {line['seed']}: {line['error']}")
            print(PROBLEMS[-1], file=sys.stderr, flush=True)
    return found


def _several_at_once(tasks: Sequence[tuple[Any, ...]], one: Callable[..., None]) -> None:
    """All tasks, as many at a time as asked for; whoever stops one stops all."""
    stopped = Event()

    def unless_stopped(task: tuple[Any, ...]) -> None:
        if stopped.is_set():
            return
        try:
            one(*task)
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(JOBS["at once"]) as pool:
        try:
            for done in [pool.submit(unless_stopped, task) for task in tasks]:
                done.result()
        except BaseException:
            stopped.set()
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _done(path: Path) -> bool:
    """Whether there is a result; a failed run is tried again."""
    return path.exists() and "error" not in json.loads(path.read_text(encoding="utf-8"))


def measured(work: Work, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The work's result, with the CPU seconds and peak memory of the process that did it."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(work, dict(settings), seed, there))
    child.start()
    there.close()
    try:
        outcome = here.recv()
    except EOFError:
        outcome = {"error": "the process died"}
    except BaseException:  # stopped by hand: so is the case
        child.terminate()
        raise
    child.join()
    return outcome | {"machine": machine()}


def _child(work: Work, settings: Mapping[str, Any], seed: int, pipe: Any) -> None:
    start = time.monotonic()
    try:
        outcome: dict[str, Any] = {"result": dict(work(settings, seed))}
    except Exception as error:  # a failed case is a line of the table, not the end of it
        outcome = {"error": f"{type(error).__name__}: {error}"}
    used = resource.getrusage(resource.RUSAGE_SELF)
    scale = 1 if sys.platform == "darwin" else 1024
    outcome |= {
        "cpu_s": round(used.ru_utime + used.ru_stime, 3),
        "wall_s": round(time.monotonic() - start, 3),
        "rss_mb": round(used.ru_maxrss * scale / 2**20, 1),
    }
    pipe.send(outcome)
    pipe.close()


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    from sundog.version import __version__

    return {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "sundog": __version__,
    }


def save(path: Path, document: Mapping[str, Any]) -> None:
    """Write a result, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)


def mean_by_case(results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """For every case the means over its seeds of all numbers in `result`, of cpu_s and rss_mb; failed runs are left out."""
    cases: dict[str, list[dict[str, float]]] = {}
    for line in results:
        if "result" in line:
            numbers = {name: value for name, value in line["result"].items() if isinstance(value, int | float)}
            cases.setdefault(line["case"], []).append(numbers | {"cpu_s": line["cpu_s"], "rss_mb": line["rss_mb"]})
    return {
        case: {
            name: statistics.fmean(run[name] for run in runs if name in run)
            for name in dict.fromkeys(n for run in runs for n in run)
        }
        for case, runs in cases.items()
    }


def means(script: str, sizes: Mapping[str, Any], *, work: Work, fresh: bool, first_seed: int = 0) -> dict[str, Any]:
    """The means over the seeds, case by case, and what failed; `sizes` has the cases and the number of seeds."""
    seeds = range(first_seed, first_seed + sizes["seeds"])
    results = run(script, sizes["cases"], work=work, seeds=seeds, fresh=fresh)
    failed = [f"{line['case']}, seed {line['seed']}: {line['error']}" for line in results if "error" in line]
    return {"cases": mean_by_case(results), "failed": failed}


def means_table(result: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    """One line per case, then what failed; or that the public tables are not there."""
    if "absent" in result:
        return f"the public tables are not there ({result['absent']}); nothing was run"
    return "\n\n".join(["", markdown(result["cases"], columns), *result["failed"]])


def markdown(lines: Mapping[str, Mapping[str, float]], columns: Mapping[str, str], *, first: str = "") -> str:
    """A table: one line per case, `columns` maps the numbers' names to headings."""
    head = [first, *columns.values()]
    rows = [head, ["---"] * len(head)] + [
        [case, *(_figure(numbers.get(name)) for name in columns)] for case, numbers in lines.items()
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def options(text: str) -> argparse.ArgumentParser:
    """A parser with what every benchmark takes beside its own options; `text` is its description."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="run again what has results already")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--full", action="store_true", help="everything, whatever other options say: hours")
    return parser


def command(
    parser: argparse.ArgumentParser,
    *,
    run: Callable[..., Any],
    table: Callable[[Any], str],
    sizes: Callable[[dict[str, Any]], Any] = lambda given: given,
) -> None:
    """Run one benchmark by itself; `sizes` turns the options given into what its `run` takes, --full is its FULL."""
    given = vars(parser.parse_args())
    as_json, fresh, full = given.pop("json"), given.pop("fresh"), given.pop("full")
    JOBS["at once"] = max(1, given.pop("jobs"))
    result = run(sys.modules[run.__module__].FULL if full else sizes(given), fresh=fresh)
    print(json.dumps(result) if as_json else table(result))


def of_parts(parts: Mapping[str, Sequence[Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Sizes for a benchmark whose option --parts names lists of cases."""
    return lambda given: {"cases": [case for part in given["parts"] for case in parts[part]], "seeds": given["seeds"]}


def publish(name: str, result: Mapping[str, Any], *, table: str, picture: str, folder: Path = RESULTS) -> None:
    """Leave a benchmark's result for machines, for people and to look at."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending, text in (("json", json.dumps(result, indent=1) + "\n"), ("md", table + "\n"), ("svg", picture)):
        (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def bars(lines: Mapping[str, Mapping[str, float]], columns: Mapping[str, str]) -> str:
    """A picture: one group of bars per number, one bar per case, each group scaled to its largest."""
    parts, y = _legend(lines), 22.0
    for name, heading in columns.items():
        most = max((abs(numbers.get(name, 0.0)) for numbers in lines.values()), default=0.0) or 1.0
        parts.append(f'<text x="104" y="{y + 6 * len(lines) + 3:.0f}" text-anchor="end">{escape(heading)}</text>')
        for place, numbers in enumerate(lines.values()):
            value = numbers.get(name)
            length = 0.0 if value is None else 420 * abs(value) / most
            top = y + 12 * place
            parts.append(f'<rect x="110" y="{top:.0f}" width="{length:.1f}" height="10" fill="{COLOURS[place % 8]}"/>')
            parts.append(f'<text x="{114 + length:.1f}" y="{top + 9:.0f}">{_figure(value)}</text>')
        y += 12 * len(lines) + 8
    width = max(620, 20 + 150 * len(lines))
    return _svg(parts, width=width, height=y)


def curves(series: Mapping[str, Mapping[float, float]], *, x: str, y: str, log_x: bool = False) -> str:
    """A picture: one line per series over the numbers it maps, from zero upwards; `log_x` where they span decades."""
    along = sorted({float(at) for points in series.values() for at in points})
    most = max((float(value) for points in series.values() for value in points.values()), default=0.0) or 1.0
    scale = math.log10 if log_x else float
    first, last = scale(along[0]), scale(along[-1])

    def place(at: float, value: float) -> tuple[float, float]:
        return 60 + 520 * (scale(float(at)) - first) / ((last - first) or 1.0), 250 - 210 * float(value) / most

    parts = _legend(series)
    parts.append('<path d="M60 40V250H580" fill="none" stroke="#99a"/>')
    end = 0.0  # numbers that would touch the one before are left out
    for left, text in ((place(at, 0)[0], _figure(at)) for at in along):
        if left - LETTER * len(text) / 2 >= end:
            parts.append(f'<text x="{left:.1f}" y="264" text-anchor="middle">{text}</text>')
            end = left + LETTER * (len(text) / 2 + 1)
    for share in (0.5, 1.0):
        height = place(along[0], share * most)[1]
        parts.append(f'<text x="56" y="{height + 3:.1f}" text-anchor="end">{_figure(share * most)}</text>')
    parts.append(f'<text x="320" y="280" text-anchor="middle">{escape(x)}</text><text x="60" y="32">{escape(y)}</text>')
    for number, points in enumerate(series.values()):
        marks = [place(at, value) for at, value in sorted(points.items(), key=lambda point: float(point[0]))]
        joined = " ".join(f"{left:.1f},{top:.1f}" for left, top in marks)
        colour = COLOURS[number % 8]
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{left:.1f}" cy="{top:.1f}" r="2.5" fill="{colour}"/>' for left, top in marks]
    return _svg(parts, width=max(620, 20 + 150 * len(series)), height=290)


def _legend(names: Iterable[str]) -> list[str]:
    return [
        f'<rect x="{10 + 150 * place}" y="4" width="10" height="10" fill="{COLOURS[place % 8]}"/>'
        f'<text x="{24 + 150 * place}" y="13">{escape(name)}</text>'
        for place, name in enumerate(names)
    ]


def _svg(parts: Iterable[str], *, width: float, height: float) -> str:
    style = "<style>text{font:10px sans-serif;fill:#667}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}">{style}{"".join(parts)}</svg>\n'
