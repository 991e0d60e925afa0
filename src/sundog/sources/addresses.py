"""Addresses of databases, such as postgresql://host/database: what they name, and what they must not hold.

An address stands on a command line, where every user of the machine can read it, and in shell histories. So one with a
password is refused, and the message does not repeat it: passwords come from the environment, a password file or a service file.
"""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from sundog.errors import UserError

ADDRESS = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
PLACE = re.compile(r"(\[[^\]]*\]|[^:]*)(:[0-9]*)?")
"""A host and perhaps its port."""
SECRETS = ("password", "passwd", "pwd", "secret", "token")
REMEDY = (
    "the address of the database holds a password, which everyone on this machine could read in the list of processes. Leave "
    "it out: set PGPASSWORD, or use ~/.pgpass or a service file (PGSERVICE) for PostgreSQL, SUNDOG_DATABASE_PASSWORD for "
    "others. Change this password if others use the machine."
)


@dataclass(frozen=True)
class Address:
    """An address as it was given, its scheme, and how messages name it: without user and parameters."""

    text: str
    scheme: str
    label: str


def is_address(data: str) -> bool:
    """Whether a text names a database rather than a file; refuses one that holds a password, in either form."""
    if not ADDRESS.match(data):
        if re.search(r"\b(password|pwd)\s*=", data, re.IGNORECASE):
            raise UserError(f"data: {REMEDY}")
        return False
    return not data.lower().startswith(("file://", "s3://", "s3a://", "hdfs://"))


def address_of(data: str) -> Address:
    """The parts of an address; refused with a password in it."""
    try:
        parts = urlsplit(data)
        given = [key.lower() for key, _ in parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError:
        raise UserError("data: the address of the database cannot be read; write postgresql://host/database.") from None
    user, _, place = parts.netloc.rpartition("@")
    if ":" in user or "%3a" in user.lower() or any(secret in key for key in given for secret in SECRETS):
        raise UserError(f"data: {REMEDY}")
    behind = "".join([parts.path, *given, parts.fragment])
    if "@" in behind or not all(PLACE.fullmatch(each) for each in place.split(",")):  # a password with / ? or # in it
        raise UserError(f"data: what follows {parts.scheme}:// does not begin with HOST or HOST:PORT. Perhaps {REMEDY}")
    return Address(data, parts.scheme.lower(), f"{parts.scheme}://{place}{parts.path}")
