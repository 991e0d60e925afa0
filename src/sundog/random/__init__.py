"""Explicit randomness for everything that is not privacy noise."""
