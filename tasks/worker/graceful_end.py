"""The graceful end of a worker: what it does before and after its tasks have come to rest.

begin ──► reports say `stopping`, nothing new starts ──tasks at rest, or time is up──► finish
"""

from dataclasses import dataclass, field
from datetime import timedelta

from tasks.worker.compaction import Compactor
from tasks.worker.roster import Roster
from tasks.worker.sampler import WorkerSamples
from tasks.worker.sync import Sync


@dataclass(frozen=True)
class GracefulEnd:
    """The parts of one worker that are to come to rest; nothing here waits."""

    stop_grace: timedelta
    """A batch that still runs this long after `begin` is cancelled."""
    sync: Sync
    roster: Roster
    compactor: Compactor = field(kw_only=True)
    sampling: WorkerSamples = field(kw_only=True)

    def begin(self) -> None:
        """Stop every task at its next batch boundary; their journals stay."""
        self.sync.stopping()
        self.roster.close(self.stop_grace.total_seconds())
        self.sampling.close()
        self.compactor.close()  # at once: no handoff waits for it, and it begins anew elsewhere

    def finish(self) -> None:
        """Tell the overlord once how the tasks ended, and follow no answer any more."""
        self.sync.close()
        self.sync.send_last_report()
