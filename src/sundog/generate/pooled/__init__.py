"""Pooled tables and a search for rows that have them all: the generator of `auto`."""
