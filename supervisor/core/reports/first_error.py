"""The first line of what went wrong, out of a record's payload, for lists of records."""

from tasks.reporting.record import ReportRecord

__all__ = ["ERROR_MAX", "first_error"]

ERROR_MAX = 300
"""Characters of a line that lists show."""
_SUCCESS = "SUCCESS"
_NAMES = ("detail", "errorMsg", "error", "reason", "message")
"""Where payloads say why: those of Tidegate first, then what other programs use."""


def first_error(record: ReportRecord) -> str:
    """Return the first line of a record's error; empty: it ended well, has not ended, or is mute.

    What a payload says of a task that runs is no error: it may wait for something.
    """
    code = record.payload.get("failure")
    failed = record.status not in {None, _SUCCESS} or isinstance(code, str)
    if not failed:
        return ""
    texts = (record.payload.get(name) for name in _NAMES)
    lines = (
        text.strip().splitlines()[0] for text in texts if isinstance(text, str) and text.strip()
    )
    line = next(lines, "").rstrip()
    if not line and isinstance(code, str):
        line = code
    return line[:ERROR_MAX]
