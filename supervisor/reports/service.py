"""The persister as a whole: its pipeline, its intake if there are topics, and its lag."""

import threading
from dataclasses import dataclass, field

import structlog

from supervisor.reports.door import Door
from supervisor.reports.intake import Intake, IntakeStatus
from supervisor.reports.pipeline import Pipeline, PipelineStatus

__all__ = ["Persister", "PersisterView"]

log = structlog.get_logger()

_STOP_S = 30.0


@dataclass(frozen=True)
class PersisterView:
    """A persister now."""

    pipeline: PipelineStatus
    intake: IntakeStatus | None
    """None: it has no topics, and takes records by HTTP alone."""
    well: bool
    """Whether it stores what comes, or will by itself."""
    reason: str
    """What is wrong, for people; empty: nothing."""


@dataclass(frozen=True)
class Persister:
    """The persister of a process; thread-safe."""

    pipeline: Pipeline
    intake: Intake | None
    door: Door
    lag_s: float = 10.0
    """Between two looks at how far it is behind."""
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Store from now on."""
        self.pipeline.start()
        if self.intake is not None:
            self.intake.start()
            threading.Thread(
                target=self._look_at_lag, args=(self.intake,), name="report-lag", daemon=True
            ).start()

    def view(self) -> PersisterView:
        """Return how it is."""
        pipeline = self.pipeline.status()
        intake = None if self.intake is None else self.intake.status()
        reads = self.intake is None or self.intake.is_running()
        reason = pipeline.status.reason or ("" if intake is None else intake.trouble)
        return PersisterView(pipeline, intake, pipeline.status.state.answers_ping and reads, reason)

    def pause(self, who: str) -> None:
        """Store nothing until `resume`."""
        log.info("the persister pauses", by=who)
        self.pipeline.pause(f"paused by {who}: `tidegate reports resume` goes on")

    def resume(self, who: str) -> None:
        """Go on at once, after a pause or too many failures."""
        log.info("the persister goes on", by=who)
        self.pipeline.resume()

    def stop(self) -> None:
        """Finish what is under way, commit, and end."""
        self._ended.set()
        if self.intake is not None:
            self.intake.stop(_STOP_S)
        if not self.pipeline.stop(_STOP_S):
            log.warning("what was under way is read again after the next start")

    def _look_at_lag(self, intake: Intake) -> None:
        while not self._ended.is_set():
            intake.read_lag()
            self._ended.wait(self.lag_s)
