"""`tidegate verify ID` of a compacted table, as an overlord tells of it.

Its topic was made anew since, so that no broker is asked.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.verify.ledger import CheckedGap, CheckedLedger
from tests.conformance.stories import CLICKS, NOON
from tests.supervisor.cli.conftest import Ended, Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, Request
from tests.supervisor.verify.compacting import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Two ranges of three rows each."""
    two_ranges = Table(tmp_path)
    for _ in range(2):
        two_ranges.publish({0: [(0, 0), (0, 0), (0, 0)]})
    return two_ranges


def ledger(table: Table) -> CheckedLedger:
    gap = CheckedGap.model_validate(
        {
            "topic": CLICKS,
            "partition": 0,
            "from": 0,
            "to": 6,
            "kind": "recreated",
            "author": "me",
            "why": "",
            "at": NOON + timedelta(days=1),
            "lastOrdinal": None,
        }
    )
    return table.ledger().model_copy(update={"committed": (), "gaps": (gap,)})


def answers(table: Table) -> dict[str, Reply]:
    """What the overlord says now."""
    files = [
        {
            "path": each.file.path,
            "rows": each.file.rows,
            "supervisorId": CLICKS,
            "generationId": each.generation_id,
            "taskId": each.task_id,
            "compactionId": each.compaction_id,
        }
        for each in table.segments()
        if each.used
    ]
    listed = {"dataSource": CLICKS, "warehouse": str(table.root), "files": files}
    return {
        "ledger": Reply(ledger(table).model_dump(mode="json")),
        "files": Reply(listed),
    }


def verify(tidegate: Tidegate) -> Ended:
    return tidegate("verify", CLICKS, "-o", "json")


def test_a_compacted_table_is_asked_for_once_and_has_no_findings(
    tidegate: Tidegate, server: Overlord, table: Table
) -> None:
    table.compact("task-g1/0", "task-g2/0")
    server.ask = lambda request: answers(table)[request.path.rpartition("/")[2]]

    ended = verify(tidegate)

    verdict = ended.json()
    assert isinstance(verdict, dict)
    assert (ended.code, verdict["findings"], verdict["publications"]) == (0, [], 2)
    assert [each["rows"] for each in verdict["partitions"][0]["ranges"]] == [3, 3]
    assert len(server.requests) == 2


def test_a_table_that_is_compacted_while_it_is_asked_for_is_asked_for_again(
    tidegate: Tidegate, server: Overlord, table: Table
) -> None:
    """Goal: a swap between two answers is no finding."""

    def answer(request: Request) -> Reply:
        reply = answers(table)[request.path.rpartition("/")[2]]
        if len(server.requests) == 1:
            table.compact("task-g1/0", "task-g2/0")
        return reply

    server.ask = answer

    ended = verify(tidegate)

    verdict = ended.json()
    assert isinstance(verdict, dict)
    assert (ended.code, verdict["findings"], len(server.requests)) == (0, [], 4)
