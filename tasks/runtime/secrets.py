"""Secrets of connections, from this process's environment or from files that it names.

A spec names a variable, never a file, so only the operator chooses which files are read.  Every
secret that was read is remembered, and masked in all texts that leave the process
(`without_secrets`).
"""

import os
import re
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from tasks.contract.kafka_client import BINDING, KafkaClient, ReadSecret, SecretRef
from tasks.contract.masking import forms_of, masked, pattern_of

BYTES_MAX = 64 * 1024
_FILE = "_FILE"
_CONNECTIONS_MAX = 64
_KNOWN_MAX = 256
"""Most secrets that are remembered, former ones included; the one unread for longest is dropped."""

_Connection = TypeVar("_Connection")


class NoSecret(LookupError):
    """A secret is not available here; the message names its variable, never a value."""


def secret_text(reference: SecretRef) -> str:
    """Return a secret: its variable's value, else the content of the file in `<variable>_FILE`.

    The last line break of the file is left out.

    Raises:
        NoSecret: neither variable is set, or the file cannot be read.
    """
    text = _text_of(reference)
    known_secrets().learn(text)
    return text


def _text_of(reference: SecretRef) -> str:
    name = reference.environment
    if name.endswith(_FILE):
        raise NoSecret(f"{name} names a file: refer to {name.removesuffix(_FILE)}")
    if name.endswith(BINDING):
        secret = name.removesuffix(BINDING)
        raise NoSecret(f"{name} says where a secret may be sent: refer to {secret}")
    if value := os.environ.get(name):
        return value
    if not (path := os.environ.get(name + _FILE)):
        raise NoSecret(f"neither {name} nor {name}{_FILE} is set in this process's environment")
    try:
        with Path(path).open("rb") as file:
            held = file.read(BYTES_MAX + 1)
        text = held.decode().removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise NoSecret(f"{name}{_FILE} names {path}, which cannot be read: {why}") from None
    if not text or len(held) > BYTES_MAX:
        raise NoSecret(f"{name}{_FILE} names {path}, which is empty or above {BYTES_MAX} bytes")
    return text


class KnownSecrets:
    """Secrets that a process has read, to be masked in texts; safe to call from many threads.

    A replaced secret is kept, because a text with it may come late.
    """

    def __init__(self, most: int = _KNOWN_MAX) -> None:
        """`most`: the number of secrets that are remembered."""
        self._most = most
        self._lock = Lock()
        self._forms: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._pattern: re.Pattern[str] | None = None

    def learn(self, secret: str) -> None:
        """Mask a secret from now on, in whichever form it appears."""
        with self._lock:
            if secret in self._forms:
                self._forms.move_to_end(secret)
                return
            self._forms[secret] = forms_of(secret)
            while len(self._forms) > self._most:
                self._forms.popitem(last=False)
            self._pattern = pattern_of(form for forms in self._forms.values() for form in forms)

    def hide(self, text: str) -> str:
        """Return `text` with known secrets masked, and values that their names mark as secrets."""
        return masked(text, self._pattern)


@cache
def known_secrets() -> KnownSecrets:
    """Return the secrets of this process: one collection, as there is one environment."""
    return KnownSecrets()


def without_secrets(text: str) -> str:
    """Return `text` masked, so that it may leave this process, be logged or be stored."""
    return known_secrets().hide(text)


class Connections(Generic[_Connection]):
    """Connections, one per client, each renewed when one of the client's secrets has changed.

    So a password that is changed in its file needs no restart.  While a secret cannot be read, as
    in the middle of such a change, the existing connection stays in use.
    """

    def __init__(
        self,
        read_secret: ReadSecret,
        connect: Callable[[KafkaClient], _Connection],
        *,
        missing: type[Exception],
    ) -> None:
        """`missing`: the error that `read_secret` raises for a secret that is not available."""
        self._read_secret = read_secret
        self._connect = connect
        self._missing = missing
        self._lock = Lock()
        self._connections: dict[str, tuple[tuple[str, ...], _Connection]] = {}

    def get(self, client: KafkaClient) -> _Connection:
        """Return the connection of `client`.

        Raises:
            The errors of `connect`; if there is no connection yet, those of `read_secret` too.
        """
        key = client.to_json()
        evicted: tuple[tuple[str, ...], _Connection] | None = None
        with self._lock:
            cached = self._connections.get(key)
            try:
                secrets = tuple(map(self._read_secret, client.secrets))
            except self._missing:
                if cached is None:
                    raise
                return cached[1]
            if cached is None or cached[0] != secrets:
                if cached is None and len(self._connections) >= _CONNECTIONS_MAX:
                    oldest = next(iter(self._connections))  # the least recently used
                    evicted = self._connections.pop(oldest)
                cached = (secrets, self._connect(client))
            self._connections.pop(key, None)
            self._connections[key] = cached  # last: dicts keep their order
        del evicted  # without the lock: a client that waits for silent brokers ends slowly
        return cached[1]

    def present(self) -> list[tuple[str, _Connection]]:
        """Return the connections of now, each with its client as JSON, without using them."""
        with self._lock:
            return [(key, connection) for key, (_, connection) in self._connections.items()]
