"""Tables whose rows must not leave their database server: it encodes and counts, and only totals travel."""

from sundog.sources.server.table import OnServer, open_on_server

__all__ = ["OnServer", "open_on_server"]
