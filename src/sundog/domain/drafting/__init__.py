"""Drafting a schema: what was seen in a column (seen), its values (values), its field (fields)."""
