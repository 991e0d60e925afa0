"""Words for true and false that are in use."""

BOOLEANS = (
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("t", "f"),
    ("ja", "nein"),
    ("j", "n"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("vrai", "faux"),
    ("si", "no"),
    ("sí", "no"),
    ("sì", "no"),
    ("1", "0"),
    ("positive", "negative"),
    ("positiv", "negativ"),
)
"""Pairs (true, false), in small letters."""
