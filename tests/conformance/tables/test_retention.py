"""Rules that let a table's old rows go."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.model.rows import RetentionRule
from tests.conformance.stories import HOUR, NOON, Leader

RULE = RetentionRule("table", timedelta(days=30), "ann", NOON)


def test_the_last_rule_of_a_table_counts_until_it_is_dropped(leader: Leader) -> None:
    longer = replace(RULE, keep_for=timedelta(days=40_000), author="bob", set_at=NOON + HOUR)
    with leader.writes() as tx:
        tx.retention.put(RULE)
        assert tx.retention.of("table") == RULE
    with leader.writes() as tx:
        tx.retention.put(longer)
    with leader.reads() as tx:
        assert tx.retention.of("table") == longer
    with leader.writes() as tx:
        assert [tx.retention.drop("table"), tx.retention.drop("table")] == [True, False]
    with leader.reads() as tx:
        assert tx.retention.of("table") is None


def test_rules_are_listed_by_table(leader: Leader) -> None:
    rules = [replace(RULE, data_source=name) for name in ("b", "B", "a")]
    with leader.writes() as tx:
        for rule in rules:
            tx.retention.put(rule)
    with leader.reads() as tx:
        assert tx.retention.all() == [rules[1], rules[2], rules[0]]


def test_a_rule_is_kept_to_the_second(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.retention.put(replace(RULE, keep_for=timedelta(seconds=1.5)))
    with leader.reads() as tx:
        found = tx.retention.of("table")
    assert found == replace(RULE, keep_for=timedelta(seconds=1))
