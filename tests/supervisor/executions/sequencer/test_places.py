"""The partition of an entity is the same for ever: golden values."""

import pytest

from supervisor.executions.sequencer.places import murmur2, partition_of

_OF_KAFKA = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}
"""Source: UtilsTest.testMurmur2 of Apache Kafka."""


@pytest.mark.parametrize("text", _OF_KAFKA)
def test_it_is_the_hash_of_kafkas_java_clients(text: str) -> None:
    assert murmur2(text.encode()) == _OF_KAFKA[text] % 2**32


@pytest.mark.parametrize(
    ("entity", "partition"),
    [("orders-day-2026-11-25", 5), ("e1", 5), ("orders-day", 4), ("käse/größe", 6), ("", 1)],
)
def test_an_entity_stays_where_it_is(entity: str, partition: int) -> None:
    assert partition_of(entity, 8) == partition
