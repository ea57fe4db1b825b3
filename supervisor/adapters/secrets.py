"""Lookup of connection secrets, at the time when a client is built."""

from supervisor.core.values.errors import SecretMissing
from tasks.contract.kafka_client import SecretRef
from tasks.runtime.secrets import NoSecret, secret_text


def read_secret(reference: SecretRef) -> str:
    """Return the secret that `reference` names.

    Raises:
        SecretMissing: the secret is not available here; the text names its variable, no value.
    """
    try:
        return secret_text(reference)
    except NoSecret as error:
        raise SecretMissing(str(error)) from error
