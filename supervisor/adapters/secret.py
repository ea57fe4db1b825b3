"""Secrets of connections: read from this process's environment when a client is built."""

import os

from supervisor.core.errors import SecretMissing
from tasks.kafka_client import SecretRef


def read_secret(reference: SecretRef) -> str:
    """Return the secret that `reference` names.

    Raises:
        SecretMissing: the variable is not set here; the text names it, never a value.
    """
    value = os.environ.get(reference.environment)
    if not value:
        raise SecretMissing(
            f"the environment variable {reference.environment} is not set in this process"
        )
    return value
