"""What has to be so in the end: the publications of the database against what the topics have.

The publications are read by SQL, the executions by a reader of their topics.  Neither shares
anything with triggers or with the reducer.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from sqlalchemy import create_engine, text

from tests.environment.execution_topics import ReadRecord

__all__ = ["COALESCED", "EACH", "PublishVerdict", "judge_publishes", "publications_of"]

EACH, COALESCED = "each", "many"
"""The flow with an execution per publish, and the one whose executions name several."""
_SHOWN = 5


@dataclass
class PublishVerdict:
    """What was found; nothing in `troubles`: all is well."""

    publications: int
    executions: Mapping[str, int]
    """Flow -> its executions."""
    most: int
    """Publishes that one execution names, at most."""
    troubles: list[str] = field(default_factory=list)


@dataclass
class _Seen:
    """An execution as the topics have it."""

    named: list[str]
    states: list[str] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)


def publications_of(url: str) -> set[str]:
    """Return the ids of all publications that a metadata database has."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT generation_id FROM publications"))
            return {str(row[0]) for row in rows}
    finally:
        engine.dispose()


def judge_publishes(publications: Collection[str], state: Iterable[ReadRecord]) -> PublishVerdict:
    """Judge by the records of the state topic, in the order of its partitions."""
    seen = _seen(state)
    counts = Counter(name.partition(":")[0] for name in seen)
    most = max((len(one.named) for one in seen.values()), default=0)
    verdict = PublishVerdict(len(publications), dict(counts), most)
    for flow in (EACH, COALESCED):
        own = {name: one for name, one in seen.items() if name.startswith(f"{flow}:")}
        verdict.troubles += _of_flow(flow, own, publications)
    verdict.troubles += [
        f"{name} names {len(one.named)} publishes"
        for name, one in seen.items()
        if name.startswith(f"{EACH}:") and len(one.named) != 1
    ]
    return verdict


def _seen(state: Iterable[ReadRecord]) -> dict[str, _Seen]:
    seen: dict[str, _Seen] = {}
    for record in state:
        kind, _, name = record.key.partition("/")
        if kind != "e" or "/" in name or record.value is None:
            continue
        head = json.loads(record.value)
        publishes = cast("list[dict[str, object]]", head["trigger"].get("publishes", []))
        one = seen.setdefault(name, _Seen([str(each["id"]) for each in publishes]))
        one.states.append(str(head["state"]))
        one.versions.append(int(head["version"]))
    return seen


def _of_flow(flow: str, own: Mapping[str, _Seen], publications: Collection[str]) -> Iterator[str]:
    """Yield what is wrong: each publish is named once, and each execution has ended well once."""
    named = Counter(each for one in own.values() for each in one.named)
    yield from _some(f"{flow}: not named", set(publications) - named.keys())
    yield from _some(f"{flow}: named, and never published", named.keys() - set(publications))
    yield from _some(f"{flow}: named again", {each for each, count in named.items() if count > 1})
    late = {name for name, one in own.items() if one.states[-1] != "SUCCESS"}
    yield from _some(f"{flow}: not ended with success", late)
    back = {name for name, one in own.items() if one.versions != sorted(set(one.versions))}
    yield from _some(f"{flow}: a version came twice, or went back", back)
    twice = {name for name, one in own.items() if one.states.count("SUCCESS") > 1}
    yield from _some(f"{flow}: ended twice", twice)


def _some(what: str, names: Collection[str]) -> Iterator[str]:
    if names:
        yield f"{what}: {len(names)}, such as {sorted(names)[:_SHOWN]}"
