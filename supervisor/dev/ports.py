"""Free ports on loopback."""

import random
import socket
from collections.abc import Collection

LOOPBACK = "127.0.0.1"

# Below the range from which the system takes ports for outgoing connections (32768 on Linux): a
# server that is down for a moment finds its port again, and a client that retries on loopback
# cannot be given, as its own port, the very port that it is trying to reach.
_LOWEST, _HIGHEST = 15_000, 32_000
_TRIES_MAX = 200


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` of loopback now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port(taken: Collection[int] = ()) -> int:
    """Return a port of loopback on which nobody listens and which is not in `taken`.

    Raises:
        OSError: none was found.
    """
    for _ in range(_TRIES_MAX):
        port = random.randint(_LOWEST, _HIGHEST)  # noqa: S311 -- not a secret
        if port not in taken and is_free(port):
            return port
    raise OSError(f"no free port on {LOOPBACK} after {_TRIES_MAX} tries")


def accepts(port: int, timeout_s: float = 1.0) -> bool:
    """Whether somebody accepts connections on `port` of loopback."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=timeout_s):
            return True
    except OSError:
        return False
