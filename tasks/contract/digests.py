"""Digests of what a range came to: equal for replicas that made the same of the same records.

    row      ─ hash of place, time, declared columns, metrics ─┐
    no row   ─ hash of place, reason ──────────────────────────┴ XOR ► batch ─ XOR ► range

XOR, so that it does not matter how a replica cut its batches, or in which order its rows came.
Pure; the hashes themselves are Spark's (`ingest/decode/digest.py`).
"""

from collections.abc import Iterable
from functools import reduce

VERSION = 3
"""Of what is hashed, and how.  It grows with every change of it: others are not comparable.

3: numbers of seconds are cut to microseconds; a double that a column cannot hold is null.
2: filters and metrics of texts see true and false as texts; sketches have the entries of lists.
"""
PATTERN = r"^[1-9][0-9]{0,3}:[0-9a-f]{16}$"
"""Version and 64 bits, in hex."""

_MASK = 2**64 - 1


def digest_of(bits: int, version: int = VERSION) -> str:
    """Write 64 bits, signed or not, as a digest."""
    return f"{version}:{bits & _MASK:016x}"


NO_RECORDS = digest_of(0)
"""Of a range without records."""


def together(digests: Iterable[str | None]) -> str | None:
    """Return the digest of ranges that follow each other; None: it is not known.

    One is not known if a batch of it was written before there were digests, or they are of
    several versions.
    """
    found = list(digests)
    parts = [each.split(":") for each in found if each is not None]
    if len(parts) < len(found):
        return None
    versions = {int(version) for version, _ in parts} or {VERSION}
    if len(versions) > 1:
        return None
    bits = reduce(lambda one, other: one ^ other, (int(text, 16) for _, text in parts), 0)
    return digest_of(bits, versions.pop())


def comparable(one: str | None, other: str | None) -> bool:
    """Tell whether two digests say anything about each other."""
    return None not in {one, other} and _version(one) == _version(other)


def _version(digest: str | None) -> str:
    return (digest or "").partition(":")[0]
