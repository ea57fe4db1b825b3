"""What has to be so in the end: read from the topics by a reader of its own, and from the server.

It shares nothing with the reducer: it counts ends, versions, keys and holders.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import create_engine, func, select, table

from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.executions.sequencer.letters import RESULT_FORM
from supervisor.ports.flows.execution_log import LogTopic
from tests.chaos.flows.work import HOLDERS_MAX, Called
from tests.environment.execution_topics import TopicsOfTest

__all__ = ["Verdict", "judge", "rows_left", "undrained"]

_EMPTY = ("outbox", "calls", "claims")
"""Tables of which nothing is left when all executions have ended."""
_OPEN = {"SUBMITTED", "RUNNING", "WAITING", "RETRYING", "KILLING"}
"""States of a task run that somebody or something is still waited for."""
_RUN = 4
"""Parts of the key of a task run: `e/<execution>/r/<task run>`."""


@dataclass
class Verdict:
    """What was found; nothing in `troubles`: all is well."""

    ended: Mapping[str, str]
    """Execution -> the state of its end."""
    repeats: int = 0
    """Requests with a key that the server had seen: an idempotent server acts once."""
    troubles: list[str] = field(default_factory=list)


def judge(
    topics: TopicsOfTest,
    called: Called,
    started: Collection[str],
    left: Mapping[str, int] | None = None,
) -> Verdict:
    """Judge all that was started, and its children; `left`: table -> how many rows it has."""
    ends: dict[str, list[str]] = defaultdict(list)
    numbers: dict[str, list[int]] = defaultdict(list)
    for record in topics.read(LogTopic.RESULTS):
        result = RESULT_FORM.read(record.value or b"")
        if isinstance(result, ExecutionEvent):
            numbers[record.key].append(result.number)
            if result.name == "execution-ended":
                ends[record.key].append(str(result.about["state"]))
    verdict = Verdict({name: some[-1] for name, some in ends.items()})
    verdict.troubles += [f"{name} has not ended" for name in started if name not in ends]
    verdict.troubles += [
        f"{name} ended {len(some)} times" for name, some in ends.items() if some[1:]
    ]
    verdict.troubles += [
        f"{name}: its events are numbered {some[:20]}"
        for name, some in numbers.items()
        if some != list(range(1, len(some) + 1))
    ]
    _judge_states(topics, verdict)
    _judge_calls(called, verdict)
    verdict.troubles += undrained(topics)
    verdict.troubles += [
        f"{count} rows are left in {name}" for name, count in (left or {}).items() if count
    ]
    if dead := topics.read(LogTopic.DEAD):
        verdict.troubles.append(f"{len(dead)} dead letters, the first: {dead[0].headers}")
    return verdict


def undrained(topics: TopicsOfTest) -> Sequence[str]:
    """Return what the topics say is still to be done: inputs, and task runs that are open.

    An input is worked in where the position of its partition is behind it.
    """
    newest: dict[tuple[int, str], bytes | None] = {
        (record.partition, record.key): record.value for record in topics.read(LogTopic.STATE)
    }
    behind = Counter[int]()
    for record in topics.read(LogTopic.HISTORY):
        position = newest.get((record.partition, "@position"))
        if position is None or record.offset >= int(json.loads(position)["next"] or 0):
            behind[record.partition] += 1
    trouble = [
        f"partition {partition}: {count} inputs are behind its position"
        for partition, count in sorted(behind.items())
    ]
    for (_, key), value in newest.items():
        parts = key.split("/")
        if value is not None and parts[0] == "e" and parts[2:3] == ["r"] and len(parts) == _RUN:
            state = json.loads(value)["state"]
            if state in _OPEN:
                trouble.append(f"the task run {parts[-1]} of {parts[1]} is {state}")
    return trouble


def rows_left(url: str) -> Mapping[str, int]:
    """Count the rows of tables that should be empty; `url`: of the database on PostgreSQL."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        with engine.connect() as connection:
            counts = {
                name: select(func.count()).select_from(table(name, schema="executions"))
                for name in _EMPTY
            }
            return {name: connection.scalar(count) or 0 for name, count in counts.items()}
    finally:
        engine.dispose()


def _judge_states(topics: TopicsOfTest, verdict: Verdict) -> None:
    """Versions of an execution only grow, and no gate holds anybody, or held too many."""
    versions: dict[str, int] = {}
    gates: dict[str, object] = {}
    for record in topics.read(LogTopic.STATE):
        kind, _, name = record.key.partition("/")
        if kind == "g":
            gates[name] = None if record.value is None else json.loads(record.value)
            if isinstance(gate := gates[name], dict) and len(gate["holders"]) > HOLDERS_MAX:
                verdict.troubles.append(f"gate {name} had {len(gate['holders'])} holders")
        if kind == "e" and "/" not in name and record.value is not None:
            version = int(json.loads(record.value)["version"])
            if version <= versions.get(name, 0):
                verdict.troubles.append(f"{name} went from version {versions[name]} to {version}")
            versions[name] = version
    verdict.troubles += [f"gate {name} is held: {gate}" for name, gate in gates.items() if gate]


def _judge_calls(called: Called, verdict: Verdict) -> None:
    """Each step has one key, and one that may not be repeated has one request at most."""
    effects = Counter(key.rpartition("/")[0] for key in called.keyed)
    verdict.troubles += [
        f"the step {step} had {count} effects" for step, count in effects.items() if count > 1
    ]
    verdict.repeats = sum(called.keyed.values()) - len(called.keyed)
    sent = Counter[str]()
    for key, count in called.once.items():
        sent[key.rpartition("/")[0]] += count
    verdict.troubles += [
        f"the step {step}, which is not repeated, was sent {count} times"
        for step, count in sent.items()
        if count > 1
    ]
