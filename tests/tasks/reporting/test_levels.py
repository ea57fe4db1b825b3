"""Levels: which tasks are reported, by how they ended."""

import pytest

from tasks.contract.messages import FailureCode
from tasks.reporting.levels import ReportLevels, TaskEnding, read_levels
from tasks.reporting.record import RecordOrigin

STREAM, COMPACTION = RecordOrigin.STREAM, RecordOrigin.COMPACTION
DONE = TaskEnding(succeeded=True)
WITHOUT_A_WORD = TaskEnding(succeeded=False)
OURS = TaskEnding(succeeded=False, failure=FailureCode.READ_FAILED)
THEIRS = TaskEnding(succeeded=False, failure=FailureCode.TOO_MANY_PARSE_EXCEPTIONS)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("always", [DONE, WITHOUT_A_WORD, OURS, THEIRS]),
        ("failures", [WITHOUT_A_WORD, OURS, THEIRS]),
        ("failures-not-user-errors", [WITHOUT_A_WORD, OURS]),
    ],
)
def test_a_level_takes_what_ended_so(text: str, wanted: list[TaskEnding]) -> None:
    levels = read_levels(text)
    every = [DONE, WITHOUT_A_WORD, OURS, THEIRS]

    assert [each for each in every if levels.wants(STREAM, each, debug=False)] == wanted
    assert all(levels.wants(STREAM, each, debug=True) for each in every)
    assert levels.at_once(STREAM, debug=False) is (text == "always")
    assert levels.at_once(STREAM, debug=True)


def test_each_origin_may_have_its_own_and_the_others_are_always_reported() -> None:
    levels = read_levels(" stream=failures, supervisor=always ")

    assert not levels.wants(STREAM, DONE, debug=False)
    assert levels.wants(COMPACTION, DONE, debug=False)
    assert read_levels("") == ReportLevels()
    assert not read_levels("failures").wants(COMPACTION, DONE, debug=False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sometimes", "'sometimes' is no level: always, failures"),
        ("stream=never", "'never' is no level"),
        ("batch=always", "'batch' is no origin: stream, compaction"),
        ("always,failures", "'' is no origin"),
        ("stream=always,stream=failures", "stream is named twice"),
    ],
)
def test_what_is_no_level_is_named(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_levels(text)
