"""One file per step of the way."""
