"""Sequences that chance alone brings about too seldom: each step is what the outside may do."""

from collections.abc import Callable
from functools import partial

from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import TopicPartition
from tests.simulation.faults.rare import SIBLING
from tests.simulation.processes.actor import Actor
from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.processes.user import User
from tests.simulation.processes.worker import WorkerProcess
from tests.simulation.world.kafka import Curse
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import TOPIC, World

FIRST_S, LAST_S = 5.0, 30.0


def _reset(overlord: OverlordProcess) -> object:
    return overlord.resets.reset(SUPERVISOR, "user")


class Stories:
    """Lets the stories of a run begin, each once."""

    def __init__(self, world: World, user: User) -> None:
        self.world = world
        self.user = user
        self.random = world.kernel.random("stories")

    def begin(self) -> None:
        """Schedule every beginning."""
        for name in self.world.swarm.rare.stories:
            self._later(FIRST_S, LAST_S, partial(self._begin_story, name))

    def _later(self, least_s: float, most_s: float, act: Callable[[], None]) -> None:
        def unless_quiet() -> None:
            if not self.world.quiet:
                act()

        self.world.kernel.after(self.random.uniform(least_s, most_s), unless_quiet)

    def _begin_story(self, name: str) -> None:
        self.world.fault(name)
        getattr(self, "_" + name.replace(" ", "_"))()

    def _some_worker(self) -> WorkerProcess:
        return self.random.choice(self.world.workers)

    # -- machines ------------------------------------------------------------------------------

    def _journal_full(self) -> None:
        """The data folder has a disk of its own; the warehouse's has space."""
        disk = self._some_worker().disk
        disk.full = True
        self._later(1, 12, lambda: setattr(disk, "full", False))

    def _disk_full_for_long(self) -> None:
        """Longer than completionTimeout: what finishes there is replaced."""
        worker = self._some_worker()
        worker.disk.full = worker.engine.full = True

        def space() -> None:
            worker.disk.full = worker.engine.full = False

        self._later(25, 45, space)

    def _job_slow(self) -> None:
        self._some_worker().slow_jobs += 1

    def _worker_gone_for_long(self) -> None:
        """Its tasks are lost, and there may be no slot for all that is to be read."""
        away_s = self.random.uniform(1.2, 2.5) * self.world.times.worker_timeout
        self.world.kill(self._some_worker(), away_s=away_s)

    def _replicas_diverge(self) -> None:
        """One machine makes other values of the same records from now on."""
        self._some_worker().engine.drifts = True

    # -- records ---------------------------------------------------------------------------------

    def _batches_fail(self) -> None:
        """One of the next records is in no batch that ends well, until the spec is changed."""
        kafka, name = self.world.kafka, self.random.choice(self.world.topics)
        if not kafka.exists(name):
            return
        partition = TopicPartition(name, self.random.randrange(kafka.partitions(name)))
        at = kafka.log(partition).end + self.random.randint(0, 5)
        kafka.curse = Curse(partition, at, self.user.rows_max + 1)
        self._later(8, 40, self.user.cure)

    # -- verbs at the wrong time ---------------------------------------------------------------

    def _suspend_and_resume(self) -> None:
        self.user.ask("suspend", lambda o: o.service.suspend(SUPERVISOR, "user"))
        self._later(0.5, 10, self._resume)

    def _resume(self) -> None:
        self.user.ask("resume", lambda o: o.service.resume(SUPERVISOR, "user"))

    def _terminate_and_post_again(self) -> None:
        self.user.ask("terminate", lambda o: o.service.terminate(SUPERVISOR, "user"))
        self._later(0.5, 10, self.user.apply)

    def _retention_while_suspended(self) -> None:
        """Whoever resumes finds that Kafka has deleted what was not read yet."""
        self.user.ask("suspend", lambda o: o.service.suspend(SUPERVISOR, "user"))

        def delete() -> None:
            for topic, number in self.world.committed_partitions():
                partition = TopicPartition(topic, number)
                log = self.world.kafka.log(partition)
                self.world.kafka.truncate(partition, self.random.randint(log.start, log.stable))

        self._later(6, 10, delete)
        self._later(10.5, 16, self._resume)

    def _one_of_two_topics_gone(self) -> None:
        """So long that it is believed: the other one is read on."""
        kafka, name = self.world.kafka, TOPIC + SIBLING
        kafka.delete(name)

        def again() -> None:
            if not kafka.exists(name):
                kafka.create(name, self.random.randint(1, 3))

        self._later(12, 20, again)
        self._later(10, 25, lambda: self.user.ask("reset", _reset))

    # -- a publish request under way -----------------------------------------------------------

    def _reset_while_a_task_publishes(self) -> None:
        """The request is on its way while the range it asks for is given up."""

        def held_up(worker: WorkerProcess, _: Actor) -> None:
            self.world.network.late[worker.name] = self.random.uniform(1.0, 4.0)
            self.user.ask("reset", _reset)

        self._at_publish(held_up)

    def _publish_request_late(self) -> None:
        """So late that its worker was taken for lost and the task was replaced."""
        lost_s = self.world.times.worker_timeout

        def held_up(worker: WorkerProcess, _: Actor) -> None:
            self.world.network.late[worker.name] = lost_s + self.random.uniform(0.5, 3.0)
            for overlord in self.world.overlords:
                self.world.network.cut(worker.name, overlord.name, 1.5 * lost_s)

        self._at_publish(held_up)

    def _at_publish(self, act: Callable[[WorkerProcess, Actor], None]) -> None:
        def entered(worker: WorkerProcess, actor: Actor) -> None:
            if actor.state.phase is TaskPhase.PUBLISHING and not self.world.quiet:
                self.world.entered = None
                act(worker, actor)

        self.world.entered = entered
