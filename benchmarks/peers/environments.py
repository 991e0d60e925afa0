"""One virtual environment per tool, made by uv under .peers, from built packages only (nothing is compiled).

    python benchmarks/peers/environments.py [NAME ...]

`packages` are what a tool needs; `instead` replaces what it asks for: a PyTorch without CUDA, and packages that exist only as
source and that tables do not need (left out by a marker that never holds). What cannot be installed in `LIMIT_S` is dropped.
UV_FIND_LINKS and the like name other places to look for packages. Sundog and our own trees run where this script runs.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = ROOT / ".peers"
PYTHON = "3.11"
LIMIT_S = 600
TORCH = "torch==2.13.0"


def _without(package: str) -> str:
    return f"{package}; python_version < '3'"


@dataclass(frozen=True)
class Environment:
    """What is installed in it."""

    packages: tuple[str, ...]
    instead: tuple[str, ...] = ()


ENVIRONMENTS = {
    "dpmm": Environment(("dpmm==0.1.9", "pyarrow<19")),
    "smartnoise": Environment(
        ("smartnoise-synth==1.0.8", "packaging", "pyarrow", TORCH), (TORCH, "antlr4-python3-runtime>=4.13")
    ),
    "synthcity": Environment(
        ("synthcity==0.2.12", "pgmpy<1", "numpy<2", "scipy<1.14", "pyarrow<19"),
        (
            TORCH,
            "scikit-learn<1.4",
            *(_without(package) for package in ("nflows", "pykeops", "feather-format", "arfpy", "torchvision")),
        ),
    ),
    "mostlyai": Environment(("mostlyai-engine==2.7.3", "pyarrow", TORCH), (TORCH, _without("torchvision"))),
    "sdv": Environment(("sdv==2.0.0", "pyarrow", TORCH)),
    "datasynthesizer": Environment(("DataSynthesizer==0.1.13", "pandas<2.2", "numpy<2", "pyarrow<19")),
}


def interpreter(name: str) -> Path:
    """The Python of an environment; our own for "" (Sundog, and trees by scikit-learn)."""
    return MADE / name / "bin" / "python" if name else Path(sys.executable)


def make(name: str) -> str:
    """Make an environment, or say why it cannot be made; nothing where it is made already."""
    wanted, mark = ENVIRONMENTS[name], MADE / f"{name}.txt"
    text = "\n".join((*wanted.packages, "instead:", *wanted.instead)) + "\n"
    if mark.exists() and mark.read_text(encoding="utf-8") == text and interpreter(name).exists():
        return ""
    MADE.mkdir(exist_ok=True)
    overrides = MADE / f"{name}-instead.txt"
    overrides.write_text("\n".join(wanted.instead) + "\n", encoding="utf-8")
    into = ("pip", "install", "--python", str(interpreter(name)), "--no-build", "--override", str(overrides))
    for step in (("venv", "--clear", "--python", PYTHON, str(MADE / name)), (*into, *wanted.packages)):
        try:
            done = subprocess.run(
                [sys.executable, "-m", "uv", *step], timeout=LIMIT_S, capture_output=True, text=True, check=False
            )
        except subprocess.TimeoutExpired:
            return f"{name}: not installed within {LIMIT_S // 60} minutes"
        if done.returncode:
            return f"{name}: cannot be installed: {done.stderr.strip().splitlines()[-1]}"
    mark.write_text(text, encoding="utf-8")
    return ""


def main() -> int:
    """Make the environments named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of: {', '.join(ENVIRONMENTS)} (default: all)")
    names = parser.parse_args().names or list(ENVIRONMENTS)
    unknown = [name for name in names if name not in ENVIRONMENTS]
    if unknown:
        parser.error(f"environment {unknown[0]!r} is unknown; environments are {', '.join(ENVIRONMENTS)}")
    problems = [problem for name in names if (problem := make(name))]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
