"""Where the secrets of connections lie: in this process's environment, or in files that it names.

A spec names a variable, never a file: which files are read is the operator's choice alone.
"""

import os
from pathlib import Path

from tasks.kafka_client import SecretRef

BYTES_MAX = 64 * 1024
_FILE = "_FILE"


class NoSecret(LookupError):
    """A secret cannot be had here; the text names its variable, never a value."""


def secret_text(reference: SecretRef) -> str:
    """Return a secret: what its variable holds, else what the file of `<variable>_FILE` holds.

    A file's last line break is not part of it.

    Raises:
        NoSecret: neither variable is set, or the file cannot be read.
    """
    name = reference.environment
    if name.endswith(_FILE):
        raise NoSecret(f"{name} names a file: refer to {name.removesuffix(_FILE)}")
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
