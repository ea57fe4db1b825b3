"""How records leave a process: by Kafka, or by HTTP to a persister."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Outgoing", "Transport", "TransportAway"]


@dataclass(frozen=True)
class Outgoing:
    """One record on its way."""

    key: str
    """Its subject, so that records of one task keep to one partition."""
    body: bytes


class TransportAway(Exception):
    """Nothing of a batch may be taken as stored; it is sent again, with longer and longer waits.

    Its text says what is away, and what to do, for the log and the status.
    """

    def __init__(self, text: str, retry_s: float = 0.0) -> None:
        """`retry_s`: the least wait in seconds that the other side asks for."""
        super().__init__(text)
        self.retry_s = retry_s


class Transport(Protocol):
    """One way out; it is called by one thread."""

    refused_total: int
    """Records that the other side refused for good; they are lost."""

    def send(self, batch: Sequence[Outgoing]) -> None:
        """Return once all records of a batch are where no crash of this process loses them.

        A record that can never be sent, such as one that is too large, is left out and counted.

        Raises:
            TransportAway: it is not known of all of them.
        """
        ...

    def close(self) -> None:
        """Give back what it holds; what is under way may be lost, and is sent again."""
        ...
