"""Which chunks of a batch are new, when a sender may have cut the same log in other pieces before.

A chunk's id is a function of its offset and not of its size.  A sender that restarts sends what was
under way once more, and by then its file has grown: the same id comes with more bytes.  They come
this once, since the sender goes on behind them.  So of a chunk that begins with what is stored
under its id, the rest is stored, under an id made of the first id and the stored size:

    stored      [100 ──── 150)        id
    comes       [100 ──────────── 200)    id
    is stored             [150 ── 200)    id of (id, 50)
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import StoredChunk
from supervisor.ports.store_problems import ContentRefused

__all__ = ["CHUNK_BYTES_MAX", "KnownChunk", "NewChunks", "check_chunks", "digest_of"]
__all__ += ["new_chunks"]

CHUNK_BYTES_MAX = 16 * 1024 * 1024
"""Larger chunks are refused: so a read knows how far before its offset a chunk can begin."""
_DIGEST_BYTES = 16
_ID_CHARS_MAX = 60
"""A record's id has 32; a segment file has room for 255 bytes."""
_NUMBER_MAX = 2**53


@dataclass(frozen=True)
class KnownChunk:
    """What a store knows of a chunk without its content."""

    size: int
    """In bytes."""
    digest: bytes
    ends: bool


@dataclass(frozen=True)
class NewChunks:
    """What is to be stored of a batch."""

    fresh: Mapping[str, StoredChunk]
    """By id."""
    outcomes: Sequence[StoreOutcome]
    """Of each chunk of the batch, once `fresh` is stored."""


def digest_of(content: bytes) -> bytes:
    """Return the digest of a chunk's content: 16 bytes."""
    return hashlib.sha256(content).digest()[:_DIGEST_BYTES]


def check_chunks(chunks: Sequence[StoredChunk]) -> None:
    """Refuse what no log store takes.

    Raises:
        ContentRefused: a chunk is too large, is at no place of a log, or has a text that databases
            refuse.
    """
    for chunk in chunks:
        if len(chunk.content) > CHUNK_BYTES_MAX:
            size = len(chunk.content)
            raise ContentRefused(f"a chunk of {size} bytes: at most {CHUNK_BYTES_MAX} are stored")
        if not (0 <= chunk.offset <= _NUMBER_MAX and 0 <= chunk.attempt <= _NUMBER_MAX):
            raise ContentRefused(f"a chunk of attempt {chunk.attempt} at offset {chunk.offset}")
        if len(chunk.record_id) > _ID_CHARS_MAX:
            raise ContentRefused(f"an id of {len(chunk.record_id)} characters")
        _check_texts([chunk.record_id, chunk.subject, *(line.text for line in chunk.grave)])
        _check_texts([chunk.supervisor or "", chunk.data_source or "", chunk.worker or ""])


def _check_texts(texts: Sequence[str]) -> None:
    for text in texts:
        if "\0" in text:
            raise ContentRefused("a text holds NUL, which databases refuse")
        if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
            raise ContentRefused("a text holds half of a surrogate pair")


def new_chunks(
    chunks: Sequence[StoredChunk],
    look: Callable[[Collection[str]], Mapping[str, KnownChunk]],
    content_of: Callable[[str], bytes | None],
) -> NewChunks:
    """Judge a batch.

    `look` returns what is stored of some ids; `content_of` returns stored content, None if it
    cannot be read.
    """
    outcomes = [StoreOutcome.CONFLICT] * len(chunks)
    fresh: dict[str, StoredChunk] = {}

    def content(record_id: str) -> bytes | None:
        first = fresh.get(record_id)
        return content_of(record_id) if first is None else first.content

    known: dict[str, KnownChunk] = {}
    looked: set[str] = set()
    waiting = list(enumerate(chunks))
    while waiting:
        wanted = {chunk.record_id for _, chunk in waiting} - looked
        known |= look(wanted) if wanted else {}
        looked |= wanted
        rests = []
        for index, chunk in waiting:
            stored = known.get(chunk.record_id)
            if stored is None and (first := fresh.get(chunk.record_id)) is not None:
                stored = _known(first)
            if stored is None:
                fresh[chunk.record_id] = chunk
                outcomes[index] = StoreOutcome.STORED
            elif (rest := _rest_of(chunk, stored)) is not None:
                rests.append((index, rest))
            else:
                outcomes[index] = _judge(chunk, stored, content)
        waiting = rests
    return NewChunks(fresh, outcomes)


def _known(chunk: StoredChunk) -> KnownChunk:
    return KnownChunk(len(chunk.content), digest_of(chunk.content), chunk.ends)


def _rest_of(chunk: StoredChunk, stored: KnownChunk) -> StoredChunk | None:
    """Return what a chunk says beyond the stored one; None: nothing, or it contradicts."""
    says_end = chunk.ends and not stored.ends and len(chunk.content) == stored.size
    if len(chunk.content) <= stored.size and not says_end:
        return None
    if digest_of(chunk.content[: stored.size]) != stored.digest:
        return None
    offset = chunk.offset + stored.size
    record_id = digest_of(f"{chunk.record_id}+{stored.size}".encode()).hex()
    grave = [line for line in chunk.grave if line.offset >= offset]
    content = chunk.content[stored.size :]
    return replace(chunk, record_id=record_id, offset=offset, content=content, grave=grave)


def _judge(
    chunk: StoredChunk, stored: KnownChunk, content_of: Callable[[str], bytes | None]
) -> StoreOutcome:
    """Judge a chunk that says nothing beyond the stored one of its id."""
    if len(chunk.content) == stored.size:
        is_same = digest_of(chunk.content) == stored.digest
    elif len(chunk.content) > stored.size:
        is_same = False
    else:
        content = content_of(chunk.record_id)
        is_same = content is None or content.startswith(chunk.content)
    return StoreOutcome.CONFLICT if is_same else StoreOutcome.MISMATCH
