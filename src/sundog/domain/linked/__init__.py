"""Linked tables: a Data Package whose tables form a tree under one root, and the flat views that are counted."""
