"""The whole verification: read the ledger, the files and the topic, then judge."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from supervisor.settings.problems import SetupProblem
from supervisor.verify.compaction import Compacted, read_compacted
from supervisor.verify.errors import read_errors
from supervisor.verify.facts import PublishedRange
from supervisor.verify.files import read_publication
from supervisor.verify.judge import facts_by_partition, judge
from supervisor.verify.ledger import CheckedLedger
from supervisor.verify.topic import TopicRead, read_topic
from supervisor.verify.verdict import Finding, FindingKind, Verification
from tasks.contract.kafka_client import SecretRef
from tasks.contract.offsets import TopicPartition
from tasks.runtime.secrets import NoSecret, secret_text

Progress = Callable[[int], None]


@dataclass(frozen=True)
class VerifyProgress:
    """Callbacks for the progress of the two long steps."""

    rows: Progress = lambda _: None
    offsets: Progress = lambda _: None


def verify(
    ledger: CheckedLedger, warehouse: Path, listed: frozenset[str] | None, steps: VerifyProgress
) -> Verification:
    """Verify a ledger; `listed` are the files that readers of the table get.

    Raises:
        StreamUnavailable: Kafka does not answer.
        SetupProblem: the warehouse or a secret is not available here.
    """
    if not warehouse.is_dir():
        raise SetupProblem(
            f"the warehouse {warehouse} is not to be seen from here",
            "run this where the overlord's warehouse is mounted, or name it with --warehouse",
        )
    return compare(
        ledger, warehouse, listed, lambda: _read_topic(ledger, steps.offsets), rows=steps.rows
    )


def compare(
    ledger: CheckedLedger,
    warehouse: Path,
    listed: frozenset[str] | None,
    topic: Callable[[], TopicRead],
    *,
    rows: Progress,
) -> Verification:
    """Verify a ledger against the records that `topic` finds; see `verify`."""
    # Files first: the topic's reader notices what is deleted from the topic meanwhile.
    compacted = read_compacted(warehouse, ledger.compacted(), rows)
    ranges, findings = _read_files(ledger, warehouse, compacted, rows)
    if listed is not None:
        findings += _unlisted(ledger, listed)
    topic_read = topic()
    facts = facts_by_partition(
        ledger.committed_ranges(),
        ledger.declared(),
        ranges,
        topic_read.records,
        topic_read.unreadable,
        compacted=topic_read.compacted,
    )
    return judge(
        ledger.supervisor_id,
        facts,
        findings,
        publications=len(ledger.publications),
        notes=topic_read.notes + ledger.breaks(),
        quarantined=sum(publication.quarantined() for publication in ledger.publications),
        spoiled=compacted.spoiled,
    )


def secret_of_environment(reference: SecretRef) -> str:
    """Look a secret up in this process's environment, or in the file that it names.

    Raises:
        SetupProblem: the secret is not available here.
    """
    try:
        return secret_text(reference)
    except NoSecret as error:
        raise SetupProblem(
            f"the spec's connection to Kafka needs a secret: {error}",
            "set it as the overlord and the workers have it",
        ) from error


def _read_files(
    ledger: CheckedLedger, warehouse: Path, compacted: Compacted, progress: Progress
) -> tuple[dict[TopicPartition, list[PublishedRange]], list[Finding]]:
    ranges: dict[TopicPartition, list[PublishedRange]] = {}
    new_topics = ledger.new_topics()
    raw = read_compacted(warehouse, ledger.errors_compacted(), raw=True)
    findings = [*compacted.findings, *raw.findings]
    for publication in ledger.publications:
        pieces = compacted.pieces.pop(publication.generation_id, None)
        of_errors = raw.pieces.pop(publication.generation_id, None)
        content = read_publication(warehouse, publication, progress, pieces)
        findings += content.findings
        findings += read_errors(warehouse, publication, content.bad, of_errors)
        dropped = publication.dropped()
        for at, held in content.held.items():
            ranges.setdefault(at, []).append(
                PublishedRange(
                    generation_id=publication.generation_id,
                    task_id=publication.task_id,
                    start=publication.start.get(at, 0),
                    end=publication.end.get(at, 0),
                    held=held,
                    let_go=tuple(dropped.get(at, ())),
                    topics_before=sum(map(publication.comes_after, new_topics.get(at, ()))),
                )
            )
    return ranges, findings


def _read_topic(ledger: CheckedLedger, progress: Progress) -> TopicRead:
    wanted = {at: span for at, span in ledger.extent().items() if span[0] < span[1]}
    if not wanted:
        return TopicRead()
    return read_topic(
        ledger.kafka,
        secret_of_environment,
        wanted,
        topic_ids=ledger.topic_ids(),
        progress=progress,
    )


def _unlisted(ledger: CheckedLedger, listed: frozenset[str]) -> list[Finding]:
    """Compare with the list for readers of the table: both must name the same files.

    Publications newer than the ledger are not in `listed`.
    """
    owners = ledger.paths()
    lacking = [
        Finding(FindingKind.MISSING_FILE, f"{path} is not in the table's list", owners[path])
        for path in sorted(owners.keys() - listed)
    ]
    return lacking + [
        Finding(FindingKind.UNKNOWN_ROW, f"{path} is in the table's list, of no publication")
        for path in sorted(listed - owners.keys())
    ]
