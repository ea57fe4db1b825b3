"""The same facts give the same id, other facts another one."""

import re

from supervisor.core import names
from tests.core.snapshots import offsets, part


def test_replicas_and_attempts_share_the_base_and_differ_in_the_end() -> None:
    """Goal: Druid's form `index_kafka_<id>_<15 hex>_<8 letters>`; source: its task ids."""
    base = names.base_sequence_name("clicks", "digest", offsets(1, 2))
    ids = {names.task_id(base, "clicks:1", r, a) for r in range(3) for a in range(1, 4)}

    assert len(ids) == 9
    assert all(re.fullmatch(r"index_kafka_clicks_[0-9a-f]{15}_[a-p]{8}", name) for name in ids)


def test_the_order_of_partitions_does_not_matter() -> None:
    """Goal: a new leader that reads the rows in another order finds the same names."""
    forth = {part(0): 1, part(1): 2}
    back = {part(1): 2, part(0): 1}

    assert names.base_sequence_name("c", "d", forth) == names.base_sequence_name("c", "d", back)


def test_another_start_or_schema_gives_another_base() -> None:
    bases = {
        names.base_sequence_name("c", digest, start)
        for digest in ("d", "e")
        for start in (offsets(1, 2), offsets(1, 3), offsets(1), offsets(12))
    }

    assert len(bases) == 8


def test_the_same_replica_of_another_generation_has_another_id() -> None:
    """Goal: an empty range is followed by one with the same start: its tasks are other tasks."""
    assert names.task_id("base", "clicks:1", 0, 1) != names.task_id("base", "clicks:2", 0, 1)
    assert names.task_id("base", "clicks:1", 1, 1) != names.task_id("base", "clicks:11", 1, 1)


def test_names_do_not_change_between_versions() -> None:
    """Goal: after an upgrade the pass that is made again does nothing twice."""
    assert names.generation_id("clicks", 7) == "clicks:7"
    base = names.base_sequence_name("clicks", "digest", offsets(1, 2))
    assert names.task_id(base, "clicks:1", 0, 1) == "index_kafka_clicks_777e58c11dae462_glkmlpkb"
