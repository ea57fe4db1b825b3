"""Names in the Host header of requests: a page of another site sends its own name (S20)."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine for itself."""


def without_port(host: str) -> str:
    """Return the name in a Host header without its port: `[::1]:8090` -> `::1`."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")
