"""A real PostgreSQL server for the tests: Debian's, in a temporary folder, on a socket there; as another user where we are root."""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

PLACES = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/local/bin"), Path("/usr/bin")]
FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=32MB -c autovacuum=off"


def binaries():
    """The folder of the server's programs, or None."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    return next((place for place in [*places, *PLACES] if (place / "initdb").exists()), None)


def _owner():
    """Who runs the server: it refuses root."""
    if os.getuid():
        return {}, os.getuid(), os.getgid()
    try:
        entry = pwd.getpwnam("postgres")
    except KeyError:
        entry = pwd.getpwnam("nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid}, entry.pw_uid, entry.pw_gid


@contextmanager
def server():
    """The URL of a running server, which knows the user sundog without a password."""
    place = binaries()
    if place is None:
        pytest.skip("there is no PostgreSQL server here; install one with: make postgresql")
    who, uid, gid = _owner()
    folder = Path(tempfile.mkdtemp(prefix="sundog-pg-"))
    os.chown(folder, uid, gid)
    data, log = folder / "data", folder / "log"
    quiet = {"cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}}
    try:
        made = [
            place / "initdb",
            "-D",
            data,
            "-U",
            "sundog",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--no-instructions",
        ]
        subprocess.run(made, check=True, capture_output=True, **quiet, **who)
        options = " ".join([f"-k {folder} -c listen_addresses=''", FAST])
        control = [place / "pg_ctl", "-D", data]
        start = [*control, "-w", "-l", log, "-o", options, "start"]
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL, **quiet, **who)
        try:
            yield f"postgresql:///postgres?host={folder}&user=sundog"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, **quiet, **who)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def connected(url):
    """A cursor of a connection of its own."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        yield cursor


def run(url, *statements):
    """Run statements, each by itself, and keep what they did."""
    with connected(url) as cursor:
        for statement in statements:
            cursor.execute(statement)


def ingest(url, name, table):
    """A table of the server with the rows of an Arrow table, in place of what it held."""
    with connected(url) as cursor:
        cursor.adbc_ingest(name, table, mode="replace")
