"""Sizes that users and files ask for: whole numbers within bounds, checked before anything is allocated.

A count that is not whole is refused, never rounded: 1.01 rows per unit would keep two rows and charge for 1.01.
"""

import operator
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sundog.errors import UserError

MOST_ROWS = 2**40
"""More rows than any table here may have; sums of counts then stay far below 2^63."""
LEAST_ROOM, ROOM_PER_PROCESSOR = 1_300_000_000, 128 * 2**20
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")
_LIMIT_FILE = {"": "memory.max", "memory": "memory.limit_in_bytes"}


def whole_number(name: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """The value as an int: Python's or NumPy's, but no float, no text and no truth value."""
    try:
        if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise UserError(f"{name}: found {_shown(value)}; it must be a whole number.") from None
    if number < least:
        raise UserError(f"{name}: found {_shown(number)}; it must be {least} or more.")
    if most is not None and number > most:
        raise UserError(f"{name}: found {_shown(number)}; it must be at most {most}.")
    return number


def refuse_beyond_memory(what: str, size: int, *, remedy: str) -> None:
    """Refuse what would need more bytes, beside those in use, than this process can ever have."""
    if size + (used := _used()) > memory():
        raise UserError(
            f"{what} would need {size / 1e9:.3g} GB of memory; this process may use {memory() / 1e9:.3g} GB, and uses "
            f"{used / 1e9:.2g} GB already. {remedy}"
        )


def _used() -> int:
    """The bytes that this process holds and shares with no other; 0 where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        resident, shared = Path("/proc/self/statm").read_text(encoding="ascii").split()[1:3]
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return 0


def refuse_little_room() -> None:
    """Refuse an address space in which native libraries would abort the process without a word.

    They reserve far more than they use, and the more so the more processors there are.
    """
    needed, given = LEAST_ROOM + ROOM_PER_PROCESSOR * (os.cpu_count() or 1), _limits()
    if given and min(given) < needed:
        raise UserError(
            f"this process may reserve {min(given) / 1e9:.3g} GB of address space (ulimit -v); the libraries that Sundog needs "
            f"reserve {needed / 1e9:.3g} GB here, of which they use far less. Raise that limit; to limit what is in use, limit "
            "the memory of a container instead."
        )


def _limits() -> list[int]:
    """The limits of the address space, where there are any."""
    with suppress(ImportError, OSError):
        import resource

        return [limit for limit in resource.getrlimit(resource.RLIMIT_AS)[:1] if limit != resource.RLIM_INFINITY]
    return []


@cache
def memory() -> int:
    """The bytes that this process may use: the least of the machine's, its container's and its own limit."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")] if hasattr(os, "sysconf") else [2**33]
    return min([*sizes, *_limits(), *_container_limits()])


def _container_limits() -> list[int]:
    """What the control groups allow: the one of this process and all above it, of either version of their interface."""
    names = ["0::/", "0:memory:/"]
    with suppress(OSError):
        names += _OWN_CGROUPS.read_text(encoding="utf-8").splitlines()
    found = []
    for _, kinds, name in (line.split(":", 2) for line in names):
        if kinds not in ("", "memory"):
            continue
        top = _CGROUPS / kinds
        own = top / name.lstrip("/")
        for folder in (own, *own.parents[: len(own.parts) - len(top.parts)]):
            with suppress(OSError, ValueError):
                found.append(int((folder / _LIMIT_FILE[kinds]).read_text(encoding="ascii")))
    return found


def _shown(value: Any) -> str:
    if isinstance(value, int) and abs(value) > 10**15:
        return f"{value:.6g}" if abs(value) < 10**300 else "a number beyond 1e300"
    return repr(value)[:100]
