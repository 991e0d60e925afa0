"""Packages that only some files need: named, with how to install them, where they are absent."""

from importlib import import_module
from typing import Any

from sundog.errors import UserError


def reader(package: str, *, what: str) -> Any:
    """A package of the extra `readers`."""
    try:
        return import_module(package)
    except ImportError:
        raise UserError(f"{what} need another package; install it with: pip install 'sundog[readers]'") from None
