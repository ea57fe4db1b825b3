"""Replica digests of a range: equal if two replicas made the same rows of the same records.

    row      ─ hash of place, time, declared columns, metrics ─┐
    no row   ─ hash of place, reason ──────────────────────────┴ XOR ► batch ─ XOR ► range

XOR makes the digest independent of the batch boundaries of a replica and of the order of its rows.
This module is pure.  Spark computes the hashes themselves (`ingest/decode/digest.py`).
"""

from collections.abc import Iterable
from functools import reduce

VERSION = 3
"""Version of the hash and of its input.  Each change of either increases the version, because
digests of different versions are not comparable.

3: numbers of seconds are cut to microseconds; a double that a column cannot hold is null.
2: filters and metrics of texts see true and false as texts; sketches have the entries of lists.
"""
PATTERN = r"^[1-9][0-9]{0,3}:[0-9a-f]{16}$"
"""Form of a digest: the decimal version, a colon, 64 bits in hex."""

_MASK = 2**64 - 1


def digest_of(bits: int, version: int = VERSION) -> str:
    """Return the digest of 64 bits, which may be signed or unsigned."""
    return f"{version}:{bits & _MASK:016x}"


NO_RECORDS = digest_of(0)
"""Digest of a range without records."""


def together(digests: Iterable[str | None]) -> str | None:
    """Return the digest of consecutive ranges; None: the digest is not known.

    A digest is not known if one of the batches was written before digests existed, or if the
    digests have several versions.
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
    """Return whether two digests are both known and have the same version."""
    return None not in {one, other} and _version(one) == _version(other)


def _version(digest: str | None) -> str:
    return (digest or "").partition(":")[0]
