"""Connection settings of a schema registry, as a spec may name one.

The model is an allow-list, as the model of `tasks.contract.kafka_client` is: a setting without a
field cannot reach the client.  Credentials are references.  Both planes check the registry's host
with `refused_registries`.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from pydantic import Field

from tasks.contract.kafka_client import PORT_MAX, SecretRef
from tasks.contract.wire import Wire

_PORTS = {"http": 80, "https": 443}


class Registry(Wire):
    """A schema registry with the API of Confluent's registry: `GET /schemas/ids/{id}`."""

    urls: tuple[str, ...] = Field(min_length=1, max_length=10)
    """Base addresses, tried in this order until one answers."""
    user_info: SecretRef | None = None
    """`user:password`, for basic authentication."""
    headers: dict[str, str] = Field(default_factory=dict, max_length=20)
    header_secrets: dict[str, SecretRef] = Field(default_factory=dict, max_length=20)
    binary: bool = False
    """True: request schemas as bytes in base64 instead of source text.  The registry offers this
    form for Protobuf schemas."""

    @property
    def secrets(self) -> tuple[SecretRef, ...]:
        """Every secret that a request to the registry needs."""
        own = () if self.user_info is None else (self.user_info,)
        return (*own, *self.header_secrets.values())


def refused_registries(urls: Sequence[str], allowed: Sequence[str] | None) -> list[str]:
    """Return the registry hosts that `allowed` does not name; `None` allows every host.

    An entry is `host` (any port) or `host:port`; a URL without a port has the default port of its
    scheme.
    """
    names = None if allowed is None else {entry.strip().lower() for entry in allowed}
    refused = []
    for url in urls:
        host, port = address_of(url)
        if names is not None and host not in names and f"{host}:{port}" not in names:
            refused.append(f"{host}:{port}")
    return refused


def address_of(url: str) -> tuple[str, int]:
    """Return host, in lower case, and port of a registry's URL.

    Raises:
        ValueError: `url` is no http or https URL of a host, or has more than host, port and path.
    """
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise ValueError("holds a character that has no place there")
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and a host")
    if "@" in parts.netloc:
        raise ValueError("holds a user name or a password")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ValueError("holds more than host, port and path")
    port = parts.port or _PORTS[parts.scheme]
    if not 0 < port <= PORT_MAX:
        raise ValueError("has a port that there is not")
    host = parts.hostname.lower()
    return (f"[{host}]" if ":" in host else host), port
