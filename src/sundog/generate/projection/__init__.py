"""Relaxed projections: RAP, RAP++ and GEM."""
