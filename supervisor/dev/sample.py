"""A sample stream generator: clicks on a web site at a steady rate, until it is stopped.

`python -m supervisor.dev.sample --bootstrap host:port --topic clicks --rate 200 [--count N]`
"""

import argparse
import json
import random
import signal
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from types import FrameType

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from pydantic import JsonValue

from supervisor.dev.topics import create_topic

TOPIC = "clicks"
PARTITIONS = 6
FLUSH_TIMEOUT_S = 30.0

_PERIOD_S = 0.05
_BEHIND_S_MAX = 1.0
_USERS = 1_000
_PAGES = tuple(
    f"/{shop}/{kind}/{number}-{name}"
    for shop, kind in (("outdoor", "jackets"), ("outdoor", "tents"), ("kitchen", "kettles"))
    for number, name in ((1042, "classic-line"), (2718, "summer-offer"), (3141, "limited-edition"))
)
_COUNTRIES = ("DE", "FR", "US", "GB", "IN", "BR", "JP", "PL")
_DEVICES = ("phone", "desktop", "tablet")


def sample_record(chance: random.Random, now: datetime) -> dict[str, str | int | float]:
    """Return one click, some 230 bytes as JSON.  `id` is unique, also across restarts."""
    return {
        "id": str(uuid.uuid4()),
        "time": now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "user": f"visitor-{chance.randrange(_USERS):05d}",
        "page": chance.choice(_PAGES),
        "country": chance.choice(_COUNTRIES),
        "device": chance.choice(_DEVICES),
        "latency_ms": int(chance.lognormvariate(4.0, 0.8)),
        "bytes": chance.randrange(200, 250_000),
        "price": round(chance.expovariate(1 / 40), 2),
    }


def sample_spec(
    bootstrap: str,
    topic: str = TOPIC,
    *,
    task_count: int = 2,
    replicas: int = 1,
    task_duration: str = "PT1M",
) -> dict[str, JsonValue]:
    """Return the supervisor spec, in Druid's form, that reads such a topic into a table."""
    numbers: dict[str, str] = {"latency_ms": "long", "bytes": "long", "price": "double"}
    strings: list[JsonValue] = ["id", "user", "page", "country", "device"]
    dimensions = strings + [{"type": kind, "name": name} for name, kind in numbers.items()]
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": topic,
                "timestampSpec": {"column": "time", "format": "iso"},
                "dimensionsSpec": {"dimensions": dimensions},
                "granularitySpec": {
                    "type": "uniform",
                    "segmentGranularity": "HOUR",
                    "queryGranularity": "NONE",
                    "rollup": False,
                },
            },
            "ioConfig": {
                "topic": topic,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": bootstrap},
                "taskCount": task_count,
                "replicas": replicas,
                "taskDuration": task_duration,
                "useEarliestOffset": True,
            },
            "tuningConfig": {"type": "kafka"},
        },
    }


@dataclass
class _Outcome:
    """How many records the broker acknowledged, and why others were not."""

    acknowledged: int = 0
    errors: list[str] = field(default_factory=list)

    def note(self, error: KafkaError | None, _: Message) -> None:
        """Count one delivery report."""
        if error is None:
            self.acknowledged += 1
        else:
            self.errors = [*self.errors[-9:], str(error)]


def produce_clicks(
    bootstrap: str,
    topic: str,
    *,
    rate_per_s: float,
    until: Event,
    count: int | None = None,
) -> int:
    """Produce until `until` is set, or `count` records; return how many were acknowledged.

    A rate of 0 means as fast as possible.  After an outage the rate is the same as before: records
    that were not produced meanwhile are not produced later.

    Raises:
        KafkaException: records were refused, or not acknowledged within FLUSH_TIMEOUT_S.
    """
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": "tidegate-sample",
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 20,
            "compression.type": "lz4",
            "log_level": 3,
        }
    )
    outcome, chance, sent = _Outcome(), random.Random(), 0  # noqa: S311 -- not a secret
    pace = SteadyRate(rate_per_s)
    while not until.is_set() and not outcome.errors and (count is None or sent < count):
        due = pace.due(time.monotonic())
        for _ in range(due if count is None else min(due, count - sent)):
            click = sample_record(chance, datetime.now(UTC))
            value = json.dumps(click, separators=(",", ":"))
            try:
                producer.produce(topic, value, key=str(click["user"]), on_delivery=outcome.note)
            except BufferError:  # the broker is away: wait for it with a full buffer
                producer.poll(_PERIOD_S)
                break
            sent += 1
        producer.poll(0)
        if rate_per_s:
            until.wait(_PERIOD_S)
    if left := producer.flush(FLUSH_TIMEOUT_S):
        outcome.errors.append(f"{left} records not acknowledged within {FLUSH_TIMEOUT_S:g} s")
    if outcome.errors:
        raise KafkaException(outcome.errors[-1])
    return outcome.acknowledged


class SteadyRate:
    """The number of records that are due at an instant, for a steady rate."""

    _BURST = 1_000

    def __init__(self, rate_per_s: float) -> None:
        self._rate_per_s = rate_per_s
        self._paid_until_s: float | None = None

    def due(self, now_s: float) -> int:
        """Return the number due since the last call, at most that of _BEHIND_S_MAX seconds."""
        if not self._rate_per_s:
            return self._BURST
        last_s = self._paid_until_s if self._paid_until_s is not None else now_s
        last_s = max(last_s, now_s - _BEHIND_S_MAX)
        due = int((now_s - last_s) * self._rate_per_s)
        self._paid_until_s = last_s + due / self._rate_per_s
        return due


def main(arguments: Sequence[str] | None = None) -> int:
    """Create the topic if it is absent and produce clicks; SIGTERM ends it in good order."""
    parser = argparse.ArgumentParser(
        prog="python -m supervisor.dev.sample", description=main.__doc__
    )
    parser.add_argument("--bootstrap", required=True, help="host:port of a broker")
    parser.add_argument("--topic", default=TOPIC)
    parser.add_argument("--partitions", type=int, default=PARTITIONS, help="of a new topic")
    parser.add_argument("--rate", type=float, default=200.0, help="records per second; 0: no limit")
    parser.add_argument("--count", type=int, help="stop after so many records")
    options = parser.parse_args(arguments)
    until = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        until.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    try:
        create_topic(options.bootstrap, options.topic, partitions=options.partitions)
        produced = produce_clicks(
            options.bootstrap,
            options.topic,
            rate_per_s=options.rate,
            until=until,
            count=options.count,
        )
    except (KafkaException, TimeoutError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{produced} records in {options.topic}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
