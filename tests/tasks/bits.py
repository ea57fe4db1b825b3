"""What engines without Spark digest: the records of a batch, whatever their order."""

import hashlib
from collections.abc import Iterable
from functools import reduce
from operator import xor

from tasks.contract.offsets import Offsets


def bits_of(records: Iterable[object]) -> int:
    """Return 64 bits: the XOR of a hash of each record as Python writes it."""
    return reduce(xor, map(_hash, records), 0)


def places(start: Offsets, end: Offsets) -> int:
    """Return the bits of a range of which every record is its offset."""
    return bits_of((p, o) for p in start for o in range(start[p], end[p]))


def _hash(record: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(record).encode()).digest()[:8], "big")
