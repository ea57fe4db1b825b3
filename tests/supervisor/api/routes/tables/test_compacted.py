"""What the API tells of compacted files and of those that they replaced."""

from dataclasses import replace
from typing import cast

from supervisor.core.model.rows import Segment, TaskStatus
from supervisor.core.tables.compaction import Compaction, Share
from supervisor.core.values.ids import compaction_id
from supervisor.core.values.intervals import Interval
from supervisor.verify.ledger import CheckedLedger
from tests.supervisor.api.routes.tables.test_segments import (
    DRUID,
    LEDGER,
    changed,
    files,
    listed,
    publish,
)
from tests.supervisor.api.world import NOON, TOPIC, Json, World


def compact(world: World, segment_id: str) -> tuple[Segment, Segment]:
    """Put a compacted file in the place of a published one; return both."""
    name = compaction_id(TOPIC, [segment_id], 1)
    with world.store.leading(world.leadership.term()) as tx:
        old = tx.segments.get(segment_id)
        assert old is not None
        file = old.file.model_copy(update={"path": f"{TOPIC}/data/{name}/part-0.parquet"})
        new = replace(old, id=f"{name}/0", compaction_id=name, file=file)
        within = Interval(old.file.interval_start, old.file.interval_end)
        shares = (Share(old.generation_id, old.file.rows, old.file.spans),)
        tx.compactions.add(
            Compaction(name, TOPIC, TOPIC, within, (old.id,), (), shares, "a story", NOON)
        )
        tx.segments.replace([old.id], new, NOON)
        tx.compactions.end(name, TaskStatus.SUCCESS, "done", NOON)
    return old, new


def test_a_file_tells_the_compaction_that_wrote_it(world: World) -> None:
    _, segment = publish(world)
    old, new = compact(world, segment)

    [file] = cast("list[Json]", files(world))

    assert (file["path"], file["compactionId"]) == (new.file.path, new.compaction_id)
    assert (file["generationId"], file["taskId"]) == (old.generation_id, old.task_id)


def test_a_replaced_segment_tells_by_what_and_stays_out(world: World) -> None:
    _, segment = publish(world)
    old, new = compact(world, segment)

    by_id = {each["id"]: each for each in listed(world)}

    assert (by_id[old.id]["used"], by_id[old.id]["replacedBy"]) == (False, new.compaction_id)
    assert (by_id[new.id]["used"], by_id[new.id]["compactionId"]) == (True, new.compaction_id)
    assert (by_id[old.id]["compactionId"], by_id[new.id]["replacedBy"]) == (None, None)
    assert by_id[old.id]["deleteAfter"] is not None
    assert world.post(f"{DRUID}/markUsed", {"segmentIds": [old.id]}).json() == changed(0)


def test_the_ledger_tells_what_a_compacted_file_has_of_each_range(world: World) -> None:
    """Goal: `verify` reads it once, and looks for nothing in the files that it replaced."""
    _, segment = publish(world)
    old, new = compact(world, segment)

    ledger = CheckedLedger.model_validate(world.get(LEDGER))
    [publication] = ledger.publications
    world.client.delete(DRUID)
    [dropped] = CheckedLedger.model_validate(world.get(LEDGER)).publications

    assert (publication.segments, publication.let_go, ledger.forgotten) == ((), (), ())
    [share] = publication.compacted
    assert (share.file, share.rows, share.spans) == (new.file, old.file.rows, old.file.spans)
    assert dropped.compacted == ()
    assert [each.file.path for each in dropped.let_go] == [new.file.path]
