"""Sessions of Spark: started where they can start, asked before anything is spent, and kept from saying anything of rows.

Spark writes the text of a failed task to its logs, on the driver too, and a plan that fails at a cell may quote it. So the
driver's log is off while our jobs run, what a job raises is replaced by one sentence, and a session that we start has no page,
no event log and no output of its own. Before anything is spent, one small job without rows tells whether the executors have the
same packages as this process.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from sundog.errors import UserError
from sundog.sources.duck import withhold
from sundog.sources.spark.tasks import versions

LEAST_JAVA = 17
REACHED_WITHIN = 5.0
"""Seconds in which a master must answer."""
STARTED_WITHIN = 300.0
"""Seconds in which an executor must have run the job that asks for its packages: containers take minutes to start."""
ASKING = "sundog: which packages do executors have"
JOB_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
INSTALL = "install it with: pip install 'sundog[spark]' (pyspark 4 with pandas 2.2 or newer)"
LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",
}


@dataclass(frozen=True)
class OnSpark:
    """Parquet files to be counted by the Spark cluster at a master's address."""

    data: str
    master: str = "local[*]"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"local(\[(\d+|\*)(,\s*\d+)?\])?|yarn|(spark|k8s)://.+", self.master):
            raise UserError(
                f"--master: found {self.master!r}; allowed are local[N], spark://HOST:PORT, k8s://HOST:PORT and yarn."
            )


def start(master: str) -> Any:
    """A session of our own at a master's address."""
    check_packages()
    _check_java()
    _check_reachable(master)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("sundog").master(master)
    settings = dict(QUIET)
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with _no_output(), _no_warnings():
            return builder.getOrCreate()
    except Exception as error:
        withhold(error)
        raise UserError(
            f"--master {master}: Spark could not be started there; check the address, Spark's own settings "
            "(SPARK_HOME, spark-defaults.conf) and that the master's version of Spark is that of pyspark here."
        ) from None


def check_packages() -> None:
    """Refuse to go on without what Spark needs in Python."""
    try:
        with _no_warnings():
            import pandas
            import pyspark
    except ImportError:
        raise UserError(f"Spark needs more packages; {INSTALL}") from None
    for package, least in ((pyspark, (4,)), (pandas, (2, 2))):
        if tuple(map(int, re.findall(r"\d+", package.__version__)[:2])) < least:
            raise UserError(f"{package.__name__} {package.__version__} is too old for Spark tables; {INSTALL}")


def _check_java() -> None:
    remedy = (
        f"Spark needs Java {LEAST_JAVA} or newer. Install it (Debian: apt-get install openjdk-17-jre-headless) or name it in "
        "JAVA_HOME."
    )
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        raise UserError(f"there is no Java{' in JAVA_HOME' if home else ''}; {remedy}")
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        told = ""
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    if found is None or int(found[1]) < LEAST_JAVA:
        raise UserError(f"found Java {found[1] if found else 'of an unknown version'}; {remedy}")


def _check_reachable(master: str) -> None:
    """Refuse a master that does not answer: Spark itself would try for a minute."""
    if not master.startswith("spark://"):
        return
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=REACHED_WITHIN):
                return
        except (OSError, ValueError, OverflowError):
            continue
    raise UserError(f"--master {master}: nothing answers there; check the address and that the master runs.")


_asked: set[str] = set()
"""The applications whose executors are known to have what they need."""


def check_executors(session: Any) -> None:
    """Refuse a cluster whose executors could not do their part. Reads no rows; asks once per application."""
    context = session.sparkContext
    if context.applicationId in _asked:
        return
    timer = Timer(STARTED_WITHIN, context.cancelJobGroup, [ASKING])
    timer.daemon = True
    before = {name: context.getLocalProperty(name) for name in JOB_GROUP}
    context.setJobGroup(ASKING, ASKING, interruptOnCancel=True)
    try:
        timer.start()
        with _no_warnings():
            asked = max(1, context.defaultParallelism)
            told = session.range(0, asked, 1, asked).mapInArrow(versions, "found string").collect()
    except Exception as error:  # no row was read, so that its text can be looked at
        raise UserError(_executors_failed(str(error), waited=not timer.is_alive())) from None
    finally:
        timer.cancel()
        for name, value in before.items():
            context.setLocalProperty(name, value)
    here = next(versions([])).column(0)[0].as_py()
    for row in told:
        if row["found"] != here:
            raise UserError(
                f"Spark's executors have {row['found']}; this process has {here}. Install the same versions in both."
            )
    _asked.add(context.applicationId)


def _executors_failed(text: str, *, waited: bool) -> str:
    missing = re.search(r"No module named '([A-Za-z0-9_]+)", text)
    if missing:
        return (
            f"Spark's executors lack the Python package {missing[1]!r}; install the same version of sundog (with its extra "
            "'spark') on every worker, and let PYSPARK_PYTHON name the Python that has it."
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return (
            "Spark's executors run another version of Python than this process; let PYSPARK_PYTHON name one of "
            f"Python {sys.version_info.major}.{sys.version_info.minor} on every worker."
        )
    if waited:
        return (
            f"no executor of Spark has started within {STARTED_WITHIN:.0f} seconds; check that the cluster has workers with free "
            "cores and memory."
        )
    return (
        "Spark's executors could not run a first small job (no row was read); check that PYSPARK_PYTHON names a Python with "
        "sundog on every worker."
    )


@contextmanager
def discreet(session: Any, label: str) -> Iterator[None]:
    """Run a job of which nothing gets out but its result: no log line, no text of an exception."""
    try:
        with _log_off(session), _no_warnings():
            yield
    except UserError:
        raise
    except Exception as error:  # texts of Spark and of the executors may quote cells
        withhold(error)
        raise UserError(
            f"{label}: Spark failed while reading it (its message may quote cells, so it is withheld). Check that the files or "
            "the query of the table can be read to the end, and the logs of the executors, which are CONFIDENTIAL. The driver's log "
            "stays off."
        ) from None


@contextmanager
def _log_off(session: Any) -> Iterator[None]:
    """The driver's log off, and on again after a success: what other tasks of a failed job say may still be on its way.

    pyspark itself writes the text of an exception, as it raises it, to loggers of Python.
    """
    from pyspark.logger import PySparkLogger

    context = session.sparkContext
    level = str(context._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel())
    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    context.setLogLevel("OFF")
    for logger in loggers:
        logger.disabled = True
    yield
    for logger in loggers:
        logger.disabled = False
    context.setLogLevel(level)


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Without Python's warnings, such as Spark's about versions of pandas: mapInArrow does not use pandas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _no_output() -> Iterator[None]:
    """What is started meanwhile has no output: Java would write log lines into ours."""
    kept = [os.dup(handle) for handle in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for handle in (1, 2):
            os.dup2(nowhere, handle)
        yield
    finally:
        for handle, old in zip((1, 2), kept, strict=True):
            os.dup2(old, handle)
            os.close(old)
        os.close(nowhere)
