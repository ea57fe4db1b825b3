"""What a dry run says of verbs on queues and rules of tables."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.attention.foreseen.operations import (
    compaction_rule_foreseen,
    retention_foreseen,
)
from supervisor.core.model.rows import RetentionRule
from supervisor.core.tables.compaction import CompactionRule
from tests.supervisor.core.snapshots import NOON

DAY = timedelta(days=1)
KEPT = RetentionRule("clicks", 90 * DAY, "ada", NOON)
RULE = CompactionRule("clicks", DAY, 1_000_000, 2**28, 2, "ada", NOON)


def test_the_way_back_from_a_rule_is_the_rule_of_before() -> None:
    first = retention_foreseen("clicks", 30 * DAY, None, [], 30 * DAY)
    again = retention_foreseen("clicks", 30 * DAY, KEPT, [], 30 * DAY)

    assert "`tidegate segment retention clicks --keep-forever`" in first.undo
    assert "`tidegate segment retention clicks --keep-for P90D`" in again.undo
    assert first.digest != again.digest, "another rule goes"
    assert "0 files with 0 rows, older than P30D, leave clicks at once" in again.text


def test_no_rule_to_drop_changes_nothing() -> None:
    kept = retention_foreseen("clicks", None, None, [], DAY)
    compacted = compaction_rule_foreseen("clicks", None, None)

    assert kept.text == compacted.text == "clicks has no rule: nothing changes."


def test_a_rule_of_compaction_is_bound_to_what_it_says_and_replaces() -> None:
    other = replace(RULE, target_rows=5)
    author = replace(RULE, author="bob")

    set_first, set_again = (compaction_rule_foreseen("clicks", RULE, b) for b in (None, other))

    assert "up to P1D before its newest rows" in set_first.text
    assert "`tidegate compaction rule clicks --off`" in set_first.undo
    assert "--skip-latest P1D --target-rows 5" in set_again.undo
    assert set_first.digest != set_again.digest
    assert compaction_rule_foreseen("clicks", author, None).digest == set_first.digest
