"""A stored version of a flow: append-only, with a tombstone when the flow is deleted."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

__all__ = ["StoredFlow", "digest_of"]


@dataclass(frozen=True)
class StoredFlow:
    """One version of a flow, as its author wrote it."""

    name: str
    version: int
    """From 1 on, without a hole."""
    document: Mapping[str, JsonValue] | None
    """None: this version deletes the flow."""
    digest: str
    """Of the document: equal documents have equal ones."""
    author: str
    reason: str | None
    at: datetime

    @property
    def deleted(self) -> bool:
        """Whether this version deletes the flow."""
        return self.document is None


def digest_of(document: Mapping[str, JsonValue] | None) -> str:
    """Return the digest of a document, whatever the order of its fields."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
