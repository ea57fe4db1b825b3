"""The first line of what went wrong, in the payloads of Tidegate and of other programs."""

import pytest
from pydantic import JsonValue

from supervisor.core.reports.first_error import ERROR_MAX, first_error
from tests.conformance.reports.report_stores import report


@pytest.mark.parametrize(
    ("status", "payload", "line"),
    [
        ("FAILED", {"detail": "\n the disk is full \n at x"}, "the disk is full"),
        ("FAILED", {"detail": "", "failure": "OUT_OF_DISK"}, "OUT_OF_DISK"),
        ("FAILED", {"detail": " \n ", "errorMsg": "no"}, "no"),
        ("FAILED", {"detail": 7, "error": {"a": 1}}, ""),
        ("FAILED", {}, ""),
        ("SUCCESS", {"detail": "done"}, ""),
        (None, {"detail": "waits"}, ""),
        (None, {"failure": "LOST", "detail": "its worker"}, "its worker"),
        ("FAILED", {"detail": "x" * 1_000_000}, "x" * ERROR_MAX),
    ],
)
def test_the_first_line_of_an_error(
    status: str | None, payload: dict[str, JsonValue], line: str
) -> None:
    assert first_error(report(status=status, payload=payload)) == line
