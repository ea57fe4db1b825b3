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
TRIGGER: dict[str, Any] = {
    "name": "nightly",
    "type": "schedule",
    "definition": {"cron": "15 4 * * *", "timezone": "Europe/Zurich"},
    "paused": False,
    "pausedBy": None,
    "nextAt": "2026-11-26T03:15:00Z",
    "lastAt": None,
    "lastExecution": None,
    "waiting": 0,
    "fired": 0,
    "passed": 2,
    "problem": "/inputs/day: day is required",
    "problemAt": "2026-11-25T03:15:00Z",
}
DEAD_INPUT: dict[str, Any] = {
    "offset": 17,
    "at": "2026-11-29T10:00:00Z",
    "reason": "it is no JSON",
    "execution": "day:mon",
    "partition": 3,
    "position": 40,
    "bytes": 7,
    "sha256": "0" * 64,
    "body": "no json",
    "handled": None,
}
