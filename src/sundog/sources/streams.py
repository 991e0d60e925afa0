"""Text files as streams of UTF-8 bytes: plain, gzip, bzip2, Zstandard, or a member of a zip archive, in any declared encoding.

Bytes that are no text in the declared encoding become U+FFFD and their digits, so that cells that differ stay different (they
may name two units), and stay in their line: no decoder here takes a line feed for a part of a broken character. A byte
order mark counts at the beginning of a file only. Damaged archives are named, and nothing in them is quoted.
"""

import codecs
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from sundog.errors import UserError

COMPRESSION = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
ARCHIVE = ".zip"
MARK = "\ufeff".encode()
CHUNK = 1 << 19
UNREADABLE = "\ufffd"
SPELLED = "sundog.spelled"


def split_archive(path: str) -> tuple[str, str | None]:
    """The file and the member that a path such as archive.zip/table.csv names; the member is None for other paths."""
    for parent in (Path(path), *Path(path).parents):
        if parent.suffix.lower() == ARCHIVE and parent.is_file():
            member = Path(path).relative_to(parent).as_posix()
            return str(parent), None if member == "." else member
    return path, None


def member_of(archive: str, member: str | None) -> str:
    """The member to read: the named one, or the only one."""
    with _named_failures(archive), zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if not name.endswith("/")]
    if member is None and len(names) == 1:
        return names[0]
    if member not in names:
        example = f"{archive}/{names[0]}" if names else f"{archive}/table.csv"
        raise UserError(f"{archive!r} holds {len(names)} files; name one of them, such as {example!r}.")
    return member


def byte_chunks(path: str) -> Iterator[bytes]:
    """The file's bytes, decompressed, in chunks of about half a megabyte, which the caches of a core hold."""
    with _named_failures(path), _opened(path) as file:
        while chunk := file.read(CHUNK):
            yield chunk


def text_chunks(path: str, encoding: str) -> Iterator[bytes]:
    """The file's text as UTF-8, chunk by chunk."""
    decoder = codecs.getincrementaldecoder(encoding)(SPELLED)
    first, one_to_one = True, not encoding.startswith("utf-16")
    for chunk in chain(byte_chunks(path), [b""]):
        if chunk and chunk.isascii() and one_to_one and decoder.getstate()[0] == b"":
            text = chunk
        else:
            with _named_failures(path):
                text = decoder.decode(chunk, final=not chunk).encode()
            text = text.removeprefix(MARK) if first else text
        if text:
            first = False
            yield text


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return UNREADABLE + error.object[error.start : error.end].hex(), error.end


codecs.register_error(SPELLED, _spelled)


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    place, member = split_archive(path)
    if place.lower().endswith(ARCHIVE):
        with zipfile.ZipFile(place) as archive, archive.open(member_of(place, member)) as file:
            yield file
    else:
        compression = COMPRESSION.get(Path(place).suffix.lower())
        with pa.input_stream(place, compression=compression) as file:
            yield file


@contextmanager
def _named_failures(path: str) -> Iterator[None]:
    try:
        yield
    except UnicodeError:
        raise UserError(
            f"data file {path!r} has no byte order mark; declare utf-16le (usual on Windows) or utf-16be."
        ) from None
    except (OSError, EOFError, RuntimeError, NotImplementedError, pa.ArrowException, zipfile.BadZipFile, zlib.error):
        raise UserError(
            f"data file {path!r} cannot be read; check that it is complete and readable, not encrypted, and of the kind "
            "its name says."
        ) from None
