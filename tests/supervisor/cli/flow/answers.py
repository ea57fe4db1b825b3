"""What an overlord answers about flows and executions."""

from typing import Any

STORED: dict[str, Any] = {
    "flow": "day",
    "version": 2,
    "document": {"flow": "day", "steps": [{"name": "pack", "type": "noop"}]},
    "digest": "0" * 64,
    "author": "ada",
    "reason": None,
    "at": "2026-01-05T12:00:00Z",
}
APPLIED = {"flow": STORED, "changed": True}
LINE: dict[str, Any] = {
    "id": "day:mon",
    "flow": "day",
    "flowVersion": 2,
    "state": "SUCCESS",
    "createdAt": "2026-01-05T12:00:00Z",
    "beganAt": "2026-01-05T12:00:00Z",
    "endedAt": "2026-01-05T12:00:01Z",
    "parent": None,
    "labels": {},
    "error": "",
}
EXECUTION: dict[str, Any] = LINE | {
    "version": 3,
    "trigger": {"type": "request", "by": "ada"},
    "inputs": {},
    "outputs": {"rows": 3},
    "dueAt": None,
    "waitsFor": [],
    "runs": [],
}
