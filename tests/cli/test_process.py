"""The command as a process of its own: how fast it answers, what it loads, and how it is interrupted."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest

import tables
from sundog import Ledger

RUN = [sys.executable, "-c", "import sys; sys.argv[0] = 'sundog'; from sundog.cli.app import main; main()"]
HEAVY = ("jax", "numba", "duckdb", "opendp", "pyarrow", "numpy", "scipy", "pandas", "polars", "jinja2", "mbi")


@pytest.fixture
def place(tmp_path):
    tables.write_csv(tmp_path / "data.csv", tables.table(100))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    return tmp_path


def test_help_answers_within_half_a_second():
    """Processor time, so that a busy machine does not matter; the best of five."""

    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*RUN, "--help"], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert "synthesize" in done.stdout
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    taken = [seconds() for _ in range(5)]
    assert min(taken) < 0.5, taken


@pytest.mark.parametrize("arguments", [["--help"], ["synthesize", "--help"], ["schema", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments):
    script = (
        "import sys, contextlib, io\n"
        f"sys.argv = ['sundog', *{arguments!r}]\n"
        "from sundog.cli.app import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "typer" in loaded
    assert not loaded & set(HEAVY), loaded & set(HEAVY)


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, sundog; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & set(HEAVY)


def test_wrong_words_end_with_2_and_no_traceback(place):
    done = subprocess.run([*RUN, "synthesize", "absent.csv"], capture_output=True, text=True, cwd=place, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("methods > /dev/full", 2),
        ("synthesize data.csv --schema schema.json --json > /dev/full 2> /dev/full", 2),
        ("methods | true", 141),
        *(
            pytest.param(words, code, marks=pytest.mark.long)
            for words, code in (
                ("methods >&-", 0),
                ("synthesize data.csv 2>&-", 2),
                ("synthesize data.csv 2> /dev/full", 2),
                ("synthesize data.csv --schema schema.json 2> /dev/full", 2),
                ("synthesize data.csv --schema schema.json --json > /dev/full", 2),
            )
        ),
    ],
)
def test_where_nobody_can_be_told_the_exit_code_still_tells(place, words, code):
    script = 'set -o pipefail; "$0" -c "$1" ' + words
    done = subprocess.run(
        ["bash", "-c", script, *RUN[:1], RUN[2]], capture_output=True, text=True, cwd=place, check=False
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["synthesize", pytest.param("measure", marks=pytest.mark.long)])
def test_what_was_paid_for_and_cannot_be_kept_is_said(place, command):
    """A disk that is full when the measurements are written: exit code 2, the file's name, no half of a file."""
    script = (
        "import os, sys\n"
        "from sundog import json_files\n"
        "def full(_):\n"
        "    raise OSError(28, 'No space left on device')\n"
        "json_files.os = type('Full', (), {'fsync': full, 'replace': os.replace})\n" + RUN[2]
    )
    given = ["data.csv", "--schema", "schema.json", "--rho", "0.5", "--method", "independent", "-o", "out"]
    done = subprocess.run(
        [sys.executable, "-c", script, command, *given], capture_output=True, text=True, cwd=place, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "stays charged, and could not be kept" in done.stderr
    assert "No space left on device" in done.stderr
    assert "out" in done.stderr
    assert not [path for path in place.rglob("out*/**/*") if path.is_file()]
    assert float(Ledger(os.environ["SUNDOG_LEDGER"]).account("clinic").exact_rho) == pytest.approx(0.5)


def interrupt(place, patch, arguments):
    """Run with a patch that says where it pauses, and interrupt it there."""
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a suite in the background would ignore it
        "def pause(*_, **__):\n"
        "    print('paused', flush=True)\n"
        "    time.sleep(120)\n"
        f"{patch}\n"
        f"sys.argv = ['sundog', *{arguments!r}]\n"
        "from sundog.cli.app import main\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"SUNDOG_LEDGER": str(place / "ledger.sqlite")},
    )
    try:
        assert process.stdout.readline() == "paused\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=600)
    finally:
        process.kill()
        process.communicate()
    return process.returncode, stderr


ARGUMENTS = [
    "synthesize",
    "data.csv",
    "--schema",
    "schema.json",
    "--rho",
    "0.1",
    "--method",
    "independent",
    "-o",
    "out",
]


def test_an_interruption_keeps_what_was_paid_for(place):
    patch = "from sundog.generate import Independent\nIndependent.fit = pause"
    code, stderr = interrupt(place, patch, ARGUMENTS)
    assert code == 130
    assert "Traceback" not in stderr
    assert "Kept the measurements that were paid for: out/released.json" in stderr
    assert not (place / "out" / "synthetic.csv").exists()
    done = subprocess.run(
        [*RUN, "generate", "out/released.json", "--method", "independent", "-o", "made"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_an_interruption_before_anything_was_paid_for_leaves_nothing(place):
    patch = "from sundog.private.ledger import Ledger\nLedger.charge = pause"
    code, stderr = interrupt(place, patch, ARGUMENTS)
    assert code == 130
    assert "Traceback" not in stderr
    assert "Kept" not in stderr
    assert list((place / "out").iterdir()) == []


@pytest.mark.long
def test_an_interruption_while_the_engine_reads(place):
    import duckdb

    with duckdb.connect(str(place / "data.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    (place / "long.json").write_text(
        json.dumps({"fields": [{"name": "a", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}]})
    )
    arguments = ["measure", "data.duckdb", "--sql", "SELECT i % 9 AS a FROM range(100000000000) t(i)", "--schema"]
    patch = (  # the first batches load what is loaded late, some of which loses an interruption
        "from sundog.sources.duck import DuckTable\n"
        "stream = DuckTable._stream\n"
        "def told(*given):\n"
        "    for k, batch in enumerate(stream(*given)):\n"
        "        if k == 2:\n"
        "            print('paused', flush=True)\n"
        "        yield batch\n"
        "DuckTable._stream = told"
    )
    code, stderr = interrupt(
        place, patch, [*arguments, "long.json", "--rho", "1", "--method", "independent", "-o", "r.json"]
    )
    assert code == 130
    assert stderr == "Error: interrupted.\n"
    assert not (place / "r.json").exists()
