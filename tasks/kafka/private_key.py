"""Client certificate keys as unencrypted PKCS#8, the one form that every Java reads.

Java 17 cannot open a key that OpenSSL encrypts with its present default (PBES2), and no Java reads
the older key formats.  librdkafka reads all of them.
"""

from collections.abc import Mapping

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from tasks.runtime.secrets import known_secrets

_KEY = "ssl.keystore.key"
_PASSWORD = "ssl.key.password"  # noqa: S105 -- the name of a property


class UnusableKey(ValueError):
    """The key of a client certificate cannot be read; the message shows nothing of the key."""


def with_open_key(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties of the Java client; a key among them needs no password any more.

    Raises:
        UnusableKey: the text is not a key, or its password does not open it.
    """
    unlocked = dict(properties)
    password = unlocked.pop(_PASSWORD, None)
    if _KEY in unlocked:
        unlocked[_KEY] = _opened(
            unlocked[_KEY].encode(), None if password is None else password.encode()
        )
        known_secrets().learn(unlocked[_KEY])  # the decrypted key is a secret of its own
    return unlocked


def _opened(pem: bytes, secret: bytes | None) -> str:
    try:
        key = load_pem_private_key(pem, secret)
    except TypeError as error:
        if secret is None:
            raise UnusableKey("ssl.key.pem is locked: give ssl.key.password too") from error
        key = load_pem_private_key(pem, None)  # it is not locked
    except (ValueError, UnsupportedAlgorithm) as error:
        problem = "is no private key in PEM" if secret is None else "is not opened by its password"
        raise UnusableKey(f"ssl.key.pem {problem}") from error
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
