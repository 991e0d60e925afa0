"""What is publicly known of a table: its columns, their domains, and how values become codes and back."""

from sundog.schema.columns import Categorical, Column, Identifier, Numeric
from sundog.schema.model import Schema

__all__ = ["Categorical", "Column", "Identifier", "Numeric", "Schema"]
