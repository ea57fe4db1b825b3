"""Warnings in a supervisor's status: problems that do not stop the supervisor."""

from collections import Counter
from collections.abc import Sequence

from supervisor.core.attention.divergence import DIVERGED_SHOWN_FOR
from supervisor.core.attention.reports import ReportsBehind, behind_words
from supervisor.core.model.replica_digests import Comparison
from supervisor.core.model.rows import Publication
from supervisor.core.planning.observed import Liveness, Observed
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.counts import counted
from tasks.contract.ingest_spec import BadRecords


def warnings(
    seen: Observed,
    spec: SupervisorSpec,
    diverged: Sequence[Publication],
    *,
    bad: int,
    behind: ReportsBehind | None = None,
) -> list[str]:
    """Return the warnings as sentences.

    `diverged`: recently published ranges with a diverged replica, oldest first.  `bad`: the number
    of bad records in live ranges.  `behind`: how far stored reports are behind, where it is known.
    """
    messages = [
        f"worker {worker} is silent: what is shown of {_tasks(tasks)} is what it last reported"
        for worker, tasks in sorted(_silent(seen).items())
    ]
    if spec.tuning_config.bad_records is BadRecords.WARN and bad:
        records = f"{counted(bad, 'record')} of the ranges that are read now"
        messages.append(f"{records} cannot be read: see parseErrors")
    if behind is not None and behind.is_late:
        messages.append(
            f"stored reports are behind by {behind_words(behind)}: a log or report of a task that "
            "ended lately may be missing"
        )
    return messages + _differing(diverged)


def _tasks(count: int) -> str:
    return counted(count, "task")


def _silent(seen: Observed) -> Counter[str]:
    """Return worker -> number of its tasks, of workers that have not reported lately."""
    alive = {worker.id for worker in seen.workers if worker.liveness is Liveness.ALIVE}
    return Counter(t.worker_id for t in seen.tasks if t.worker_id not in alive)


def _differing(diverged: Sequence[Publication]) -> list[str]:
    """Warn of different rows only; different records are normal for a compacted topic."""
    differing = [
        p for p in diverged if any(d.comparison is Comparison.OTHER_ROWS for d in p.diverged)
    ]
    if not differing:
        return []
    last, days = differing[-1], DIVERGED_SHOWN_FOR.days
    ranges = counted(len(differing), "range")
    which = f"{ranges} of the last {days} days, the last one {last.generation_id}"
    return [f"replicas made different rows of the same records in {which}: see `diverged` of it"]
