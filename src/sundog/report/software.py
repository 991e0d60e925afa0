"""What a release was made by: Sundog, the libraries that its numbers pass through, and the machine.

The same measurements, method and seed give the same rows where all of these are equal. Elsewhere floating point may round otherwise,
which a fit can carry to other rows. The machine is named by a digest of its processor's kind and abilities, nothing else.
"""

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sundog.errors import UserError
from sundog.version import __version__

NOISE_LIBRARY = "opendp"
LIBRARIES = (NOISE_LIBRARY, "numpy", "scipy", "jax", "jaxlib", "numba", "optax", "pyarrow")
KEPT = ("model name", "flags", "CPU implementer", "CPU part", "Features")
"""What Linux says of a processor that bears on its arithmetic."""


def installed() -> dict[str, str]:
    """The versions of Python and of the libraries."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def processor() -> str:
    """The system, the architecture, and a digest of the processor's kind and abilities."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
        known = "\n".join(line for line in told if line.startswith(KEPT))
    except OSError:
        known = platform.processor()
    return f"{platform.system()} {platform.machine()} {hashlib.sha256(known.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Software:
    """Sundog's version, those of Python and the libraries, and the machine."""

    sundog: str = __version__
    versions: Mapping[str, str] = field(default_factory=installed)
    machine: str | None = field(default_factory=processor)

    def to_json(self) -> dict[str, Any]:
        """The part of the certificate that it fills."""
        return {"sundog": self.sundog, "versions": dict(self.versions), "machine": self.machine}

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> "Software":
        """What a certificate says; refused where it is not what Sundog writes."""
        sundog, versions, machine = document.get("sundog"), document.get("versions"), document.get("machine")
        listed = isinstance(versions, dict) and all(isinstance(each, str) for each in versions.values())
        if isinstance(sundog, str) and listed and isinstance(machine, str | None):
            return Software(sundog, dict(versions or {}), machine)
        raise UserError("certificate.json: its versions are not texts.")

    def differences(self, here: "Software") -> tuple[str, ...]:
        """How it differs from the software here, in a few words each."""
        names = sorted({*self.versions, *here.versions})
        pairs: list[tuple[str, str | None, str | None]] = [("Sundog", self.sundog, here.sundog)]
        pairs += [(name, self.versions.get(name), here.versions.get(name)) for name in names]
        pairs += [("machine", self.machine, here.machine)]
        return tuple(f"{name} {was or 'not stated'} (here {now or 'none'})" for name, was, now in pairs if was != now)
