"""Spark for tests: one local session per process, and a cluster of one master and two workers. Importable as `spark_sessions`."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

ABSENT = (
    "pyspark is not installed (pip install 'sundog[spark]')"
    if find_spec("pyspark") is None
    else "there is no Java here (make spark installs it where it may)"
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None
    else ""
)
needs_spark = [pytest.mark.spark, pytest.mark.skipif(bool(ABSENT), reason=ABSENT), pytest.mark.filterwarnings("ignore")]
"""What a file of such tests declares as its `pytestmark`."""
STARTED_WITHIN = 90.0


@pytest.fixture(scope="module")
def spark():
    """A session on two cores in which a task may fail three times; it lives as long as the process."""
    from sundog.sources.spark import session

    return session.start("local[2,4]")


def frame_of(spark, path):
    """The Spark DataFrame of a Parquet file."""
    return spark.read.parquet(f"file://{path}")


class Cluster:
    """A standalone cluster on this machine, each worker with one core."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder, self.processes = folder, []
        self.launcher = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.port = _free_port()
        self.address = f"spark://127.0.0.1:{self.port}"

    def start(self, workers: int = 2) -> None:
        ui = ["--webui-port", "0"]
        self._launch("master.Master", "--host", "127.0.0.1", "--port", str(self.port), *ui)
        _wait(lambda: _answers(self.port), "the master did not start")
        for number in range(workers):
            place = str(self.folder / f"worker{number}")
            more = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--work-dir", place]
            self._launch("worker.Worker", *more, *ui, self.address)

    def executors(self) -> list[psutil.Process]:
        """The processes that run tasks; a worker restarts one that is gone."""
        below = [child for process in self.processes for child in psutil.Process(process.pid).children(recursive=True)]
        return [child for child in below if "CoarseGrainedExecutorBackend" in " ".join(_command(child))]

    def logs(self) -> str:
        return "".join(path.read_text(errors="replace") for path in self.folder.rglob("*") if path.is_file())

    def stop(self) -> None:
        for process in self.processes:
            with_children = psutil.Process(process.pid).children(recursive=True)
            process.terminate()
            for child in with_children:
                if child.is_running():
                    child.kill()
        for process in self.processes:
            process.wait(30)

    def _launch(self, kind: str, *options: str) -> None:
        name = f"{kind}{len(self.processes)}"
        log = (self.folder / f"{name}.log").open("w")
        self.processes.append(
            subprocess.Popen(
                [self.launcher, f"org.apache.spark.deploy.{kind}", *options],
                stdout=log,
                stderr=log,
                env=driver_environment(),
                cwd=self.folder,
            )
        )


@contextmanager
def cluster(folder, workers=2):
    """A cluster that is gone afterwards."""
    made = Cluster(folder)
    try:
        made.start(workers)
        yield made
    finally:
        made.stop()


def driver_environment():
    """What a process needs to find the same packages as this one, here and in its executors."""
    path = os.pathsep.join(place for place in sys.path if place)
    return os.environ | {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def run_driver(code, *, environment=None, timeout=240):
    """A driver of its own: what it prints, and its exit code."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env=driver_environment() | (environment or {}),
        timeout=timeout,
        check=False,
    )


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def _answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def _wait(done, otherwise):
    for _ in range(int(STARTED_WITHIN * 5)):
        if done():
            return
        time.sleep(0.2)
    raise TimeoutError(otherwise)
