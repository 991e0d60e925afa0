"""Linked tables generated from the root down: pooled tables, and a search in which parents are fixed and siblings move together."""
