"""Messages between processes: late, lost, doubled, overtaken, cut off; calls are two of them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.simulation.world.kernel import Act, Kernel, Process

Reply = Callable[[object], None]
"""Takes an answer, or an exception as the answer."""


class Unreachable(Exception):
    """No answer came, or the connection was refused."""


@dataclass
class Weather:
    """How bad the network is; probabilities are per message."""

    delay_s: float = 0.02
    slow: float = 0.0
    slow_s: float = 0.0
    drop: float = 0.0
    double: float = 0.0


@dataclass
class Network:
    """Carries messages between any two processes."""

    kernel: Kernel
    weather: Weather = field(default_factory=Weather)
    hurt: Callable[[str], None] = lambda _: None
    """Told of each fault that happens."""

    def __post_init__(self) -> None:
        self._random = self.kernel.random("network")
        self._cut: dict[frozenset[str], float] = {}
        self.late: dict[str, float] = {}
        """Process -> how long its next message takes; it is on its way when a cut begins."""

    def cut(self, one: str, other: str, seconds: float) -> None:
        """Let nothing pass between two processes for a while."""
        self._cut[frozenset((one, other))] = self.kernel.now + seconds

    def heal(self) -> None:
        """Let everything pass again."""
        self._cut.clear()
        self.late.clear()
        self.weather = Weather()

    def send(self, source: Process, target: Process, deliver: Act) -> bool:
        """Send a message; False if it is lost on the way."""
        random, weather = self._random, self.weather
        if source.name in self.late:
            self.kernel.after(self.late.pop(source.name), deliver, target)
            return True
        if self._cut.get(frozenset((source.name, target.name)), -1.0) > self.kernel.now:
            return False
        if random.random() < weather.drop:
            self.hurt("message dropped")
            return False
        delay = weather.delay_s * random.uniform(0.5, 2.0)
        if random.random() < weather.slow:
            self.hurt("message late")
            delay += random.uniform(0.0, weather.slow_s)
        self.kernel.after(delay, deliver, target)
        if random.random() < weather.double:
            self.hurt("message doubled")
            self.kernel.after(delay + random.uniform(0.0, weather.slow_s), deliver, target)
        return True

    def call(
        self,
        source: Process,
        target: Process,
        handle: Callable[[Reply], None],
        answered: Reply,
        timeout_s: float,
    ) -> None:
        """Call `handle` at the target; `answered` hears its reply, or Unreachable, once."""
        done, life = False, source.life

        def finish(answer: object) -> None:
            nonlocal done
            if not done:
                done = True
                answered(answer)

        def reply(answer: object) -> None:
            if source.life == life:  # the connection ended with the process that had opened it
                self.send(target, source, lambda: finish(answer))

        if not target.alive:  # a machine that is up refuses, one that is gone says nothing
            refused = self._random.random() < 0.8
            wait = 2 * self.weather.delay_s if refused else timeout_s
            self.kernel.after(wait, lambda: finish(Unreachable("connection refused")), source)
            return
        self.send(source, target, lambda: handle(reply))
        self.kernel.after(timeout_s, lambda: finish(Unreachable("no answer in time")), source)
