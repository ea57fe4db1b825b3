"""The verbs on one supervisor: apply, suspend, resume, terminate, handoff, reset, forget."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from supervisor.chores.forget import Forgetting
from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.history.operations import OperationKind
from supervisor.core.model.rows import GapKind
from supervisor.core.planning.offset_moves import LogEnd
from supervisor.core.values.errors import AlreadyInState, InvalidSpec
from supervisor.services.access.applying import applying
from supervisor.services.foresight.ranges import RangeForesight
from supervisor.services.foresight.tables import TableForesight
from supervisor.services.steps.arguments import whole_of, wrong_argument
from supervisor.services.steps.operations import StepOperations
from supervisor.services.steps.verb import Begun, VerbRequest
from supervisor.services.supervisors.dry_run import DryRun
from supervisor.services.supervisors.handoff import HandoffRequests
from supervisor.services.supervisors.reset import ResetDone, Resets
from supervisor.services.supervisors.specs import Service
from supervisor.views.attention.foreseen import preview_members
from tasks.contract.offsets import OffsetsError, TopicPartition

__all__ = [
    "ApplyVerb",
    "ForgetVerb",
    "HandoffVerb",
    "ResetVerb",
    "VersionVerb",
    "partition_of",
    "shown_effect",
]


def shown_effect(foreseen: Foreseen) -> Mapping[str, JsonValue]:
    """Return what a verb would do, as the API shows it; its `digest` is what `expect` takes."""
    return cast("Mapping[str, JsonValue]", preview_members(foreseen))


@dataclass(frozen=True)
class ApplyVerb:
    """Stores a spec; an equal one changes nothing."""

    service: Service
    dry_run: DryRun
    operations: StepOperations

    def begin(self, wanted: VerbRequest) -> Begun:
        """Store it for the owner."""
        done = self.service.apply_spec(
            _spec(wanted),
            wanted.author,
            wanted.arguments.expected(),
            allowed=applying(wanted.owner),
        )
        warnings: list[JsonValue] = list(done.warnings)
        return self.operations.begun(
            wanted,
            done.operation,
            done.version,
            {"supervisor": done.supervisor_id, "etag": done.etag, "warnings": warnings},
        )

    def recall(self, wanted: VerbRequest) -> Begun:
        """Find the version that was stored."""
        spec = self.service.read(_spec(wanted), applying(wanted.owner)).spec
        begun = self.operations.recall(wanted, spec.id)
        return Begun({**begun.outputs, "supervisor": spec.id}, begun.waits)

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Judge the spec; nothing connects."""
        seen = self.dry_run.judge(
            _spec(wanted),
            connect=False,
            expected=wanted.arguments.expected(),
            allowed=applying(wanted.owner),
        )
        if seen.errors or seen.spec is None:
            raise InvalidSpec(seen.errors)
        changes: list[JsonValue] = []
        if seen.impact is not None:
            changes = [change.field for change in seen.impact.changes.fields]
        warnings: list[JsonValue] = list(seen.warnings)
        return {
            "supervisor": seen.spec.id,
            "exists": seen.exists,
            "changes": changes,
            "warnings": warnings,
        }


def _spec(wanted: VerbRequest) -> Mapping[str, JsonValue]:
    spec = wanted.arguments.mapping("spec")
    if spec is None:
        raise wrong_argument("spec", spec, "a spec")
    return spec


@dataclass(frozen=True)
class VersionVerb:
    """Suspend, resume or terminate: a new version of the spec, or its tombstone."""

    kind: OperationKind
    service: Service
    foresight: RangeForesight
    operations: StepOperations

    def begin(self, wanted: VerbRequest) -> Begun:
        """Store the version; a supervisor that is so already is left as it is."""
        name, expected = wanted.arguments.text("supervisor"), wanted.arguments.expected()
        expect = wanted.arguments.text_or_none("expect")
        judge = self.foresight.judge_version(self.kind, name, expect)
        if self.kind is OperationKind.TERMINATE:
            operation = self.service.terminate(name, wanted.author, expected, judge=judge)
            return self.operations.begun(wanted, operation)
        suspended = self.kind is OperationKind.SUSPEND
        try:
            stored = self.service.suspend(
                name, wanted.author, expected, judge=judge, suspended=suspended
            )
        except AlreadyInState:
            return self.operations.begun(wanted, None)
        return self.operations.begun(wanted, stored.operation, stored.version.version)

    def recall(self, wanted: VerbRequest) -> Begun:
        """Find the operation."""
        return self.operations.recall(wanted, wanted.arguments.text("supervisor"))

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what becomes of its ranges."""
        name, expected = wanted.arguments.text("supervisor"), wanted.arguments.expected()
        return shown_effect(self.foresight.of_version(self.kind, name, expected))


@dataclass(frozen=True)
class HandoffVerb:
    """Lets groups publish now."""

    handoffs: HandoffRequests
    foresight: RangeForesight
    operations: StepOperations

    def begin(self, wanted: VerbRequest) -> Begun:
        """Ask for it; the next pass begins it."""
        name = wanted.arguments.text("supervisor")
        judge = self.foresight.judge_handoff(name, wanted.arguments.text_or_none("expect"))
        operation = self.handoffs.request(name, _groups(wanted), wanted.author, judge)
        ranges: list[JsonValue] = list(operation.ranges)
        return self.operations.begun(wanted, operation.id, more={"ranges": ranges})

    def recall(self, wanted: VerbRequest) -> Begun:
        """Find the operation."""
        return self.operations.recall(wanted, wanted.arguments.text("supervisor"))

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what is published."""
        name = wanted.arguments.text("supervisor")
        return shown_effect(self.foresight.of_handoff(name, _groups(wanted)))


def _groups(wanted: VerbRequest) -> list[int] | None:
    groups = wanted.arguments.items("groups")
    return None if groups is None else [whole_of("groups", each) for each in groups]


@dataclass(frozen=True)
class ResetVerb:
    """Moves the committed offsets."""

    resets: Resets
    service: Service
    operations: StepOperations

    def begin(self, wanted: VerbRequest) -> Begun:
        """Move them; what is skipped, lost or read again is on record, and in the outputs."""
        done = self._done(wanted, dry_run=False)
        return self.operations.begun(wanted, done.operation, more=_counts(done))

    def recall(self, wanted: VerbRequest) -> Begun:
        """Find the operation; the counts are on record with the supervisor alone."""
        return self.operations.recall(wanted, wanted.arguments.text("supervisor"))

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what it would skip, lose or read again."""
        done = self._done(wanted, dry_run=True)
        return {**_counts(done), "digest": done.digest}

    def _done(self, wanted: VerbRequest, *, dry_run: bool) -> ResetDone:
        given = wanted.arguments
        name, expect = given.text("supervisor"), given.text_or_none("expect")
        offsets = given.mapping("offsets")
        if offsets is None:
            to = given.text_or_none("to")
            end = None if to is None else LogEnd(to)
            return self.resets.reset(name, wanted.author, to=end, expect=expect, dry_run=dry_run)
        topic = self.service.spec(name).io_config.topic
        meant = {partition_of(p, topic): whole_of("offsets", at) for p, at in offsets.items()}
        return self.resets.reset_offsets(name, meant, wanted.author, expect=expect, dry_run=dry_run)


def _counts(done: ResetDone) -> dict[str, JsonValue]:
    def count(kind: GapKind) -> int:
        return sum(move.count(kind) for move in done.moves)

    return {
        "skipped": count(GapKind.SKIPPED),
        "lost": count(GapKind.LOST),
        "repeated": count(GapKind.REPEATED),
        "discarded": len(done.discarded),
    }


def partition_of(key: str, topic: str | None) -> TopicPartition:
    """Return the partition that a key names: a number, or `topic:partition`.

    Raises:
        InvalidRequest: it names none.
    """
    if topic is not None and key.isascii() and key.isdigit():
        return TopicPartition(topic, int(key))
    try:
        return TopicPartition.parse(key)
    except OffsetsError:
        wanted = "a partition's number" if topic is not None else "topic:partition"
        raise wrong_argument("offsets", key, wanted) from None


@dataclass(frozen=True)
class ForgetVerb:
    """Forgets a terminated supervisor."""

    forgetting: Forgetting
    foresight: TableForesight

    def begin(self, wanted: VerbRequest) -> Begun:
        """Forget it; its table stays."""
        name, reports = wanted.arguments.text("supervisor"), wanted.arguments.flag("withReports")
        judge = self.foresight.judge_forgetting(
            wanted.arguments.text_or_none("expect"), with_reports=reports
        )
        self.forgetting.forget(name, wanted.author, judge, with_reports=reports)
        return Begun({"supervisor": name})

    def recall(self, wanted: VerbRequest) -> Begun:
        """It acted, so it is gone: a supervisor with its id is another one."""
        return Begun({"supervisor": wanted.arguments.text("supervisor")})

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what goes and what stays."""
        name, reports = wanted.arguments.text("supervisor"), wanted.arguments.flag("withReports")
        return shown_effect(self.foresight.of_forgetting(name, with_reports=reports))
