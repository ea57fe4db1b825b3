"""A flow with an input of each kind and a step that asks, and executions of it."""

import httpx
from pydantic import JsonValue

from tests.waiting import wait_until

FLOWS = "/api/v1/flows"
EXECUTIONS = "/api/v1/executions"
DAY = "2026-11-25"


def asking_flow(name: str) -> dict[str, JsonValue]:
    """Return a flow that packs, copies each table, asks, and then tells."""
    return {
        "flow": name,
        "description": "Packs a day, and tells of it when somebody agrees",
        "labels": {"team": "orders"},
        "inputs": [
            {"name": "day", "type": "date", "description": "The day to pack"},
            {"name": "most", "type": "integer", "default": 9_223_372_036_854_775},
            {"name": "tell", "type": "boolean", "default": True},
            {"name": "tables", "type": "list", "default": ["clicks", "orders"]},
            {"name": "note", "required": False},
        ],
        "steps": [
            {"name": "pack", "type": "noop"},
            {"name": "prove", "type": "noop"},
            {
                "name": "each",
                "type": "forEach",
                "items": "${ inputs.tables }",
                "after": ["pack"],
                "steps": [{"name": "copy", "type": "noop"}],
            },
            {
                "name": "ok",
                "type": "approve",
                "question": "tell of ${ inputs.day }?",
                "after": ["each", "prove"],
            },
            {"name": "tell", "type": "noop", "after": ["ok"], "if": "inputs.tell"},
        ],
        "finally": [{"name": "tidy", "type": "noop"}],
        "outputs": {"day": "${ inputs.day }"},
    }


def failing_flow(name: str) -> dict[str, JsonValue]:
    """Return a flow whose second step fails."""
    steps: list[JsonValue] = [
        {"name": "pack", "type": "noop"},
        {"name": "judge", "type": "fail", "message": "3 rows are missing", "after": ["pack"]},
        {"name": "tell", "type": "noop", "after": ["judge"]},
    ]
    return {"flow": name, "steps": steps, "onFailure": [{"name": "page", "type": "noop"}]}


def mended_flow(name: str) -> dict[str, JsonValue]:
    """Return the failing flow with another first step, and a second one that succeeds."""
    steps: list[JsonValue] = [
        {"name": "pack", "type": "noop", "if": "true"},
        {"name": "judge", "type": "noop", "after": ["pack"]},
        {"name": "tell", "type": "noop", "after": ["judge"]},
    ]
    return {"flow": name, "steps": steps}


def triggered_flow(name: str) -> dict[str, JsonValue]:
    """Return a flow that a clock starts once a year and, when it is resumed, publishes."""
    return {
        "flow": name,
        "inputs": [{"name": "day", "type": "date", "required": False}],
        "labels": {"team": name},
        "triggers": [
            {"name": "yearly", "type": "schedule", "cron": "15 4 1 1 *"},
            {"name": "seen", "type": "published", "table": "orders", "paused": True},
        ],
        "steps": [{"name": "pack", "type": "noop"}],
    }


def apply_flow(http: httpx.Client, document: dict[str, JsonValue], **params: str) -> None:
    """Store a flow."""
    http.post(FLOWS, json=document, params=params).raise_for_status()


def start_flow(http: httpx.Client, name: str, key: str, **inputs: JsonValue) -> str:
    """Return the id of an execution that was started."""
    body = {"key": key, "inputs": inputs}
    answer = http.post(f"{FLOWS}/{name}/executions", json=body).raise_for_status()
    return str(answer.json()["id"])


def asking_runs(http: httpx.Client, execution: str) -> list[str]:
    """Return the ids of the task runs that wait for an answer; none while another one is open."""
    runs = http.get(f"{EXECUTIONS}/{execution}").raise_for_status().json()["runs"]
    opened = [run for run in runs if run["endedAt"] is None]
    asking = [run["id"] for run in opened if (run["waitsFor"] or {}).get("kind") == "answer"]
    return asking if len(asking) == len(opened) else []


def await_asking(http: httpx.Client, execution: str) -> None:
    """Wait until an execution waits for an answer, and for nothing else."""
    wait_until(lambda: asking_runs(http, execution) != [])


def await_state(http: httpx.Client, execution: str, state: str) -> None:
    """Wait until an execution has this state."""
    address = f"{EXECUTIONS}/{execution}"
    wait_until(lambda: http.get(address).raise_for_status().json()["state"] == state)
