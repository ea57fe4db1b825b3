"""What each version of a spec did, from the versions and the operations."""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.history.version_facts import VersionKind, version_facts
from supervisor.core.model.rows import SpecVersion
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError, SpecUnreadable
from supervisor.core.values.spec_facts import SpecFacts
from tests.supervisor.core.snapshots import NOON, TOPIC, other_spec, spec

UNREADABLE = SpecUnreadable(
    TOPIC, 2, "9.0.0", [FieldError("/x", "unknown")], created_at=NOON, facts=SpecFacts()
)


def version(number: int, wanted: SupervisorSpec | None) -> SpecVersion:
    return SpecVersion(TOPIC, number, NOON + number * timedelta(minutes=1), wanted, "alice")


@pytest.mark.parametrize(
    ("before", "after", "kind", "changed"),
    [
        (None, version(1, spec()), VersionKind.CREATED, None),
        (version(1, None), version(2, spec()), VersionKind.CREATED, None),
        (version(1, spec()), version(2, None), VersionKind.TERMINATED, None),
        (
            version(1, spec()),
            version(2, other_spec()),
            VersionKind.CHANGED,
            ["/spec/tuningConfig/maxRowsPerSegment"],
        ),
        (
            version(1, spec()),
            version(2, spec(suspended=True)),
            VersionKind.SUSPENDED,
            ["/suspended"],
        ),
        (
            version(1, spec(suspended=True)),
            version(2, spec()),
            VersionKind.RESUMED,
            ["/suspended"],
        ),
    ],
)
def test_a_version_is_named_by_what_it_does(
    before: SpecVersion | None,
    after: SpecVersion,
    kind: VersionKind,
    changed: list[str] | None,
) -> None:
    facts = version_facts(after, before, None)

    assert (facts.kind, facts.author, facts.at) == (kind, "alice", after.created_at)
    fields = None if facts.changes is None else [change.field for change in facts.changes.fields]
    assert (fields, facts.unknown) == (changed, "")


def test_a_rollback_is_known_by_its_operation() -> None:
    operation = Operation(TOPIC, OperationKind.ROLLBACK, "bob", NOON, spec_version=2, number=7)
    facts = version_facts(version(2, spec(suspended=True)), version(1, spec()), operation)
    assert (facts.kind, facts.operation) == (VersionKind.ROLLED_BACK, operation)


def test_what_is_not_stored_or_not_readable_has_a_reason() -> None:
    forgotten = version_facts(version(5, spec()), None, None)
    assert (forgotten.kind, forgotten.changes) == (VersionKind.CHANGED, None)
    assert "not stored any more" in forgotten.unknown

    after = version_facts(version(3, spec()), UNREADABLE, None)
    assert (after.changes, after.unknown) == (None, str(UNREADABLE))

    unreadable = version_facts(UNREADABLE, version(1, spec()), None)
    assert (unreadable.version, unreadable.kind, unreadable.author) == (2, None, None)
    assert unreadable.unknown == str(UNREADABLE)


def test_a_tombstone_of_an_unreadable_version_ends_it() -> None:
    facts = version_facts(replace(version(3, None)), UNREADABLE, None)
    assert (facts.kind, facts.changes, facts.unknown) == (VersionKind.TERMINATED, None, "")
