"""Which kind of frame a user works with, so that rows come back in it. No package is imported that is not there already."""

from typing import Any, Literal

import pyarrow as pa

FrameKind = Literal["arrow", "pandas", "polars"]


def frame_kind(table: Any) -> FrameKind:
    """The kind of a table that was given."""
    package = type(table).__module__.partition(".")[0]
    return package if package in ("pandas", "polars") else "arrow"  # type: ignore[return-value]


def as_frame(table: pa.Table, kind: FrameKind) -> Any:
    """An Arrow table in that kind."""
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table
