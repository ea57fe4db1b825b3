"""The overlord's ledger of a supervisor: the claim that the verification checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from supervisor.core.values.ids import ordinal_of
from supervisor.verify.dropped import LetGo
from supervisor.verify.facts import DeclaredGap
from supervisor.views.tables import ledger
from supervisor.views.tables.ledger import LedgerCompacted, LedgerDropped, LedgerLetGo
from tasks.contract.messages import RejectsFile, SegmentFile
from tasks.contract.offsets import TopicPartition

BREAKS_SHOWN = 10
"""The maximum of declared breaks that a verification lists."""


class CheckedGap(ledger.LedgerGap):
    """One declared break, `[first, end)`."""

    kind: Literal["skipped", "lost", "repeated", "recreated"]

    @property
    def is_new_topic(self) -> bool:
        """Whether the topic was recreated: earlier publications are of the old topic."""
        return self.kind == "recreated"


class CheckedPublication(ledger.LedgerPublication):
    """One publication: its range, its counts, its files."""

    def comes_after(self, gap: CheckedGap) -> bool:
        """Whether this was published after a gap was declared."""
        if gap.last_ordinal is not None:
            return ordinal_of(self.generation_id) > gap.last_ordinal
        # The clocks may be two leaders'; older gaps record nothing better.
        return self.published_at > gap.at

    def dropped(self) -> dict[TopicPartition, list[LetGo]]:
        """Return partition -> its rows that were dropped with files on purpose."""
        return _dropped(self.let_go, self.dropped_long_ago)

    def let_go_rows(self) -> int:
        """Return the number of its rows that were dropped with files on purpose."""
        return sum(each.file.rows for each in self.let_go) + _rows(self.dropped_long_ago)

    def rejects_files(self) -> tuple[RejectsFile, ...]:
        """Return every rejects file, those of folded ranges too."""
        own = () if self.rejects is None else (self.rejects,)
        return (*own, *self.folded_rejects)

    def quarantined(self) -> int:
        """Return the number of its records in the errors table."""
        shared = sum(each.rows for each in self.errors_compacted)
        return shared + sum(file.rows for file in self.errors)

    def dropped_errors(self) -> dict[TopicPartition, list[LetGo]]:
        """Return partition -> its dropped rows in the errors table."""
        return _dropped(self.errors_let_go, self.errors_dropped_long_ago)

    def let_go_errors(self) -> int:
        """Return the number of its records that were dropped with files of the errors table."""
        let_go = sum(each.file.rows for each in self.errors_let_go)
        return let_go + _rows(self.errors_dropped_long_ago)


def _rows(dropped: LedgerDropped | None) -> int:
    return 0 if dropped is None else dropped.rows


def _dropped(
    let_go: Sequence[LedgerLetGo], long_ago: LedgerDropped | None
) -> dict[TopicPartition, list[LetGo]]:
    dropped: dict[TopicPartition, list[LetGo]] = {}
    spans = [span for each in let_go for span in each.file.spans]
    for span in (*spans, *(() if long_ago is None else long_ago.spans)):
        at = TopicPartition(span.topic, span.partition)
        dropped.setdefault(at, []).append(LetGo(span.first, span.last + 1, span.rows))
    return dropped


@dataclass(frozen=True)
class LedgerCompactedFile:
    """One compacted file, with its share of each publication."""

    file: SegmentFile
    shares: list[tuple[str | None, LedgerCompacted]] = field(default_factory=list)
    """Generation -> its share; None: a forgotten generation."""


def _by_file(shares: Sequence[tuple[LedgerCompacted, str | None]]) -> list[LedgerCompactedFile]:
    files: dict[str, LedgerCompactedFile] = {}
    for each, owner in shares:
        of = files.setdefault(each.file.path, LedgerCompactedFile(each.file))
        of.shares.append((owner, each))
    return [files[path] for path in sorted(files)]


class CheckedLedger(ledger.Ledger):
    """All that one supervisor has committed and published."""

    gaps: tuple[CheckedGap, ...]
    publications: tuple[CheckedPublication, ...]
    """In the order of publication."""

    def compacted(self) -> list[LedgerCompactedFile]:
        """Return every compacted file of rows once, by path, with its shares."""
        owned = [(each, p.generation_id) for p in self.publications for each in p.compacted]
        return _by_file([*owned, *((each, None) for each in self.forgotten)])

    def errors_compacted(self) -> list[LedgerCompactedFile]:
        """Return every compacted file of the errors table once, by path, with its shares."""
        owned = [(each, p.generation_id) for p in self.publications for each in p.errors_compacted]
        return _by_file([*owned, *((each, None) for each in self.errors_forgotten)])

    def paths(self) -> dict[str, str | None]:
        """Return path -> generation of the files of both tables; None for compacted files."""
        own = {
            file.path: publication.generation_id
            for publication in self.publications
            for file in (*publication.segments, *publication.errors)
        }
        shared = (*self.compacted(), *self.errors_compacted())
        return own | {each.file.path: None for each in shared}

    def committed_ranges(self) -> dict[TopicPartition, tuple[int, int]]:
        """Return partition -> (first offset, next offset)."""
        return {
            TopicPartition(row.topic, row.partition): (row.first_offset, row.next_offset)
            for row in self.committed
        }

    def declared(self) -> Mapping[TopicPartition, Sequence[DeclaredGap]]:
        """Return the declared gaps by partition."""
        declared_gaps: dict[TopicPartition, list[DeclaredGap]] = {}
        for gap in self.gaps:
            at = TopicPartition(gap.topic, gap.partition)
            repeated = gap.kind == "repeated"
            declared_gaps.setdefault(at, []).append(
                DeclaredGap(gap.first, gap.end, repeated=repeated, new_topic=gap.is_new_topic)
            )
        return declared_gaps

    def new_topics(self) -> dict[TopicPartition, list[CheckedGap]]:
        """Return partition -> the gaps that declare that its topic was recreated."""
        new_topic_gaps: dict[TopicPartition, list[CheckedGap]] = {}
        for gap in self.gaps:
            if gap.is_new_topic:
                new_topic_gaps.setdefault(TopicPartition(gap.topic, gap.partition), []).append(gap)
        return new_topic_gaps

    def breaks(self) -> tuple[str, ...]:
        """Return the declared gaps with their reasons, newest first, as lines of text.

        The first BREAKS_SHOWN are listed, then a count of the rest.
        """
        sizes: dict[tuple[str, str], int] = {}
        for gap in reversed(self.gaps):
            at = gap.kind, gap.why
            sizes[at] = sizes.get(at, 0) + gap.end - gap.first
        lines = [
            f"{size} offsets are declared {kind}" + (f": {why}" if why else "")
            for (kind, why), size in sizes.items()
        ]
        left = len(lines) - BREAKS_SHOWN
        more = [f"{left} other reasons are in the ledger"] if left > 0 else []
        return (*lines[:BREAKS_SHOWN], *more)

    def topic_ids(self) -> dict[str, str]:
        """Return topic -> the topic id of the committed offsets, where it is known."""
        return {row.topic: row.topic_id for row in self.committed if row.topic_id}

    def extent(self) -> dict[TopicPartition, tuple[int, int]]:
        """Return partition -> the extent of its committed and published offsets.

        Offsets of earlier topics of the same name are left out: they can no longer be read.
        """
        extents, new_topics = self.committed_ranges(), self.new_topics()
        for publication in self.publications:
            for partition, start in publication.start.items():
                if not all(map(publication.comes_after, new_topics.get(partition, ()))):
                    continue
                end = publication.end[partition]
                first, until = extents.get(partition, (start, end))
                extents[partition] = min(first, start), max(until, end)
        return extents
