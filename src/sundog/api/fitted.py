"""fitted.npz: the fitted state beside released.json, as plain arrays, so that `sundog.load` need not fit again.

It names the measurements and settings it was fitted to by their SHA-256. A file that is absent, damaged, of another release or
too large is not used: the model is then fitted again, and says so.
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from sundog.domain import Schema
from sundog.errors import UserError
from sundog.generate import Generator
from sundog.generate.stored import NotStorable, rebuilt, stored
from sundog.json_files import GROWTH
from sundog.sizes import memory

NAME = "fitted.npz"
FORMAT = "sundog-fitted-1"
MOST_BYTES = 1 << 30
MOST_ARRAYS = 10_000
NOT_OF_USE = f"There was no {NAME} of this release that this version can use, so the model was fitted again."
"""What a model says that was fitted again on loading."""


def save_fitted(state: Any, folder: Path, *, schema: Schema, settings: Mapping[str, Any]) -> None:
    """Write the state; a state that cannot be stored leaves no file, and is fitted again on loading."""
    path = folder / NAME
    path.unlink(missing_ok=True)
    try:
        tree, arrays = stored(state, schema)
    except NotStorable:
        return
    head = {"format": FORMAT, "of": _digest(folder, settings), "tree": tree}
    text = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    parts: dict[str, Any] = {"head": text} | {f"array{k}": array for k, array in enumerate(arrays)}
    np.savez_compressed(path, **parts)


def load_fitted(folder: Path, *, kind: type, schema: Schema, settings: Mapping[str, Any]) -> Any:
    """The state, if it is of this class, or None where there is none that fits."""
    try:
        with zipfile.ZipFile(folder / NAME) as archive:
            sizes = [entry.file_size for entry in archive.infolist()]
        if sum(sizes) > min(MOST_BYTES, memory() // GROWTH) or len(sizes) > MOST_ARRAYS:
            return None
        with np.load(folder / NAME, allow_pickle=False) as file:
            head = json.loads(file["head"].tobytes())
            if head["format"] != FORMAT or head["of"] != _digest(folder, settings):
                return None
            arrays = [file[f"array{k}"] for k in range(len(sizes) - 1)]
        state = rebuilt(head["tree"], arrays, schema)
        return state if type(state) is kind else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, RecursionError, MemoryError):
        return None
    except (UserError, zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError):
        return None


def state_class(generator: Generator[Any]) -> type:
    """The class of a generator's states."""
    found: type = get_type_hints(generator.sample)["state"]
    return found


def _digest(folder: Path, settings: Mapping[str, Any]) -> str:
    """Names the measurements and the settings."""
    said = json.dumps(dict(settings), sort_keys=True).encode()
    return hashlib.sha256((folder / "released.json").read_bytes() + b"\0" + said).hexdigest()
