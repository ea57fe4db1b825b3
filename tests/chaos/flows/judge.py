"""What has to be so in the end: read from the topics by a reader of its own, and from the server.

It shares nothing with the reducer: it counts ends, versions, keys and holders.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.executions.sequencer.letters import RESULT_FORM
from supervisor.ports.flows.execution_log import LogTopic
from tests.chaos.flows.work import HOLDERS_MAX, Called
from tests.environment.execution_topics import TopicsOfTest

__all__ = ["Verdict", "judge"]


@dataclass
class Verdict:
    """What was found; nothing in `troubles`: all is well."""

    ended: Mapping[str, str]
    """Execution -> the state of its end."""
    repeats: int = 0
    """Requests with a key that the server had seen: an idempotent server acts once."""
    troubles: list[str] = field(default_factory=list)


def judge(topics: TopicsOfTest, called: Called, started: Collection[str]) -> Verdict:
    """Judge all that was started, and its children."""
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
    if dead := topics.read(LogTopic.DEAD):
        verdict.troubles.append(f"{len(dead)} dead letters, the first: {dead[0].headers}")
    return verdict


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
