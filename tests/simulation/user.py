"""What people and the outside do to a run: records, verbs, kills, cuts, brokers that go."""

from collections.abc import Callable

from supervisor.core.errors import LeaseLost, Unavailable
from tasks.offsets import TopicPartition
from tests.simulation.kafka import ABORTED, CONTROL
from tests.simulation.network import Unreachable, Weather
from tests.simulation.overlord import OverlordProcess
from tests.simulation.worker import WorkerProcess
from tests.simulation.world import SUPERVISOR, TOPIC, World

_TRIES = 6
_VERB_S = 10.0


class User:
    """Knows the spec it wants, and asks until an overlord has taken it."""

    def __init__(self, world: World) -> None:
        self.world = world
        swarm = world.swarm
        self.task_count = swarm.task_count
        self.replicas = swarm.replicas
        self.duration_s = swarm.task_duration_s
        self.rows_max = 5_000_000
        self.satisfied = False
        """The spec that was insisted upon is stored."""

    def document(self) -> dict[str, object]:
        """Return the spec that is wanted now."""
        swarm = self.world.swarm
        return {
            "type": "kafka",
            "spec": {
                "dataSchema": {
                    "dataSource": SUPERVISOR,
                    "timestampSpec": {"column": "time", "format": "auto"},
                    "dimensionsSpec": {"dimensions": ["user"]},
                    "granularitySpec": {"segmentGranularity": "HOUR", "rollup": False},
                },
                "ioConfig": {
                    "topic": TOPIC,
                    "inputFormat": {"type": "json"},
                    "consumerProperties": {"bootstrap.servers": "localhost:9092"},
                    "taskCount": self.task_count,
                    "replicas": self.replicas,
                    "taskDuration": f"PT{self.duration_s}S",
                    "stopTaskCount": swarm.stop_task_count,
                    "useEarliestOffset": swarm.start_earliest,
                },
                "tuningConfig": {
                    "type": "kafka",
                    "maxRowsPerSegment": self.rows_max,
                    "batchTarget": "PT1S",
                    "linger": "PT1S",
                    "batchRowsMin": 5,
                    "resetOffsetAutomatically": swarm.resets_itself,
                },
            },
        }

    def ask(
        self,
        name: str,
        act: Callable[[OverlordProcess], object],
        tries: int = 0,
        *,
        satisfies: bool = False,
    ) -> None:
        """Ask one overlord after the other until one that leads has answered.

        With `tries` also once the faults have ended.
        """
        overlords, insists = self.world.overlords, tries > 0

        def may(go: Callable[[], None]) -> None:
            if insists or not self.world.quiet:
                go()

        def one(left: int) -> None:
            target: OverlordProcess = overlords[left % len(overlords)]

            def heard(answer: object) -> None:
                self.world.kernel.trace("user", name, type(answer).__name__)
                self.satisfied |= satisfies and not isinstance(answer, Exception)
                again = isinstance(answer, LeaseLost | Unreachable | Unavailable)
                if again and left > 0 and (insists or not self.world.quiet):
                    self.world.kernel.after(1.0, lambda: one(left - 1))

            self.world.network.call(
                self.world.user,
                target,
                lambda reply: may(lambda: target.verb(name, act, reply)),
                heard,
                _VERB_S,
            )

        one(tries or _TRIES)

    def apply(self) -> None:
        """Post the spec that is wanted now."""
        document = self.document()
        self.ask("apply", lambda o: o.service.apply_spec(document, "user"))

    def mend(self) -> None:
        """Reset, again and again, as long as Kafka does not hold what is to be read next."""
        if self.world.is_broken():
            self.ask("reset", lambda o: o.resets.reset(SUPERVISOR, "user"), 3)
        self.world.kernel.after(5.0, self.mend)

    def insist(self) -> None:
        """Post the spec that is wanted now, until an overlord has taken it.

        The workers have room for one replica of each range; not always for all that are wanted.
        """
        swarm = self.world.swarm
        self.task_count = min(self.task_count, swarm.workers * swarm.slots)
        document = self.document()
        self.ask("apply", lambda o: o.service.apply_spec(document, "user"), 60, satisfies=True)

    def hurry(self) -> None:
        """Ask for handoffs from now on: a run needs some, the timer had its turn."""
        self.ask("handoff", lambda o: o.handoffs.ask(SUPERVISOR, None, "user"), 1)
        self.world.kernel.after(3.0, self.hurry)


class Outside:
    """Draws what happens next, and does it."""

    def __init__(self, world: World, user: User) -> None:
        self.world = world
        self.user = user
        self.random = world.kernel.random("outside")

    def begin(self) -> None:
        """Schedule the first record and the first moment."""
        self._produce()
        if self.world.swarm.moments:
            self.world.kernel.after(self._gap(), self._moment)

    def _gap(self) -> float:
        return self.random.expovariate(1 / self.world.swarm.between_s)

    def _produce(self) -> None:
        if self.world.dry:
            return
        every, rate = 1.0, self.world.swarm.records_per_s
        self.world.kernel.after(every * self.random.uniform(0.5, 1.5), self._produce)
        if not rate or not self.world.kafka.exists(TOPIC) or self.world.kafka.down:
            return
        for partition in self.partitions():
            if self.random.random() < 0.7:
                mean = rate / max(1, len(self.partitions()))
                self.world.kafka.produce(partition, round(self.random.expovariate(1 / mean)))

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions of the topic now."""
        if not self.world.kafka.exists(TOPIC):
            return []
        return [TopicPartition(TOPIC, n) for n in range(self.world.kafka.partitions(TOPIC))]

    def _moment(self) -> None:
        if self.world.quiet:
            return
        self.world.kernel.after(self._gap(), self._moment)
        if self.world.kernel.now % (2 * self.user.duration_s) > 0.8 * self.user.duration_s:
            return  # between two bursts handoffs come through, to be hit in the middle
        name = self.random.choice(self.world.swarm.moments)
        if not self.world.kafka.exists(TOPIC):
            return
        self.world.fault(name)
        getattr(self, "_" + name.replace(" ", "_"))()

    # -- processes and machines ----------------------------------------------------------------

    def _overlord_kill(self) -> None:
        self.world.kill(self.random.choice(self.world.overlords))

    def _worker_kill(self) -> None:
        self.world.kill(self.random.choice(self.world.workers))

    def _all_workers_killed(self) -> None:
        if "PUBLISHING" in self.world.states():
            self.world.tally.rows["B8"] += 1
        for worker in self.world.workers:
            self.world.kill(worker)

    def _worker_power_loss(self) -> None:
        self.world.kill(self.random.choice(self.world.workers), power_lost=True)

    def _disk_wiped(self) -> None:
        worker = self.random.choice(self.world.workers)
        self.world.kill(worker)
        worker.disk.wiped()

    def _overlord_freeze(self) -> None:
        one = self.random.choice(self.world.overlords)
        one.frozen_until = self.world.kernel.now + self.random.uniform(1, 25)

    def _worker_freeze(self) -> None:
        one = self.random.choice(self.world.workers)
        seconds = self.random.uniform(1, 40)
        one.frozen_until = self.world.kernel.now + seconds
        # Checkers look at both ends of it: a process that stands still breaks no promise.
        self.world.happened("frozen", worker=one.name)
        look = seconds - 1e-3
        self.world.kernel.after(look, lambda: self.world.happened("thaws", worker=one.name))
        self.world.tally.rows["B9"] += seconds > self.world.times.worker_timeout

    def _storm_of_kills(self) -> None:
        self.world.crash_storm_until = self.world.kernel.now + 4.0

    def _disk_full(self) -> None:
        worker = self.random.choice(self.world.workers)
        worker.disk.full = worker.engine.full = True
        self.world.kernel.after(self.random.uniform(1, 15), lambda: self._space(worker))

    @staticmethod
    def _space(worker: WorkerProcess) -> None:
        worker.disk.full = worker.engine.full = False

    def _job_stuck(self) -> None:
        self.random.choice(self.world.workers).stuck_jobs += 1

    def _job_deaf(self) -> None:
        self.random.choice(self.world.workers).deaf_jobs += 1

    # -- network and database ------------------------------------------------------------------

    def _cut(self) -> None:
        processes = [*self.world.overlords, *self.world.workers]
        one = self.random.choice(processes)
        for other in self.world.overlords:
            if other is not one:
                self.world.network.cut(one.name, other.name, self.random.uniform(1, 30))

    def _bad_weather(self) -> None:
        network, now = self.world.network, self.world.kernel.now
        network.weather = Weather(delay_s=0.1, slow=0.3, slow_s=5, drop=0.2, double=0.2)

        def clear() -> None:
            if not self.world.quiet:
                network.weather = self.world.weather()

        del now
        self.world.kernel.after(self.random.uniform(1, 8), clear)

    def _database_down(self) -> None:
        self.world.database_down_until = self.world.kernel.now + self.random.uniform(0.5, 12)

    def _database_slow(self) -> None:
        self._database_down()

    # -- Kafka ---------------------------------------------------------------------------------

    def _brokers_down(self) -> None:
        self.world.kafka.down_until = self.world.kernel.now + self.random.uniform(1, 25)

    def _some_partition(self) -> TopicPartition:
        return self.random.choice(self.partitions())

    def _open_transaction(self) -> None:
        partition = self._some_partition()
        self.world.kafka.begin(partition, self.random.randint(1, 6))
        commit = self.random.random() < 0.6
        topic_id = self.world.kafka.topic_id(TOPIC)

        def decide() -> None:
            if self.world.kafka.topic_id(TOPIC) == topic_id:
                self.world.kafka.decide(partition, commit=commit)

        self.world.kernel.after(self.random.uniform(0.5, 15), decide)

    def _aborted_transaction(self) -> None:
        partition = self._some_partition()
        if self.world.kafka.log(partition).open_from is None:
            self.world.kafka.produce(partition, self.random.randint(1, 6), ABORTED)
            self.world.kafka.produce(partition, 1, CONTROL)

    def _control_records(self) -> None:
        self.world.kafka.produce(self._some_partition(), 1, CONTROL)

    def _holes(self) -> None:
        self.world.kafka.compact(self._some_partition())

    def _retention(self) -> None:
        rows = self.world.store_connection.execute(
            "SELECT partition, next_offset FROM committed_offsets"
        ).fetchall()
        for number, committed in rows:
            if number < len(self.partitions()):
                self.world.kafka.truncate(TopicPartition(TOPIC, number), committed)

    def _partition_added(self) -> None:
        if len(self.partitions()) < 5:
            self.world.kafka.add_partition(TOPIC)

    def _retention_of_unread_records(self) -> None:
        partition = self._some_partition()
        log = self.world.kafka.log(partition)
        if self.world.knows(partition):  # else nobody has promised these records to anyone
            self.world.kafka.truncate(partition, self.random.randint(log.start, log.stable))

    def _topic_made_anew(self) -> None:
        if self.world.kafka.exists(TOPIC):
            self.world.kafka.create(TOPIC, self.random.randint(1, 4))
            if self.random.random() < 0.7:
                for partition in self.partitions():
                    self.world.kafka.produce(partition, self.random.randint(0, 60))
            self._reset_some_day()

    def _topic_gone_for_a_while(self) -> None:
        self.world.kafka.delete(TOPIC)

        def again() -> None:
            if not self.world.kafka.exists(TOPIC):
                self.world.kafka.create(TOPIC, self.random.randint(1, 4))

        self.world.kernel.after(self.random.uniform(1, 12), again)
        self._reset_some_day()

    def _reset_some_day(self) -> None:
        if self.random.random() < 0.7:
            self.world.kernel.after(self.random.uniform(1, 20), self._reset)

    # -- verbs ---------------------------------------------------------------------------------

    def _suspend_and_resume(self) -> None:
        self.user.ask("suspend", lambda o: o.service.suspend(SUPERVISOR, "user"))
        self.world.kernel.after(
            self.random.uniform(0.5, 15),
            lambda: self.user.ask("resume", lambda o: o.service.resume(SUPERVISOR, "user")),
        )

    def _reset(self) -> None:
        self.user.ask("reset", lambda o: o.resets.reset(SUPERVISOR, "user"))

    def _reset_to_offsets(self) -> None:
        partition = self._some_partition()
        log = self.world.kafka.log(partition)
        offsets = {partition: self.random.randint(log.start, log.stable)}
        self.user.ask("reset", lambda o: o.resets.reset_offsets(SUPERVISOR, offsets, "user"))

    def _other_spec(self) -> None:
        self.user.rows_max += 1
        self.user.apply()

    def _rescale(self) -> None:
        self.user.task_count = self.random.randint(1, 3)
        self.user.apply()

    def _other_replicas(self) -> None:
        self.user.replicas = self.random.randint(1, 3)
        self.user.apply()

    def _terminate_and_post_again(self) -> None:
        self.user.ask("terminate", lambda o: o.service.terminate(SUPERVISOR, "user"))
        self.world.kernel.after(self.random.uniform(0.5, 12), self.user.apply)

    def _early_handoff(self) -> None:
        self.user.ask("handoff", lambda o: o.handoffs.ask(SUPERVISOR, None, "user"))
