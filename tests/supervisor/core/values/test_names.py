"""The same facts give the same id, other facts another one."""

import re

from supervisor.core.values import ids as names
from tests.supervisor.core.snapshots import offsets, part


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


def test_an_attempt_to_compact_is_named_by_its_table_its_files_and_its_number() -> None:
    """Goal: the order of the inputs says nothing; another attempt has another folder."""
    attempt_id = names.compaction_id("clicks", ["clicks:2/0", "clicks:1/0"], 1)

    assert attempt_id == names.compaction_id("clicks", ["clicks:1/0", "clicks:2/0"], 1)
    assert re.fullmatch(r"compact_clicks_[0-9a-f]{15}_[a-p]{8}", attempt_id)
    others = {
        names.compaction_id("clicks", ["clicks:2/0", "clicks:1/0"], 2),
        names.compaction_id("views", ["clicks:2/0", "clicks:1/0"], 1),
        names.compaction_id("clicks", ["clicks:2/0", "clicks:1/1"], 1),
    }
    assert len({attempt_id, *others}) == 4


def test_a_compaction_and_a_task_are_told_apart_by_their_ids() -> None:
    """Goal: a folder is given to the one who looks after it."""
    base = names.base_sequence_name("clicks", "digest", offsets(1, 2))
    task = names.task_id(base, "clicks:1", 0, 1)
    compaction = names.compaction_id("x" * 128, ["clicks:1/0", "clicks:2/0"], 1)

    assert names.could_be_compaction_id(compaction)
    assert not names.could_be_compaction_id(task)
    assert names.could_be_task_id(task)
    assert not names.could_be_task_id(compaction)
    assert not names.could_be_compaction_id("compact_clicks_0123456789abcde_abcdefgz")
