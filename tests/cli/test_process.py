"""The command as a process of its own: how fast it answers, what it loads, and how it is interrupted."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest

import tables

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
        _, stderr = process.communicate(timeout=60)
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


def test_an_interruption_before_anything_was_paid_for_leaves_nothing(place):
    patch = "from sundog.private.ledger import Ledger\nLedger.charge = pause"
    code, stderr = interrupt(place, patch, ARGUMENTS)
    assert code == 130
    assert "Traceback" not in stderr
    assert "Kept" not in stderr
    assert list((place / "out").iterdir()) == []


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
