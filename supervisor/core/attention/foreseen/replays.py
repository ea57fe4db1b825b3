"""What a replay of bad records would send, and who would read it.  Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from supervisor.core.attention.foreseen.effect import (
    Foreseen,
    SentRecords,
    clause_of,
    count_of,
    digest_of,
)
from supervisor.core.history.replays import ReplayRequest
from supervisor.core.tables.bad_records import BadCount

VERB = "replay"


@dataclass(frozen=True)
class TopicReaders:
    """The supervisors that read a topic."""

    shown: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Those that the caller may not see."""


@dataclass(frozen=True)
class TopicLook:
    """What a topic has of the records that fit."""

    there: int | None = None
    """None: not known."""
    trouble: str = ""
    """Why it is not known, if that is bad."""


def replay_foreseen(
    supervisor_id: str,
    request: ReplayRequest,
    counts: Iterable[BadCount],
    readers: TopicReaders,
    look: TopicLook,
) -> Foreseen:
    """Return what a replay sends, as far as it is known; the digest does not go by the look."""
    by_partition = _without_hours(counts)
    matching = sum(each.records for each in by_partition)
    sends = min(request.most, max(0, matching - (look.there or 0)))
    sent = SentRecords(
        request.topic, matching, look.there, sends, by_partition, tuple(sorted(readers.shown))
    )
    options = [request.topic, str(request.most), str(request.keep_time)]
    bound = [f"{each.reason} {each.topic}:{each.partition} {each.records}" for each in by_partition]
    return Foreseen(
        VERB,
        supervisor_id,
        _text(sent),
        f"it cannot be undone: nothing takes records out of {request.topic} again. The bad "
        "records stay where they are kept",
        digest_of(
            VERB,
            supervisor_id,
            [*options, f"reason {request.reason}", f"partition {request.partition}"],
            bound,
            [*readers.shown, *readers.hidden],
        ),
        sent=sent,
        warnings=tuple(_warnings(request, readers, look)),
    )


def _without_hours(counts: Iterable[BadCount]) -> tuple[BadCount, ...]:
    sums: Counter[tuple[str, str, int]] = Counter()
    for each in counts:
        sums[each.reason, each.topic, each.partition] += each.records
    return tuple(
        BadCount(topic, partition, reason, None, records)
        for (reason, topic, partition), records in sorted(sums.items())
    )


def _text(sent: SentRecords) -> str:
    if not sent.matching:
        return "No bad record that is kept fits: nothing is sent."
    if not sent.sends:
        return f"All {sent.matching:,} are in {sent.topic} already: nothing is sent."
    known = "" if sent.there is not None else "at most "
    clauses = [
        f"{known}{_clause(sent.sends, 'is', 'are')} sent to {sent.topic} as they were, all at once"
    ]
    if sent.there:
        clauses.append(f"{_clause(sent.there, 'is', 'are')} there already")
    if (rest := sent.matching - (sent.there or 0) - sent.sends) > 0:
        clauses.append(f"{_clause(rest, 'is', 'are')} left for another replay")
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def _clause(number: int, one: str, many: str) -> str:
    return clause_of(range(number), "record", one, many)


def _warnings(request: ReplayRequest, readers: TopicReaders, look: TopicLook) -> Iterable[str]:
    if look.trouble:
        yield look.trouble
    names = [*sorted(readers.shown), *_unseen(readers.hidden)]
    if names:
        verb = "reads" if len(names) == 1 and not readers.hidden[1:] else "read"
        yield f"{', '.join(names)} {verb} {request.topic}: these records come there as new ones"
    if request.keep_time:
        yield (
            f"they keep the time that they had: if {request.topic} deletes by age, it may delete "
            "them at once"
        )


def _unseen(hidden: Collection[str]) -> list[str]:
    return [f"{count_of(hidden, 'supervisor')} that you may not see"] if hidden else []
