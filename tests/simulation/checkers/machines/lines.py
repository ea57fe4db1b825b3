"""Journals as the checkers read them: the form of a line is all that they know of the product.

<16 hex of a digest> {"record": {"kind": "batch", "entry": {"number", "start", "end", ...}}}
"""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tasks.contract.offsets import TopicPartition

_DIGEST = 17
"""Bytes before the JSON of a line."""


class Batch(NamedTuple):
    """One batch that a journal names."""

    number: int
    end: Mapping[TopicPartition, int]
    files: tuple[str, ...]


class Lines(NamedTuple):
    """What a journal was when it was read, and the batches in it."""

    content: bytes
    batches: tuple[Batch, ...]


NO_LINES = Lines(b"", ())


def read_lines(content: bytes, before: Lines = NO_LINES) -> Lines:
    """Read a journal up to the first line that is none; `before`: an earlier reading of it."""
    if content is before.content:
        return before
    known = len(before.content)
    if not content.startswith(before.content) or not before.content.endswith(b"\n"):
        known, before = 0, NO_LINES
    return Lines(content, (*before.batches, *_batches(content[known:])))


def _batches(content: bytes) -> Iterator[Batch]:
    for line in content.split(b"\n")[:-1]:
        try:
            record = json.loads(line[_DIGEST:])["record"]
        except (ValueError, UnicodeDecodeError):
            return
        if record["kind"] == "batch":
            entry = record["entry"]
            files = [*entry["files"], *entry["quarantine"], entry["rejects"]]
            paths = tuple(file["path"] for file in files if file is not None)
            yield Batch(entry["number"], _offsets(entry["end"]), paths)


def _offsets(given: Mapping[str, int]) -> dict[TopicPartition, int]:
    split = ((name.rpartition(":"), offset) for name, offset in given.items())
    return {TopicPartition(topic, int(number)): offset for (topic, _, number), offset in split}
