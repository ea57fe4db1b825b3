"""Dead letters by HTTP, in a topic of a real broker: listed, shown, replayed, dropped.

Slow: two persisters follow each other.
"""

from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from supervisor.dev.broker import Broker
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tests.environment.brokers import produce
from tests.integration.reports.persisters import PersisterProcess, Persisters
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

_MINE = {"Authorization": "Bearer a-token-for-tests"}


def _record(subject: str) -> str:
    record = ReportRecord(
        type=RecordType.TASK_REPORT,
        record_id=record_id_of(subject, 0, RecordType.TASK_REPORT, 0),
        subject=subject,
        origin=RecordOrigin.STREAM,
        at=datetime.now(UTC),
        seq=0,
    )
    return record.to_json()


def _letters(process: PersisterProcess, **params: str | int) -> list[dict[str, object]]:
    answer = process.http.get("/dead-letters", params=params, headers=_MINE)
    letters: list[dict[str, object]] = answer.raise_for_status().json()["letters"]
    return letters


def test_dead_letters_of_a_topic_are_shown_replayed_and_dropped(
    broker: Broker, tmp_path: Path
) -> None:
    env = {"TIDEGATE_REPORTS_KAFKA": broker.bootstrap, "TIDEGATE_REPORTS_PREFIX": "desk."}
    with Persisters(tmp_path, env | {"TIDEGATE_TOKEN": "a-token-for-tests"}) as persisters:
        process = persisters.start()
        bad = ["no json", '{"v": 9}', _record("task-a").replace('"attempt":0', '"attempt":7')]
        produce(broker.bootstrap, "desk.completed.default", bad, partition=1)
        # What somebody has kept by hand, such as after a fix of the sender, can be stored.
        produce(broker.bootstrap, "desk.dead.persister", [_record("task-b")], partition=0)
        wait_until(lambda: len(_letters(process)) == 4)
        refused = process.http.get("/dead-letters")
        newest = _letters(process, limit=1)
        by_reason = _letters(process, reason="unknown version")
        by_body = {str(each["body"])[:8]: each for each in _letters(process)}
        good = next(each for each in _letters(process) if "task-b" in str(each["body"]))
        replay = f"/dead-letters/0/{good['offset']}/replay"
        drop = f"/dead-letters/0/{by_body['no json']['offset']}"
        unknown = process.http.post(replay)
        replayed = process.http.post(f"{replay}?by=ada&reason=fixed", headers=_MINE)
        repeated = process.http.post(replay, headers=_MINE)
        rejected = process.http.post(f"{drop}/replay", headers=_MINE)
        dropped = process.http.delete(drop, params={"by": "ada"}, headers=_MINE)
        none = process.http.get("/dead-letters/0/999", headers=_MINE)
        left = _letters(process)
        handled = _letters(process, handled="true")
        process.kill()
        again = persisters.start()
        left_after = _letters(again)
        shown = again.http.get(f"/dead-letters/0/{good['offset']}", headers=_MINE).json()
        wait_until(lambda: again.http.get("/status").json()["deadLetters"] == 2)

    assert (refused.status_code, unknown.status_code) == (401, 401)
    assert [each["offset"] for each in newest] == [handled[0]["offset"]]
    assert [each["body"] for each in by_reason] == ['{"v": 9}']
    places = (by_reason[0]["topic"], by_reason[0]["topicPartition"], by_reason[0]["topicOffset"])
    assert places == ("desk.completed.default", 1, 1)
    assert replayed.json()["handled"]["outcome"] == "stored"
    assert repeated.json() == replayed.json()
    assert (shown["handled"]["by"], shown["handled"]["reason"]) == ("ada", "fixed")
    assert rejected.json()["handled"]["outcome"] == "rejected"
    assert rejected.json()["handled"]["detail"]
    assert dropped.json()["handled"]["outcome"] == "dropped"
    assert none.status_code == httpx.codes.NOT_FOUND
    assert (len(left), len(handled)) == (2, 4)
    assert left_after == left
