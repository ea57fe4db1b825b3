"""Answers are read by the models that the API answers with, across releases."""

import pytest
from pydantic import ValidationError

from supervisor.core.model.rows import TaskStatus
from supervisor.verify.ledger import CheckedLedger
from supervisor.views.lenient import lenient
from supervisor.views.status import SupervisorStatus
from supervisor.views.tasks import TaskRow
from tasks.contract.messages import OffsetSpan

LEDGER = {
    "supervisorId": "clicks",
    "dataSource": "clicks",
    "warehouse": "/w",
    "topic": "clicks",
    "kafka": {"bootstrapServers": "localhost:9092"},
    "committed": [],
    "gaps": [],
    "publications": [],
    "forgotten": [],
    "errorsForgotten": [],
}
SPAN = {"topic": "t", "partition": 0, "first": 0, "last": 3, "rows": 4}


def test_members_and_words_of_a_newer_overlord_are_no_error() -> None:
    read = lenient(TaskRow).model_validate({"id": "a", "status": "PARKED", "shelf": 7})

    assert isinstance(read, TaskRow)
    assert (read.id, str(read.status)) == ("a", "PARKED")


def test_known_words_stay_what_they_are() -> None:
    read = lenient(TaskRow).model_validate({"id": "a", "status": "FAILED"})

    assert read.status is TaskStatus.FAILED


def test_what_an_older_overlord_does_not_have_is_empty_at_any_depth() -> None:
    answer = {"id": "a", "payload": {"activeTasks": [{"id": "t", "lag": None}]}}

    [task] = lenient(SupervisorStatus).model_validate(answer).payload.active_tasks

    assert (task.id, task.worker_id, task.phase, task.lag) == ("t", "", None, {})


def test_nothing_is_read_without_its_id_or_with_another_type() -> None:
    for answer in ({}, {"id": 7}, {"id": "a", "replica": "x"}):
        with pytest.raises(ValidationError):
            lenient(TaskRow).model_validate(answer)


def test_what_is_read_equals_what_the_model_reads() -> None:
    strict, read = (kind.model_validate(SPAN) for kind in (OffsetSpan, lenient(OffsetSpan)))

    assert strict == read
    assert {strict} == {read}
    assert read != lenient(OffsetSpan).model_validate(SPAN | {"rows": 5})


@pytest.mark.parametrize("member", LEDGER)
def test_of_a_whole_answer_no_member_may_be_missing(member: str) -> None:
    whole = lenient(CheckedLedger, whole=True)
    whole.model_validate(LEDGER | {"shelf": 7})

    with pytest.raises(ValidationError):
        whole.model_validate({name: each for name, each in LEDGER.items() if name != member})


def test_of_a_whole_answer_every_word_is_known() -> None:
    gap = {"topic": "t", "partition": 0, "from": 0, "to": 1, "kind": "vanished", "author": ""}
    gap |= {"why": "", "at": "2026-01-05T12:00:00Z", "lastOrdinal": None}

    with pytest.raises(ValidationError, match="vanished"):
        lenient(CheckedLedger, whole=True).model_validate(LEDGER | {"gaps": [gap]})
