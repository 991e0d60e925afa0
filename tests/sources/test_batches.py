"""Tables of several parts: they must agree on their columns, and say where they do not."""

import pyarrow as pa
import pytest

from sundog.errors import UserError
from sundog.sources.batches import open_parts, part_of


def part(label, *names):
    return part_of(label, pa.schema([(name, pa.int64()) for name in names]), read=lambda names: iter(()))


def test_a_column_that_only_one_part_has_is_named():
    for parts in ([part("one", "a"), part("two", "a", "b")], [part("one", "a", "b"), part("two", "a")]):
        with pytest.raises(UserError, match=r"two has other columns than one \(such as 'b'\)"):
            open_parts(parts)


def test_a_column_that_is_there_twice_is_refused():
    with pytest.raises(UserError, match="one: columns 1 and 2 have the same name"):
        part("one", "a", "a")
