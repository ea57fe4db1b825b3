"""Attention rule of Kafka brokers that cannot be read: one item, however many supervisors wait."""

from collections.abc import Iterable, Iterator

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.outside import broken_connection
from supervisor.core.attention.watched import WatchedSupervisor, common_table, names_of
from supervisor.core.history.listing import ListedSupervisor
from supervisor.core.planning.observed import Observed, StreamTrouble

_OF_SILENCE = frozenset({"UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM"})


def is_unreachable(seen: Observed) -> bool:
    """Return whether the last look at a supervisor's topic got no answer from the brokers."""
    return seen.stream.trouble is StreamTrouble.UNREACHABLE


def is_only_unreachable(row: ListedSupervisor, seen: Observed) -> bool:
    """Return whether a supervisor is unhealthy because of silent brokers, and of nothing else."""
    return row.state.detailed in _OF_SILENCE and is_unreachable(seen)


def silent_streams(watched: Iterable[WatchedSupervisor]) -> Iterator[AttentionItem]:
    """Yield one item per list of brokers, from the first failed look of a supervisor on."""
    waiting: dict[str, list[tuple[WatchedSupervisor, Observed]]] = {}
    for each in watched:
        spec = None if each.seen is None else each.seen.current.spec
        if each.seen is not None and spec is not None and is_unreachable(each.seen):
            brokers = brokers_of(spec.io_config.client.bootstrap_servers)
            waiting.setdefault(brokers, []).append((each, each.seen))
    for brokers, concerned in waiting.items():
        ids = tuple(sorted(each.row.id for each, _ in concerned))
        marks = [at for _, seen in concerned if (at := seen.stream.trouble_since) is not None]
        _, worst = max(concerned, key=lambda pair: (pair[1].stream.failures, pair[0].row.id))
        yield AttentionItem(
            Severity.BROKEN,
            AttentionKind.STREAM_SILENT,
            Subject(SubjectKind.BROKERS, brokers),
            f"the Kafka brokers {brokers} cannot be read, so nothing new is read by "
            f"{names_of(ids)}: {worst.stream.detail}",
            min(marks, default=None),
            (broken_connection(brokers),),
            common_table(each for each, _ in concerned),
            ids,
        )


def brokers_of(bootstrap_servers: str) -> str:
    """Return a list of brokers in a form that is the same for each order and case of its parts."""
    return ",".join(sorted({each.strip().lower() for each in bootstrap_servers.split(",")}))
