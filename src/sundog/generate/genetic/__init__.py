"""A genetic search over datasets: Private-GSD."""
