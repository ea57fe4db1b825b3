"""Names in the Host header of requests: a page of another site sends its own name (S20)."""

import re

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine for itself."""
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:/?#@\[\]\\\s]+?)\.?)(?::[0-9]{0,5})?", re.IGNORECASE)


def without_port(host: str) -> str:
    """Return the name in a Host header without its port: `[::1]:8090` -> `::1`.

    Empty: the header is no name with a port.  Others may take more of it for a path.
    """
    match = _HOST.fullmatch(host)
    return "" if match is None else match[1] or match[2]
