"""A stream of text cut into its header and into blocks that end where a record ends.

A line longer than `LONGEST` bytes is cut there, and the rest of it is skipped: its row counts, and memory stays bounded.
Where records may span lines, one that reaches so far ends with the last complete line.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from sundog.sources.split import Block, Marks, last_record_end, record_end

LONGEST = 1 << 27
LONGEST_HEADER = 1 << 20


def header_and_rest(chunks: Iterator[bytes], marks: Marks) -> tuple[bytes | None, Iterator[bytes]]:
    """The first record without its line end, and the text after it; None where the first record is too long."""
    text = b""
    for chunk in chunks:
        text += chunk
        end = record_end(np.frombuffer(text, dtype=np.uint8), 0, marks)
        if end >= 0:
            return (text[:end], chain([text[end + 1 :]], chunks)) if end <= LONGEST_HEADER else (None, chunks)
        if len(text) > LONGEST_HEADER:
            return None, chunks
    return text, iter(())


def blocks(chunks: Iterator[bytes], marks: Marks) -> Iterator[Block]:
    """The text in blocks of whole records."""
    for parts in _multiline_blocks(chunks, marks) if marks.multiline else _line_blocks(chunks):
        yield Block.of(parts)


def _line_blocks(chunks: Iterator[bytes]) -> Iterator[list[memoryview]]:
    begun: list[memoryview] = []
    size = 0
    for chunk in chunks:
        view, cut = memoryview(chunk), chunk.rfind(b"\n") + 1
        if cut:
            skipped = chunk.find(b"\n") if size == LONGEST else 0
            yield [*begun, view[skipped:cut]]
            begun, size = [], 0
        rest = view[cut : cut + LONGEST - size]
        begun.append(rest)
        size += len(rest)
    yield begun


def _multiline_blocks(chunks: Iterator[bytes], marks: Marks) -> Iterator[list[bytes]]:
    text = b""
    for chunk in chunks:
        text += chunk
        cut = last_record_end(np.frombuffer(text, dtype=np.uint8), marks) + 1
        if not cut and len(text) >= LONGEST:
            cut = text.rfind(b"\n") + 1 or len(text)
        if cut:
            yield [text[:cut]]
            text = text[cut:]
    yield [text]
