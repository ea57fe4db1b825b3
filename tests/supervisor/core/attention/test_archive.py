"""The attention rule of the archive: what it lacks for long is an item."""

from datetime import UTC, datetime, timedelta

from supervisor.core.attention.archive import UNSTORED_AFTER, UnstoredHistory, archive_items
from supervisor.core.attention.items import AttentionKind, Severity

_NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def test_an_archive_that_is_late_is_an_item_that_says_by_how_much() -> None:
    unstored = UnstoredHistory(1_204, 3, _NOW - UNSTORED_AFTER)

    [item] = archive_items(unstored, _NOW)

    assert (item.kind, item.severity) == (AttentionKind.ARCHIVE_BEHIND, Severity.AT_RISK)
    assert "1,204 events and 3 audit entries, the oldest 15 min old" in item.text
    assert item.remedies[0].command == "tidegate reports status"


def test_an_archive_that_follows_is_no_item() -> None:
    young = UnstoredHistory(9, 0, _NOW - UNSTORED_AFTER + timedelta(seconds=1))

    assert not [*archive_items(young, _NOW)]
    assert not [*archive_items(None, _NOW)]
