"""B11: a replica that came to something else than was published is told of, and no other one.

What an overlord had heard when it published, and what a late replica said when it asked, is in the
world's log; what came of it is in the database.  There it says which rows were published, too: the
other checkers see to it that these are the winner's, once.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.simulation.checkers.database import Rows
from tests.simulation.checkers.ledger import Watched

FAULT = "replicas diverge"
"""Name of the fault without which no rows differ."""
_PUBLISHED = "SELECT generation_id, task_id, digest, diverged, published_at FROM publications"
_EVENTS = "SELECT generation_id, detail FROM happenings WHERE kind = 'replicas-diverged'"
_ALERTS = "SELECT subject FROM audit WHERE action = 'alert'"


@dataclass(frozen=True)
class _Published:
    task: str
    digest: str | None
    others: Mapping[str, Mapping[str, object]]
    """Task -> what it came to instead."""
    at: str


def differences_are_reported(now: Rows, world: Watched) -> Iterator[str]:
    """Compare what was said with what was told of it."""
    db = world.store_connection
    published = {
        generation: _Published(task, digest, {d["task"]: d for d in json.loads(others or "[]")}, at)
        for generation, task, digest, others, at in db.execute(_PUBLISHED)
    }
    yield from _nobody_is_alarmed_in_vain(published, world)
    events = {(row[0], json.loads(row[1])["other"]) for row in db.execute(_EVENTS)}
    alerts = {row[0] for row in db.execute(_ALERTS)}
    for generation, found in published.items():
        for task, other in found.others.items():
            if (generation, task) not in events:
                yield f"B11 no event tells that {task} differs"
            if other["found"] == "other-rows" and task not in alerts:
                yield f"B11 no alert tells that {task} differs"
    for task, digest in _compared_digests(now, published, world):
        known = published[now.tasks[task].generation]
        differs = digest != known.digest and None not in {digest, known.digest}
        if differs and task not in known.others:
            yield f"B11 {task} made {digest}, published was {known.digest}: nobody is told"


def _nobody_is_alarmed_in_vain(
    published: Mapping[str, _Published], world: Watched
) -> Iterator[str]:
    drifts = any(h.kind == "fault" and h.detail.get("name") == FAULT for h in world.log)
    for generation, found in published.items():
        for task, other in found.others.items():
            if other["digest"] == found.digest:
                yield f"B11 {task} agrees with what was published of {generation}"
            if other["found"] == "other-rows" and not drifts:
                yield f"B11 {task} is told to differ, and no worker drifts"


def _compared_digests(
    now: Rows, published: Mapping[str, _Published], world: Watched
) -> Iterator[tuple[str, str | None]]:
    """Yield (task, digest) of what was to be compared."""
    for line in world.log:
        if line.kind != "publish-answer":
            continue
        task_id, digests = line.detail["task"], line.detail.get("digests", {})
        late = line.detail["outcome"] == "already-published"
        assert isinstance(digests, Mapping)
        row = now.tasks.get(str(task_id))
        winner = None if row is None else published.get(row.generation)
        if row is None or winner is None:
            continue
        for task, digest in digests.items():
            other = now.tasks.get(task)
            if other is None or other.generation != row.generation or task == winner.task:
                continue
            # One that had ended before was no replica any more when the range was published, even
            # if it had asked by then and had to wait: nobody can compare with what is to come.
            if (late and task == task_id) or other.ended_at == winner.at:
                yield task, digest
