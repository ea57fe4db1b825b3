"""Outputs that are too large for a record: kept apart, under a name that the record has.  Pure.

    outputs of a step over INLINE_BYTES_MAX: the largest ─► artifact
                                                        └► {"artifact": id, "bytes": n, "sha256": s}

The id has the task run, the attempt and the digest of the content in it: the same content of the
same attempt has one id, however often it is stored, and another content never has it.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

__all__ = [
    "ARTIFACT_BYTES_MAX",
    "ARTIFACT_ID",
    "EXECUTION_BYTES_MAX",
    "INLINE_BYTES_MAX",
    "Artifact",
    "ArtifactForm",
    "ArtifactRef",
    "artifact_of",
    "json_size",
    "reference_of",
    "references_in",
]

INLINE_BYTES_MAX = 16 * 1024
"""Of the outputs of a step as JSON: what is more lies beside the record."""
ARTIFACT_BYTES_MAX = 8 * 1024 * 1024
"""Of one artifact; a larger output fails its step."""
EXECUTION_BYTES_MAX = 64 * 1024 * 1024
"""Of all artifacts of an execution."""
ARTIFACT_ID = r"^[0-9a-f]{1,64}-[0-9]{1,9}-[0-9a-f]{32}$"
_ID = re.compile(ARTIFACT_ID)
_MEMBERS = {"artifact", "bytes", "sha256"}
_DIGITS = 32


class ArtifactForm(StrEnum):
    """TEXT: the output was a text, and these are its letters in UTF-8.  JSON: anything else."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """What a record says of an artifact."""

    id: str
    bytes: int
    sha256: str
    """Of its content, in hexadecimal digits."""

    @property
    def value(self) -> dict[str, JsonValue]:
        """The value that a record has in the place of the output."""
        return {"artifact": self.id, "bytes": self.bytes, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Artifact:
    """The content of an output."""

    ref: ArtifactRef
    form: ArtifactForm
    body: bytes

    @property
    def value(self) -> JsonValue:
        """The output as the step gave it."""
        text = self.body.decode()
        if self.form is ArtifactForm.TEXT:
            return text
        value: JsonValue = json.loads(text)
        return value


def artifact_of(run: str, attempt: int, value: JsonValue) -> Artifact:
    """Return an output of an attempt as an artifact."""
    form = ArtifactForm.TEXT if isinstance(value, str) else ArtifactForm.JSON
    text = value if isinstance(value, str) else _json(value)
    # Half of a surrogate pair may come of JSON: no UTF-8 has it, and no database.
    body = text.encode("utf-8", "replace")
    digest = hashlib.sha256(body).hexdigest()
    return Artifact(
        ArtifactRef(f"{run}-{attempt}-{digest[:_DIGITS]}", len(body), digest), form, body
    )


def reference_of(value: JsonValue) -> ArtifactRef | None:
    """Return what a value refers to; None: it is no reference."""
    if not isinstance(value, dict) or value.keys() != _MEMBERS:
        return None
    name, size, digest = value["artifact"], value["bytes"], value["sha256"]
    if not isinstance(name, str) or not isinstance(digest, str) or not _ID.match(name):
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        return None
    return ArtifactRef(name, size, digest)


def references_in(value: JsonValue | Mapping[str, JsonValue]) -> Iterator[ArtifactRef]:
    """Go through the references in a value, however deep they lie."""
    if isinstance(value, Mapping):
        ref = reference_of(dict(value))
        if ref is not None:
            yield ref
            return
        for each in value.values():
            yield from references_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from references_in(each)


def json_size(value: JsonValue | Mapping[str, JsonValue]) -> int:
    """Return how many bytes a value has as JSON, about as a record writes it."""
    return len(_json(value).encode("utf-8", "replace"))


def _json(value: JsonValue | Mapping[str, JsonValue]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
