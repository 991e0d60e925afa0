"""Post-processing: what may be done to synthetic rows after they are drawn. Synthetic rows and released values only."""
