"""Plans and the audit log: what is kept for people."""

from supervisor.core.model.rows import AuditEntry, StoredPlan
from tests.conformance.stories import CLICKS, MINUTE, NOON, Leader


def _plan(number: int, supervisor_id: str = CLICKS) -> StoredPlan:
    action = {"action": "StartTask", "about": f"t{number}", "why": "a replica is missing"}
    return StoredPlan(supervisor_id, NOON + number * MINUTE, 1, (action,), error=f"e{number}")


def test_plans_are_read_back_newest_first(leader: Leader) -> None:
    with leader.writes() as tx:
        for number in range(3):
            tx.plans.record(_plan(number))
        tx.plans.record(_plan(7, "other"))

    with leader.reads() as tx:
        assert tx.plans.recent(CLICKS, 10) == [_plan(2), _plan(1), _plan(0)]
        assert tx.plans.recent(CLICKS, 1) == [_plan(2)]
        assert tx.plans.recent("never", 1) == []


def test_plans_are_read_page_by_page_and_before_a_time(leader: Leader) -> None:
    with leader.writes() as tx:
        for number in range(4):
            tx.plans.record(_plan(number))
        tx.plans.record(_plan(1, "other"))

    with leader.reads() as tx:
        first = tx.plans.page(CLICKS, 2)
        second = tx.plans.page(CLICKS, 9, before=first[-1][0])
        assert [plan for _, plan in first + second] == [_plan(number) for number in (3, 2, 1, 0)]
        early = tx.plans.page(CLICKS, 9, until=NOON + 2 * MINUTE)
        assert [plan for _, plan in early] == [_plan(1), _plan(0)]


def test_the_newest_200_plans_of_each_supervisor_are_kept(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.plans.record(_plan(0, "other"))
        for number in range(205):
            tx.plans.record(_plan(number))

    with leader.reads() as tx:
        kept = tx.plans.recent(CLICKS, 1_000)
        assert kept == [_plan(number) for number in range(204, 4, -1)]
        assert tx.plans.recent("other", 1_000) == [_plan(0, "other")]


def test_audit_entries_are_read_back_newest_first(leader: Leader) -> None:
    entries = [
        AuditEntry(NOON + number * MINUTE, "ada", "suspend", CLICKS, {"n": str(number)})
        for number in range(3)
    ]
    for entry in entries:
        with leader.writes() as tx:
            tx.audit.write(entry)

    with leader.reads() as tx:
        assert tx.audit.recent(10) == entries[::-1]
        assert tx.audit.recent(2) == [entries[2], entries[1]]


def test_audit_entries_are_paged_and_filtered(leader: Leader) -> None:
    entries = [
        AuditEntry(NOON, "ada", "suspend", CLICKS),
        AuditEntry(NOON, "bob", "publish", "table", {"supervisor": CLICKS}),
        AuditEntry(NOON, "ada", "suspend", "other"),
    ]
    for entry in entries:
        with leader.writes() as tx:
            tx.audit.write(entry)

    with leader.reads() as tx:
        newest, *_ = page = tx.audit.page(10)
        assert [entry for _, entry in page] == entries[::-1]
        assert tx.audit.page(10, before=newest[0]) == page[1:]
        assert tx.audit.page(10, supervisor_id=CLICKS) == page[1:]
        assert [e for _, e in tx.audit.page(10, actor="ada", action="suspend")] == entries[::-2]
        assert tx.audit.page(1, supervisor_id=CLICKS, action="publish") == [page[1]]
        assert tx.audit.page(10, actor="nobody") == []
