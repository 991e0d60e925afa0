"""Other tools beside ours: their environments, small adapters, one runner for all. `compare_tools.py` is the command."""
