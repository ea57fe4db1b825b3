"""Text of logs, stored by one thread into segment files."""

import os
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

from bench.figures.reports.task_logs import CHUNK_BYTES, chunks_of, segment_store, task_log
from bench.result import Budget, Result, spread
from bench.world import World
from supervisor.ports.reports.logs import StoredChunk

NAME = "log-store"
_CHUNKS = 32
"""Of a batch: 2 MiB."""
_LOGS = 8
_LEVEL = 4


def run(world: World) -> Result:
    """Store batches, and write the same text bare, by turns."""
    batches = world.sizes.log_batches
    folder = world.folder(NAME)
    text_bytes = _CHUNKS * CHUNK_BYTES
    texts = [task_log(seed, text_bytes) for seed in range(_LOGS)]
    stored, bare, plain = [], [], []
    with segment_store(folder) as store:
        for number in range(batches):
            batch = _batch(texts, number)
            began = time.perf_counter()
            store.put_many(batch)
            stored.append(_rate(text_bytes, began))
            bare.append(_written(folder / "bare", batch, _LEVEL))
            plain.append(_written(folder / "plain", batch, None))
        in_files = store.size_bytes() / (batches * text_bytes)
    in_rows = (folder / "reports.db").stat().st_size / (batches * text_bytes)
    rates = spread(stored)
    return Result(
        NAME,
        rates.middle,
        "MB/s",
        baseline=spread(bare).middle,
        budget=Budget(40, at_least=True),
        how=(
            f"{batches} batches of {_CHUNKS} chunks of 64 KiB of task logs, looked up, compressed, "
            "appended, synced and indexed on SQLite by one thread, medians of MB of text; "
            "baseline: each chunk compressed by the same codec, appended, synced once a batch, by "
            "turns"
        ),
        notes=(
            rates.told("MB/s"),
            f"written and synced without compression: {spread(plain).told('MB/s')}",
            f"disk per byte of text: {in_files:.3f} in files, {in_rows:.3f} in the database",
        ),
    )


def _batch(texts: Sequence[bytes], number: int) -> list[StoredChunk]:
    """Return a chunk of each of many tasks, as a persister gets them."""
    batch: list[StoredChunk] = []
    for each in range(_CHUNKS):
        begin = (each + number) % _CHUNKS * CHUNK_BYTES
        content = texts[each % _LOGS][begin : begin + CHUNK_BYTES]
        batch += chunks_of(f"task-{number}-{each}", content)
    return batch


def _written(file: Path, batch: Sequence[StoredChunk], level: int | None) -> float:
    contents = [chunk.content for chunk in batch]
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    began = time.perf_counter()
    packed = contents if level is None else [zlib.compress(each, level) for each in contents]
    os.write(descriptor, b"".join(packed))
    os.fsync(descriptor)
    rate = _rate(sum(map(len, contents)), began)
    os.close(descriptor)
    return rate


def _rate(size: int, began: float) -> float:
    return size / 1e6 / (time.perf_counter() - began)
