"""Where calls of flows may go: names that the operator allows, at addresses that fit them.

An author names a URL.  The operator names hosts; without any, only this machine is allowed.  The
name is resolved once, and the connection goes to the address that was looked at: an answer of the
DNS that changes in between leads nowhere.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

__all__ = ["HttpPlace", "PlaceRefused", "is_allowed", "place_of_url", "refusal_of_address"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_PORTS = {"http": 80, "https": 443}
_LOOPBACK = "localhost"
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class PlaceRefused(Exception):
    """A call may not go there; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class HttpPlace:
    """Where a URL leads."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query."""

    @property
    def header(self) -> str:
        """The value of the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def place_of_url(url: str) -> HttpPlace:
    """Return where a URL leads.

    Raises:
        PlaceRefused: it is none that a call may have.
    """
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise PlaceRefused(f"the URL is not valid: {error}") from error
    if parts.scheme not in _PORTS:
        raise PlaceRefused("the URL must begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise PlaceRefused("the URL has a user: give it in a header, as a secret")
    host = (parts.hostname or "").rstrip(".")
    if not host or any(sign.isspace() or ord(sign) < ord("!") for sign in url):
        raise PlaceRefused("the URL has no host, or signs that no URL has")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return HttpPlace(parts.scheme, host, port or _PORTS[parts.scheme], target)


def is_allowed(place: HttpPlace, allow: Sequence[str]) -> bool:
    """Return whether the operator allows a host: by `host`, `host:port` or `*.domain`.

    `allow` empty: this machine alone.
    """
    if not allow:
        return place.host == _LOOPBACK or _is_loopback(place.host)
    for entry in allow:
        name, port = _split(entry)
        if port is not None and port != place.port:
            continue
        wildcard = name.startswith("*.")
        if place.host == name or (wildcard and place.host.endswith(name[1:])):
            return True
    return False


def refusal_of_address(place: HttpPlace, address: Address, allow: Sequence[str]) -> str | None:
    """Return why a call may not go to an address of an allowed host; None: it may.

    A host that is named in full may lie in a private network, one behind a `*` may not.  Addresses
    of this machine and of the link, such as a cloud's metadata, have to be named themselves.
    """
    address = _embedded(address)
    names = {_split(entry)[0] for entry in allow} or {_LOOPBACK}
    if str(address) in names or (address.is_loopback and _LOOPBACK in names):
        return None
    if not allow and address.is_loopback:
        return None
    if address.is_loopback or address.is_link_local or address.is_multicast:
        return f"{place.host} leads to {address}, which is allowed only by its own name"
    if address.is_unspecified or address.is_reserved:
        return f"{place.host} leads to {address}, which is no address of a server"
    if not address.is_global and place.host not in names:
        return f"{place.host} leads to {address} in a private network: allow the host in full"
    return None


def _embedded(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one leads to by mapping, NAT64, 6to4 or Teredo."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)


def _split(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        return host, int(rest[1:]) if rest.startswith(":") else None
    host, colon, port = entry.rpartition(":")
    if colon and port.isdigit() and ":" not in host:
        return host, int(port)
    return entry, None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
