"""The report: what was released at what cost, and how well the synthetic rows follow it. Public values only."""
