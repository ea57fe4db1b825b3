"""Deterministic ids: the same facts give the same id, so that a repeated effect happens once."""

import hashlib
import re
from collections.abc import Sequence

from tasks.contract.offsets import Offsets

_LETTERS = "abcdefghijklmnop"
_TASK_ID = re.compile(
    rf"index_kafka_[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}_[0-9a-f]{{15}}_[{_LETTERS}]{{8}}"
)
_COMPACTION_ID = re.compile(
    rf"compact_[A-Za-z0-9][A-Za-z0-9_.-]{{0,127}}_[0-9a-f]{{15}}_[{_LETTERS}]{{8}}"
)


def generation_id(supervisor_id: str, ordinal: int) -> str:
    """Return the id of a supervisor's `ordinal`-th generation."""
    return f"{supervisor_id}:{ordinal}"


def ordinal_of(generation_id: str) -> int:
    """Return the ordinal from the id of a generation.

    Raises:
        ValueError: the text is not the id of a generation.
    """
    return int(generation_id.rpartition(":")[2])


def base_sequence_name(supervisor_id: str, schema_digest: str, start: Offsets) -> str:
    """Return the part of a task's id that its replicas share.

    Source: Druid's `index_kafka_<id>_<15 hex of SHA-1>` over schema and start offsets; Druid
    hashes partitions in the order of a map, here they are sorted.
    """
    offsets = "".join(f"+{partition}({start[partition]})" for partition in sorted(start))
    digest = hashlib.sha1(f"{schema_digest}{offsets}".encode(), usedforsecurity=False)
    return f"index_kafka_{supervisor_id}_{digest.hexdigest()[:15]}"


def task_id(base: str, generation: str, replica: int, attempt: int) -> str:
    """Return the id of one attempt: `base` and eight letters, as Druid's clients expect."""
    return f"{base}_{_letters(f'{generation}/{replica}/{attempt}')}"


def could_be_task_id(name: str) -> bool:
    """Return whether `name` has the form of a result of `task_id`."""
    return _TASK_ID.fullmatch(name) is not None


def compaction_id(data_source: str, inputs: Sequence[str], attempt: int) -> str:
    """Return the id of one compaction attempt; the order of the inputs does not matter."""
    files = "+".join(sorted(inputs))
    digest = hashlib.sha1(files.encode(), usedforsecurity=False).hexdigest()[:15]
    return f"compact_{data_source}_{digest}_{_letters(f'{data_source}/{files}/{attempt}')}"


def could_be_compaction_id(name: str) -> bool:
    """Return whether `name` has the form of a result of `compaction_id`."""
    return _COMPACTION_ID.fullmatch(name) is not None


def could_be_writer(name: str) -> bool:
    """Return whether `name` could be the folder of a task or of a compaction."""
    return could_be_task_id(name) or could_be_compaction_id(name)


def _letters(facts: str) -> str:
    digest = hashlib.sha256(facts.encode()).digest()
    return "".join(_LETTERS[byte % 16] for byte in digest[:8])
