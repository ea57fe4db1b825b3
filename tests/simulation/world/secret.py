"""The one secret of a run: in the environment of its processes, and nowhere else (I12)."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

SECRET = "canary-7d1f0c"
"""The password of the simulated brokers; nobody may store or tell it."""
VARIABLE = "TIDEGATE_SECRET_SIMULATED"
LOGIN: Mapping[str, object] = MappingProxyType(
    {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "tidegate",
        "druid.dynamic.config.provider": {
            "type": "environment",
            "variables": {"sasl.password": VARIABLE},
        },
    }
)
"""What a spec says of it: where it lies."""


@contextmanager
def secret_in_place() -> Iterator[None]:
    """Let every process of a run find it."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = SECRET
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
