"""One overlord process: the product's own parts on one thread, woken by the kernel's events."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop, _LoopEntry, wake_all
from supervisor.control.observe import Sources
from supervisor.control.publish import Publisher
from supervisor.control.reconcile import ActionContext, make_pass
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.planning.observed import Liveness, PlanLimits, WorkerView
from supervisor.core.planning.passes import Pass
from supervisor.core.planning.publish import Check, Judgement
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.handoff import HandoffRequests
from supervisor.services.supervisors.reset import Resets
from supervisor.services.supervisors.specs import Service
from tasks.contract.messages import PublishRequest, SyncRequest, SyncResponse
from tests.simulation.processes.cleaning import DELAY, Cleaner
from tests.simulation.processes.held_syncs import Broadcast, HeldSync
from tests.simulation.world.clocks import FASTEST, SLOWEST, ProcessClock
from tests.simulation.world.disk import Warehouse
from tests.simulation.world.kafka import Kafka, OverlordStreams, PatientStreams
from tests.simulation.world.kernel import Kernel, Process
from tests.simulation.world.network import Reply
from tests.simulation.world.store import MemoryDatabase, SimStore

WAKE_PERIOD_S, THREAD_SWITCH_S = 30.0, 0.1
CLEAN_PERIOD_S, SWEEP_PERIOD_S = 2.0, 12.0

Digests: TypeAlias = Mapping[str, str | None]
"""Task -> what it made of its range."""


@dataclass(frozen=True)
class Times:
    """Operator settings of a run, in seconds: shorter than the product's, in the same order."""

    lease_ttl: float = 9.0
    worker_timeout: float = 15.0
    limits: PlanLimits = field(
        default_factory=lambda: PlanLimits(
            period=timedelta(seconds=10),
            pause_lease=timedelta(seconds=12),
            pause_timeout=timedelta(seconds=4),
            backoff_max=timedelta(seconds=8),
            progress_timeout=timedelta(seconds=40),
        )
    )


@dataclass(frozen=True)
class Surroundings:
    """What all overlords share with the world."""

    kernel: Kernel
    kafka: Kafka
    database: MemoryDatabase
    times: Times
    reached: Callable[["OverlordProcess", str], None]
    committed: Callable[["OverlordProcess", int], None]
    happened: Callable[..., None]
    bug: Callable[[str], None]
    published: Callable[[str, str, Digests], None]
    warehouse: Warehouse
    looks_beside: bool = False
    skew_s: float = 20.0
    cleaned: str = ""
    """The supervisor whose ended tasks are cleaned up behind, if any."""


class _Loop(Loop):
    """The product's loop without its thread: what is due runs as an event of the process."""

    def __init__(self, make: Callable[[str], Pass | None], process: "OverlordProcess") -> None:
        super().__init__(make, process.clock, threads=1)
        self._process = process

    def wake(self, supervisor_id: str, *, in_s: float = 0.0) -> None:
        super().wake(supervisor_id, in_s=in_s)
        self._process.later(max(THREAD_SWITCH_S, in_s * 1.01 + THREAD_SWITCH_S), self.run_due)

    def run_due(self) -> None:
        """Run what is due; a supervisor whose pass is under way is looked at again after it."""
        while self._ready():
            _, supervisor_id = self._due[0]
            entry = self._entries.get(supervisor_id)
            self._drop_later(supervisor_id)
            if entry is not None and entry.running:
                entry.again = True
                continue
            self._take(supervisor_id)

    def _take(self, supervisor_id: str) -> None:
        self.begin(supervisor_id)
        self._run(supervisor_id, self._clock.monotonic())

    def begin(self, supervisor_id: str) -> None:
        """Mark a pass as under way."""
        self._entries.setdefault(supervisor_id, _LoopEntry()).running = True

    def _failed(self, supervisor_id: str, error: Exception) -> None:
        if not isinstance(error, SupervisorError):
            self._process.around.bug(f"a pass raised {error!r}")
        super()._failed(supervisor_id, error)


class OverlordProcess(Process):
    """An overlord that may lead; every life has new parts and knows nothing of the last one."""

    clock: ProcessClock
    leadership: Leadership
    registry: WorkerRegistry
    loop: _Loop
    service: Service
    publishing: Publisher
    _heard: dict[str, str | None]
    """Task -> digest, when the last publish request was judged."""
    handoffs: HandoffRequests
    resets: Resets
    changed: Wakeups
    store: SimStore
    sources: Sources

    def __init__(self, name: str, around: Surroundings) -> None:
        super().__init__(name)
        self.around = around
        self.random = around.kernel.random(name)
        self._looks = around.kernel.random(f"looks of {name}")
        self.born_at = 0.0
        self._waiting: list[HeldSync] = []
        self._woken = False

    @property
    def url(self) -> str:
        """The address it leads under."""
        return f"http://{self.name}"

    def later(self, delay_s: float, act: Callable[[], None]) -> None:
        """Let `act` happen in this life."""
        self.around.kernel.after(delay_s, act, self)

    def start(self) -> None:
        """Be born: with other clocks, and without memory."""
        self.born()
        around, random = self.around, self.random
        self.born_at = around.kernel.now
        self._waiting, self._woken = [], False
        self.clock = ProcessClock(
            around.kernel,
            skew_s=random.uniform(-around.skew_s, around.skew_s) if random.random() < 0.3 else 0.0,
            rate=random.uniform(SLOWEST, FASTEST),
            boot_s=random.uniform(100, 10_000),
        )
        ttl = timedelta(seconds=around.times.lease_ttl)
        self.store = SimStore(
            around.database,
            ttl,
            reached=lambda point: around.reached(self, point),
            committed=lambda term: around.committed(self, term),
        )
        self.leadership = Leadership(
            self.store, self.clock, holder=f"{self.name}#{self.life}", url=self.url, ttl=ttl
        )
        self.registry = WorkerRegistry(
            self.clock,
            worker_timeout=timedelta(seconds=around.times.worker_timeout),
            led_since=self.leadership.led_since,
        )
        self._wire()
        views = self.registry.views
        self.registry.views = lambda: self._looked_at(views())  # type: ignore[method-assign]
        self.leadership._on_lead = self.service.start_term
        self.leadership._on_lost = self._end_term
        self.store.on_fenced(self.leadership.lost)
        self.later(random.uniform(0, 0.5), self._step)
        self.later(WAKE_PERIOD_S * random.random(), self._wake_all)
        if around.cleaned:
            self._clean_up(around.cleaned)

    def _end_term(self) -> None:
        self.loop.forget()
        self.changed.notify()

    def _looked_at(self, views: tuple[WorkerView, ...]) -> tuple[WorkerView, ...]:
        leads, at = self.leadership.leads(), self.around.kernel.now
        for view in views:
            if view.liveness is Liveness.LOST:
                detail = {"overlord": self.name, "worker": view.id, "leads": leads, "at": at}
                self.around.happened("lost", **detail)
        return views

    def _clean_up(self, supervisor_id: str) -> None:
        cleaner = Cleaner(
            supervisor_id,
            self.store,
            self.clock,
            self.leadership.term,
            workers=self.registry,
            held=self.around.warehouse,
            bug=self.around.bug,
        )

        def again(chore: Callable[[], None], every_s: float) -> None:
            self.later(self._looks.uniform(0.5, 1.5) * every_s, lambda: again(chore, every_s))
            if self.leadership.leads():
                with suppress(SupervisorError), self.store.at("cleaning"):
                    chore()

        again(cleaner.clean, CLEAN_PERIOD_S)
        again(cleaner.sweep, SWEEP_PERIOD_S)

    def _wire(self) -> None:
        around = self.around
        streams = OverlordStreams(
            around.kafka,
            self.clock,
            self._look_beside if around.looks_beside else None,
            on_news=self._wake,
            reached=self._reach,
        )
        self.sources = sources = Sources(self.store, streams, self.registry, around.times.limits)
        endings = TaskEnder(DELAY, self.registry.report)
        self.changed = changed = Broadcast(self._notify)
        shell = ActionContext(sources, self.clock, self._new_token, endings, self._reach)
        self.loop = _Loop(lambda name: self._pass(name, shell), self)
        self.service = Service(
            store=self.store,
            clock=self.clock,
            leadership=self.leadership,
            registry=self.registry,
            loop=self.loop,
            changed=changed,
            rules=OperatorPolicy(around.times.limits.pause_lease),
            failpoint=self._reach,
        )
        parts = (self.store, self.clock, self.leadership, self.loop, endings)
        self.publishing = Publisher(*parts, self._publishes, size_of=around.warehouse.size_of)
        self.handoffs = HandoffRequests(self.store, self.clock, self.leadership, self.loop)
        self.resets = Resets(
            self.store,
            PatientStreams(streams),
            self.clock,
            self.leadership,
            self.loop,
            endings,
        )

    def _wake(self, supervisor_id: str) -> None:
        self.loop.wake(supervisor_id)

    def _look_beside(self, look: Callable[[], None]) -> None:
        self.later(self._looks.uniform(0.02, 1.0), look)

    def _new_token(self) -> str:
        return f"token {self.random.getrandbits(64):x}"

    def _reach(self, point: str) -> None:
        """Pass a place the product names: the process may end there."""
        self.around.reached(self, point)

    def _pass(self, supervisor_id: str, shell: ActionContext) -> Pass | None:
        try:
            with self.store.at("plan"):
                return make_pass(supervisor_id, shell, self.leadership.term())
        except LeaseLost:
            self.loop.forget()
            raise

    # -- timers --------------------------------------------------------------------------------

    def _step(self) -> None:
        led = self.leadership.leads()
        period = self.around.times.lease_ttl / (5 if led else 3)
        self.later(period * self.random.uniform(0.9, 1.2), self._step)
        began = self.around.kernel.now
        with self.store.at("lease"):
            self.leadership.step()
        if self.leadership.leads() != led:
            self.around.kernel.trace(self.name, "leads" if not led else "does not lead")
            if not led:
                # From now on it may act, and it may have listened to workers since `began`.
                loses_from = began + self.around.times.worker_timeout / FASTEST
                self.around.happened("leads", overlord=self.name, loses_from=loses_from)

    def _wake_all(self) -> None:
        self.later(WAKE_PERIOD_S, self._wake_all)
        if self.leadership.leads():
            with suppress(SupervisorError):
                wake_all(self.store, self.loop)

    # -- what arrives --------------------------------------------------------------------------

    def sync(self, request: SyncRequest, source: Process, reply: Reply) -> None:
        """Answer a worker at once if there is news for it, else hold its request."""
        until = self.around.kernel.now + min(request.wait.total_seconds(), 20.0)
        self._sync(HeldSync(request, reply, until, source, source.life))

    def _sync(self, waiter: HeldSync, *, again: bool = False) -> None:
        take = self.service.look_again if again else self.service.sync
        waiter.is_woken, waiter.is_looking = False, True
        self._waiting.append(waiter)  # before the look: a wake-up during it counts
        try:
            with self.store.at("sync"):
                answer = take(waiter.request)
        except Exception as error:  # noqa: BLE001 -- the API answers with a 500
            self._waiting.remove(waiter)
            if not isinstance(error, SupervisorError):
                self.around.bug(f"sync raised {error!r}")
            waiter.reply(error)
            return
        finally:
            waiter.is_looking = False
        now = self.around.kernel.now
        if answer.revision != waiter.request.known or now >= waiter.until:
            self._waiting.remove(waiter)
            self._answer(waiter, answer)
            return
        if waiter.is_woken:
            self.later(THREAD_SWITCH_S, self._look_again)
        self.later(waiter.until - now, lambda: self._time_over(waiter, answer))

    def _time_over(self, waiter: HeldSync, answer: SyncResponse) -> None:
        if waiter in self._waiting and not waiter.is_looking:
            self._waiting.remove(waiter)
            self._answer(waiter, answer)

    def _answer(self, waiter: HeldSync, answer: SyncResponse) -> None:
        self.around.reached(self, "sync:answer")
        waiter.reply(answer)

    def _notify(self, meant: Callable[[str], bool]) -> None:
        woken = [waiter for waiter in self._waiting if meant(waiter.request.worker_id)]
        for waiter in woken:
            waiter.is_woken = True
        if woken and not self._woken:
            self._woken = True
            self.later(THREAD_SWITCH_S, self._look_again)

    def _look_again(self) -> None:
        self._woken = False
        woken = [waiter for waiter in self._waiting if waiter.is_woken and not waiter.is_looking]
        for waiter in woken:
            if waiter in self._waiting:  # a look may have been held up, and others ended meanwhile
                self._waiting.remove(waiter)
                if waiter.source.alive and waiter.source.life == waiter.life:
                    self._sync(waiter, again=True)

    def publish(self, task_id: str, token: str, request: PublishRequest, reply: Reply) -> None:
        """Judge a publish request."""
        heard = self._heard = {}
        try:
            with self.store.at("publish"):
                answer = self.publishing.publish(task_id, token, request)
        except SupervisorError as error:
            reply(error)
            return
        except Exception as error:  # noqa: BLE001 -- as the API does: a 500
            self.around.bug(f"publish raised {error!r}")
            reply(error)
            return
        digests: Digests = {task_id: request.digest}
        if isinstance(answer, Judgement) and answer.check is Check.ALL_PASSED:
            digests = dict(heard)
        self.around.published(task_id, answer.outcome, digests)
        self.around.reached(self, "publish:answer")
        reply(answer)

    def _publishes(self, point: str) -> None:
        """Note what it has heard of replicas when it decides; from then on nothing can come in."""
        self._reach(point)
        if point == "publish:judged":
            reports = [r for view in self.registry.views() for r in view.reports.values()]
            self._heard.update((r.task_id, r.digest) for r in reports if r.digest)

    def verb(self, name: str, act: Callable[["OverlordProcess"], object], reply: Reply) -> None:
        """Carry out what a user asks for."""
        try:
            with self.store.at(name):
                done = act(self)
        except SupervisorError as error:
            reply(error)
            return
        self.around.reached(self, f"{name}:answer")
        reply(done)
