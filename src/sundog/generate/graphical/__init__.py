"""Graphical models (Private-PGM): the generator of MST, AIM and MWEM+PGM."""
