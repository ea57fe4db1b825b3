"""The partition of an entity: a hash of its id, the same for every writer and for ever.

It is the murmur2 of Kafka's Java clients.  librdkafka's own choice is another one, so no producer
of executions leaves the choice to its client.
"""

__all__ = ["murmur2", "partition_of"]

_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995
_BITS = 0xFFFFFFFF


def partition_of(entity: str, partitions: int) -> int:
    """Return the partition of an execution, a gate or a task run, by its id."""
    return (murmur2(entity.encode()) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Return the 32 bits of a hash, as a number of 0 or more.

    Source: org.apache.kafka.common.utils.Utils.murmur2, whose result has a sign.
    """
    value = _SEED ^ len(data)
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        word = int.from_bytes(data[start : start + 4], "little") * _FACTOR & _BITS
        word = (word ^ word >> 24) * _FACTOR & _BITS
        value = value * _FACTOR & _BITS ^ word
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _BITS
    value = (value ^ value >> 13) * _FACTOR & _BITS
    return value ^ value >> 15
