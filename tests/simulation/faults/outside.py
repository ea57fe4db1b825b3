"""What the outside does to a run at moments of its own: kills, cuts, verbs, stops."""

from tests.simulation.faults.stories import Stories
from tests.simulation.processes.asking import Asking
from tests.simulation.processes.user import User
from tests.simulation.processes.worker import WorkerProcess
from tests.simulation.world.brokers import Brokers
from tests.simulation.world.network import Weather
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import TOPIC, World

LATE_TIMES, LATE_RECORDS = 2.0, 5.0
"""Once a run is late, moments come so much faster, and so many records a second or more."""


class Outside(Brokers):
    """Draws what happens next, and does it."""

    def __init__(self, world: World, user: User) -> None:
        super().__init__(world, user, world.kernel.random("outside"))
        self._storms = world.kernel.random("storms")
        self.stories = Stories(world, user)
        self.asking = Asking(world, user)

    def begin(self) -> None:
        """Schedule the first record and the first moment."""
        self._produce()
        if self.world.swarm.moments:
            self.world.kernel.after(self._gap(), self._moment)
        self.stories.begin()
        self.asking.begin()

    def _gap(self) -> float:
        swarm = self.world.swarm
        return self.random.expovariate((LATE_TIMES if self.world.late else 1.0) / swarm.between_s)

    def _produce(self) -> None:
        if self.world.dry:
            return
        rate = max(self.world.swarm.records_per_s, LATE_RECORDS if self.world.late else 0.0)
        self.world.kernel.after(self.random.uniform(0.5, 1.5), self._produce)
        if not rate or self.world.kafka.down:
            return
        for partition in self.partitions():
            if self.random.random() < 0.7:
                mean = rate / max(1, len(self.partitions()))
                self.world.kafka.produce(partition, round(self.random.expovariate(1 / mean)))

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
        self.world.happened("wiped", worker=worker.name)

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
        storm, now = self.world.storm, self.world.kernel.now
        if self._storms.random() < 0.3:
            storm.of_recoveries(now)
        else:
            storm.of_kills(now)

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
        """It answers all the same: late."""
        self.world.slow_database.begin(self.random.uniform(1, 15))

    # -- verbs ---------------------------------------------------------------------------------

    def _suspend_and_resume(self) -> None:
        self.user.ask("suspend", lambda o: o.service.suspend(SUPERVISOR, "user"))
        self.world.kernel.after(
            self.random.uniform(0.5, 15),
            lambda: self.user.ask("resume", lambda o: o.service.resume(SUPERVISOR, "user")),
        )

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
