"""What is publicly known of a table: its columns, their domains, and how values become codes and back."""

from sundog.domain.columns import Categorical, Column, Identifier, Numeric
from sundog.domain.dialect import Dialect
from sundog.domain.schema import Schema

__all__ = ["Categorical", "Column", "Dialect", "Identifier", "Numeric", "Schema"]
