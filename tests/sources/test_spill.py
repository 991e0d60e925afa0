"""Spill folders: this user's alone under any umask, gone when the process ends, swept when it was killed."""

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from sundog.sources import spill

USE = """
import os, sys
os.umask(int(sys.argv[1], 8))
from sundog.sources.spill import spill_folder
folder = spill_folder()
(folder / "rows").write_text("rows")
print(folder, flush=True)
sys.stdin.read()
"""


def started(place, umask="022"):
    """A process with a spill folder under `place`, and that folder."""
    environment = os.environ | {"TMPDIR": str(place)}
    process = subprocess.Popen(
        [sys.executable, "-c", USE, umask], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    return process, process.stdout.readline().strip()


def ended(process):
    process.communicate()
    return process.returncode


def age(folder, seconds=2 * spill.OLD_SECONDS):
    then = time.time() - seconds
    os.utime(folder, (then, then))


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.mark.parametrize("umask", ["000", "022", "077", "777"])
def test_the_folders_are_the_owners_alone_under_any_umask(tmp_path, umask):
    process, folder = started(tmp_path, umask)
    assert mode(folder) == 0o700
    assert mode(os.path.dirname(folder)) == 0o700
    assert ended(process) == 0


def test_the_engine_spills_there(monkeypatch, tmp_path):
    from sundog.sources.duck import connect

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spill._process_folder.cache_clear()
    place = connect().sql("SELECT current_setting('temp_directory')").fetchall()[0][0]
    assert os.path.dirname(os.path.dirname(place)) == str(tmp_path)
    assert mode(place) == 0o700
    spill._process_folder.cache_clear()


def test_a_process_that_ends_leaves_nothing(tmp_path):
    process, _ = started(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert ended(process) == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_gone_after_the_next_start(tmp_path):
    killed, folder = started(tmp_path)
    killed.send_signal(signal.SIGKILL)
    ended(killed)
    assert os.path.exists(os.path.join(folder, "rows"))
    age(os.path.dirname(folder))
    following, _ = started(tmp_path)
    assert not os.path.exists(os.path.dirname(folder))
    assert ended(following) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_left_alone_however_old(tmp_path):
    running, folder = started(tmp_path)
    age(os.path.dirname(folder), 1e6)
    spill.sweep(tmp_path)
    assert os.path.exists(os.path.join(folder, "rows"))
    ended(running)


def test_a_young_folder_is_left_alone(tmp_path):
    """Its process may not have locked it yet."""
    (tmp_path / f"{spill.PREFIX}new").mkdir()
    spill.sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_without_a_lock_is_swept_when_it_is_old(tmp_path):
    folder = tmp_path / f"{spill.PREFIX}killed"
    folder.mkdir()
    age(folder)
    spill.sweep(tmp_path)
    assert not folder.exists()


def test_other_names_links_and_other_users_are_left_alone(tmp_path, monkeypatch):
    kept = tmp_path / "elsewhere"
    kept.mkdir()
    (kept / "rows").write_text("mine")
    other, link, plain = (tmp_path / name for name in ("other-folder", f"{spill.PREFIX}link", f"{spill.PREFIX}file"))
    other.mkdir()
    link.symlink_to(kept)
    plain.write_text("")
    for path in (kept, other, plain):
        age(path)
    spill.sweep(tmp_path)
    assert (kept / "rows").exists() and other.exists() and link.is_symlink() and plain.exists()  # noqa: PT018
    theirs = tmp_path / f"{spill.PREFIX}theirs"
    theirs.mkdir()
    age(theirs)
    monkeypatch.setattr(os, "getuid", lambda: os.stat(theirs).st_uid + 1)
    spill.sweep(tmp_path)
    assert theirs.exists()


def test_a_fork_has_a_folder_of_its_own_and_removes_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spill._process_folder.cache_clear()
    folder = spill.spill_folder()
    spill._remove(folder.parent, os.getpid() + 1)
    assert folder.exists()
    assert spill._process_folder(os.getpid()) == folder.parent
    spill._remove(folder.parent, os.getpid())
    assert not folder.exists()
    spill._process_folder.cache_clear()
