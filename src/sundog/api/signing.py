"""Ed25519 signatures of certificates, by the package `cryptography` (the extra `signing`).

A key is made with:  openssl genpkey -algorithm ed25519 -out key.pem;  openssl pkey -in key.pem -pubout -out key.pub.pem
The certificate names the SHA-256 of every file, so one signature covers the whole folder.
"""

import base64
import hashlib
from pathlib import Path
from typing import Any

from sundog.errors import UserError


def sign_file(path: Path, *, key: Path) -> Path:
    """Write the signature of a file beside it, with the ending .sig."""
    signature = _private_key(key).sign(path.read_bytes())
    target = path.with_suffix(".sig")
    target.write_bytes(base64.b64encode(signature) + b"\n")
    return target


def signed_by(path: Path, *, key: Path) -> bool:
    """Whether the signature beside a file is that of the key's owner, written as `sign_file` does; False where there is none."""
    from cryptography.exceptions import InvalidSignature

    public = _public_key(key)
    try:
        written = path.with_suffix(".sig").read_bytes()
        signature = base64.b64decode(written)
        public.verify(signature, path.read_bytes())
    except (OSError, ValueError, InvalidSignature):
        return False
    return written == base64.b64encode(signature) + b"\n"


def fingerprint(key: Path) -> str:
    """The SHA-256 of a public key: openssl pkey -pubin -in KEY -outform DER | sha256sum."""
    serialization, _ = _library()
    whole = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return hashlib.sha256(_public_key(key).public_bytes(*whole)).hexdigest()


def check_private_key(key: Path) -> None:
    """Refuse a key that cannot sign, before anything is spent."""
    _private_key(key)


def _private_key(path: Path) -> Any:
    serialization, ed25519 = _library()
    key = _loaded(path, lambda text: serialization.load_pem_private_key(text, password=None))
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UserError(
            f"--sign: {str(path)!r} is no Ed25519 private key; make one with: openssl genpkey -algorithm ed25519"
        )
    return key


def _public_key(path: Path) -> Any:
    serialization, ed25519 = _library()
    key = _loaded(path, serialization.load_pem_public_key)
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UserError(f"--key: {str(path)!r} is no Ed25519 public key; make one with: openssl pkey -in KEY -pubout")
    return key


def _loaded(path: Path, load: Any) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load(path.read_bytes())
    except OSError as error:
        raise UserError(f"key {str(path)!r} cannot be read ({error.strerror}).") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UserError(f"key {str(path)!r} is no key in PEM format without a password.") from None


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise UserError("signing: it needs the package cryptography; run: pip install 'sundog[signing]'.") from None
    return serialization, ed25519
