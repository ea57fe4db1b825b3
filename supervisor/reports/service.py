"""The persister as a whole: its pipeline, its intake if there are topics, its lag and letters."""

import threading
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.reports.door import Door
from supervisor.reports.intake import Intake, IntakeStatus
from supervisor.reports.letters import LetterDesk
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
    reads: bool
    """Whether it reads its topics; False: it has none, or was refused for good."""
    letters: int | None
    """Dead letters that nobody has handled; None: they were not counted yet."""
    now: datetime
    """By the clock of this machine."""


@dataclass(frozen=True)
class Persister:
    """The persister of a process; thread-safe."""

    pipeline: Pipeline
    intake: Intake | None
    door: Door
    desk: LetterDesk
    lag_s: float = 10.0
    """Between two looks at how far it is behind, and at its dead letters."""
    _ended: threading.Event = field(default_factory=threading.Event)
    _counted: list[int] = field(default_factory=list)
    """The last number of dead letters, if there is one."""

    def start(self) -> None:
        """Store from now on."""
        self.pipeline.start()
        if self.intake is not None:
            self.intake.start()
        threading.Thread(target=self._look, name="report-lag", daemon=True).start()

    def view(self) -> PersisterView:
        """Return how it is."""
        pipeline = self.pipeline.status()
        intake = None if self.intake is None else self.intake.status()
        reads = self.intake is not None and self.intake.is_running()
        reason = pipeline.status.reason or ("" if intake is None else intake.trouble)
        works = pipeline.status.state.answers_ping
        return PersisterView(
            pipeline,
            intake,
            well=works and (reads or self.intake is None),
            reason=reason,
            reads=reads,
            letters=self._counted[0] if self._counted else None,
            now=self.desk.now(),
        )

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

    def _look(self) -> None:
        while not self._ended.is_set():
            if self.intake is not None:
                self.intake.read_lag()
            self._count_letters()
            self._ended.wait(self.lag_s)

    def _count_letters(self) -> None:
        try:
            self._counted[:] = [self.desk.waiting()]
        except (StoreAway, StoreRefuses):
            return  # the last number is shown; what is wrong is said elsewhere
        except Exception:
            log.exception("dead letters are not counted")
