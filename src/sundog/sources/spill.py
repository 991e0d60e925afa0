"""Where engines put what does not fit into memory: it may hold rows, so it is this user's alone and does not stay behind.

Each process has one folder of mode 0700, whatever the umask, and holds a lock in it as long as it lives. A process that
ends removes its folder; what a killed one left is removed when the next one starts: a folder of that name, owned by this
user, older than a minute, whose lock nobody holds. A folder of another user, a link, and a folder in use are left alone.
"""

import atexit
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX = "sundog-spill-"
LOCK = "lock"
OLD_SECONDS = 60.0
"""A folder younger than this may belong to a process that has not locked it yet."""


def spill_folder() -> Path:
    """A new folder for one engine, inside the folder of this process."""
    return _private(tempfile.mkdtemp(dir=_process_folder(os.getpid())))


def remove_own_folders() -> None:
    """Remove what this process's engines have left, where nothing will be tidied up when it ends; they are done."""
    _remove(_process_folder(os.getpid()), os.getpid())
    _process_folder.cache_clear()


@cache
def _process_folder(process: int) -> Path:
    """The folder of a process; a forked one has its own, and only the one that made it removes it."""
    sweep(Path(tempfile.gettempdir()))
    folder = _private(tempfile.mkdtemp(prefix=PREFIX))
    _lock(folder / LOCK)
    atexit.register(_remove, folder, process)
    return folder


def sweep(place: Path) -> None:
    """Remove what killed runs of this user left in a folder."""
    if not hasattr(os, "getuid"):
        return
    for entry in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_left(entry):
                shutil.rmtree(entry, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    facts = folder.lstat()
    if not folder.is_dir() or folder.is_symlink() or facts.st_uid != os.getuid():
        return False
    return time.time() - facts.st_mtime > OLD_SECONDS and _unlocked(folder / LOCK)


def _unlocked(path: Path) -> bool:
    """Whether nobody holds the lock: its process is gone, or was killed before it made one."""
    try:
        handle = _lock(path, create=False)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    os.close(handle)
    return True


def _lock(path: Path, *, create: bool = True) -> int:
    """A lock that lasts as long as the handle is open, and so as long as the process lives."""
    handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | (os.O_CREAT if create else 0), 0o600)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such locks on this system: nothing is swept there either
        pass
    except OSError:
        os.close(handle)
        raise
    return handle


def _private(folder: str) -> Path:
    """Readable by its owner alone: a umask may take rights away from the owner too."""
    os.chmod(folder, 0o700)
    return Path(folder)


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
