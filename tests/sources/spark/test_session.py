"""What stands in the way of Spark is said before anything is spent, with the remedy: exit code 2."""

import json
import socket
import sys

import pytest

import tables
from spark_sessions import needs_spark, run_driver
from sundog.errors import UserError
from sundog.sources.spark import OnSpark, session

BARE = """#!/bin/sh
PYTHONPATH=$(echo "$PYTHONPATH" | tr : '\\n' | grep 'zip$' | paste -s -d :)
export PYTHONPATH
exec {python} -S "$@"
"""
CLI = "import sys; sys.argv = ['sundog', *{arguments!r}]; from sundog.cli.app import main; main()"


def own_java(folder, text):
    path = folder / "bin" / "java"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    path.chmod(0o755)
    return folder


def test_no_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"there is no Java; Spark needs Java 17 or newer.*apt-get install openjdk-17"):
        session._check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UserError, match="there is no Java in JAVA_HOME"):
        session._check_java()


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ('openjdk version "11.0.2" 2019', "found Java 11;"),
        ('java version "1.8.0_401"', "found Java 8;"),
        ("?", "of an unknown version"),
    ],
)
def test_wrong_java(monkeypatch, tmp_path, told, found):
    monkeypatch.setenv("JAVA_HOME", str(own_java(tmp_path, told)))
    with pytest.raises(UserError, match=rf"{found}.*Spark needs Java 17 or newer"):
        session._check_java()


@pytest.mark.parametrize("told", ['openjdk version "17.0.15" 2025', 'openjdk version "21" 2023'])
def test_right_java(monkeypatch, tmp_path, told):
    monkeypatch.setenv("JAVA_HOME", str(own_java(tmp_path, told)))
    session._check_java()


@pytest.mark.parametrize("package", ["pyspark", "pandas"])
def test_no_package(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UserError, match=r"pip install 'sundog\[spark\]'"):
        session.check_packages()


def test_an_old_package(monkeypatch):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyspark")
    monkeypatch.setattr(pandas, "__version__", "2.1.4")
    with pytest.raises(UserError, match=r"pandas 2\.1\.4 is too old"):
        session.check_packages()


@pytest.mark.parametrize("master", ["", "local[x]", "spark:/host", "http://host:7077", "mesos://host"])
def test_no_master_at_all(master):
    with pytest.raises(UserError, match="--master: found"):
        OnSpark("t.parquet", master)


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "local[*]", "local[2,4]", "yarn", "spark://a:1,b:2", "k8s://a:1"]
)
def test_masters(master):
    assert OnSpark("t.parquet", master).master == master


def test_a_master_that_does_not_answer():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, and nobody listens
        master = f"spark://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(UserError, match="nothing answers there"):
            session._check_reachable(f"{master},nowhere")
    with pytest.raises(UserError, match="nothing answers there"):
        session._check_reachable("spark://no port")


@pytest.mark.parametrize(
    ("text", "waited", "said"),
    [
        ("ModuleNotFoundError: No module named 'sundog.sources'", False, "lack the Python package 'sundog'"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", False, "another version of Python"),
        ("Job 0 cancelled", True, "no executor of Spark has started"),
        ("anything", False, "could not run a first small job"),
    ],
)
def test_what_executors_lack(text, waited, said):
    assert said in session._executors_failed(text, waited=waited)


def command(data, schema, *more):
    return ["synthesize", str(data), "--schema", str(schema), "--rho", "1", "--method", "independent", *more]


@pytest.fixture
def given(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT))
    return tables.write_parquet(tmp_path / "t.parquet", tables.table()), tmp_path / "schema.json"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--master", "local[2]"], "add --engine spark"),
        pytest.param(
            ["--engine", "spark", "--master", "spark://127.0.0.1:1"], "nothing answers there", marks=needs_spark
        ),
        (["--engine", "spark", "--sql", "SELECT 1"], "there are no queries"),
        (["--engine", "spark", "--master", "nonsense"], "allowed are local"),
    ],
)
def test_nothing_is_spent_on_a_mistake(given, own_ledger, tmp_path, more, said):
    done = run_driver(CLI.format(arguments=command(*given, *more, "-o", str(tmp_path / "out"))))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not own_ledger.exists() or b"gaussian" not in own_ledger.read_bytes()


class TestExecutors:
    """Those need a session of their own."""

    pytestmark = needs_spark

    def test_executors_without_sundog(self, given, own_ledger, tmp_path):
        """Their Python finds what Spark brings, and nothing else."""
        bare = tmp_path / "bare"
        bare.write_text(BARE.format(python=sys.executable))
        bare.chmod(0o755)
        more = ["--engine", "spark", "--master", "local[2]", "-o", str(tmp_path / "out")]
        done = run_driver(CLI.format(arguments=command(*given, *more)), environment={"PYSPARK_PYTHON": str(bare)})
        assert done.returncode == 2
        assert "lack the Python package" in done.stderr
        assert "PYSPARK_PYTHON" in done.stderr
        assert not own_ledger.exists() or b"gaussian" not in own_ledger.read_bytes()
