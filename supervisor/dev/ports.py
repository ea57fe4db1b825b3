"""Free ports on loopback."""

import random
import socket

LOOPBACK = "127.0.0.1"

# Below the range from which the system usually takes ports for outgoing connections (32768 on
# Linux): a client that retries on loopback cannot be given, as its own port, the very port that it
# is trying to reach.
_LOWEST, _HIGHEST = 15_000, 32_000
_TRIES_MAX = 200
_system_random = random.SystemRandom()  # a test that seeds `random` would choose the same again


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` of loopback now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return an unused port of loopback, and keep it for servers of this process.

    A JVM takes seconds to listen there, and a killed server is away for longer.  Until this process
    ends, no outgoing connection and no other `free_port` gets the port.

    Raises:
        OSError: no free port was found.
    """
    for _ in range(_TRIES_MAX):
        port = _system_random.randint(_LOWEST, _HIGHEST)
        if keep(port):
            return port
    raise OSError(f"no free port on {LOOPBACK} after {_TRIES_MAX} tries")


def keep(port: int) -> bool:
    """Keep `port` of loopback for servers of this process and its children, until it ends.

    Returns False, and keeps nothing, if the port is used, kept, or was used a minute ago.
    """
    keeper = socket.socket()
    try:
        keeper.bind((LOOPBACK, port))
    except OSError:
        keeper.close()
        return False
    # Bound but never listening, it blocks sockets that do not allow reuse; servers do allow it.
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.detach()
    return True


def accepts(port: int, timeout_s: float = 1.0) -> bool:
    """Whether a server accepts connections on `port` of loopback."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=timeout_s):
            return True
    except OSError:
        return False
