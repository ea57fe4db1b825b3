"""How a process serves its ports until it is to end, and what it ends with."""

import signal
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType

import structlog
import uvicorn

__all__ = ["ServedPort", "serve"]

log = structlog.get_logger()


@dataclass(frozen=True)
class ServedPort:
    """A part of a process that is there by now, and the port that is to be served for it."""

    server: uvicorn.Server
    bound: socket.socket


def serve(
    servers: Mapping[uvicorn.Server, socket.socket],
    at_end: Callable[[], None],
    ended_threads: Callable[[], list[str]],
) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code: 1 if a server ended by itself.

    The process also ends with 1 if an essential thread has ended: a process manager restarts an
    ended process, but not one that only looks alive.

    Each server runs in a thread, because uvicorn's own signal handlers raise the signal again after
    it has stopped, and then nothing would be released after it, such as a lease.
    """
    ended = threading.Event()

    def run(server: uvicorn.Server, bound: socket.socket) -> None:
        try:
            server.run(sockets=[bound])
        finally:
            ended.set()

    def end() -> None:
        for server in servers:
            server.should_exit = True
        at_end()

    received_signals: list[int] = []

    def on_signal(number: int, _: FrameType | None) -> None:
        received_signals.append(number)
        end()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    threads = [
        threading.Thread(target=run, args=each, name="http", daemon=True)
        for each in servers.items()
    ]
    for thread in threads:
        thread.start()
    ending = False
    while not ended.wait(0.2):  # a wait without a timeout would block the signal handlers
        if not (ending or received_signals) and (missing := ended_threads()):
            log.error("this process ends: it cannot go on without its threads", ended=missing)
            ending = True
            end()
    end()  # without one of its ports a process is of no use
    for thread in threads:
        thread.join()
    return 0 if received_signals else 1
