"""The flow of the sample: after each publish small files are joined, and the table is proven."""

from dataclasses import dataclass
from datetime import datetime

import httpx
from pydantic import JsonValue

from supervisor.core.executions.states import ExecutionState
from supervisor.dev.sample import TOPIC
from supervisor.settings.problems import SetupProblem

__all__ = ["ASK_TIMEOUT_S", "FLOW", "Ended", "first_telling", "keep_flow", "sample_flow"]

FLOW = f"{TOPIC}-proof"
_PATH = "/api/v1/flows"
_EXECUTIONS = "/api/v1/executions"
ASK_TIMEOUT_S = 30.0
"""The first flow of an overlord makes the database of executions and loads the expressions."""


def sample_flow(table: str = TOPIC) -> dict[str, JsonValue]:
    """Return the flow of a table whose supervisor has the same name."""
    again: JsonValue = {"attempts": 3, "backoff": "PT5S"}
    return {
        "flow": FLOW,
        "description": f"After publishes of {table}: join its small files, then prove all of it.",
        "triggers": [
            {"name": "published", "type": "published", "table": table, "mode": "coalesced"}
        ],
        "timeout": "PT30M",
        "steps": [
            {"name": "pack", "type": "compact", "table": table, "retry": again},
            {
                "name": "prove",
                "type": "verify",
                "supervisor": table,
                "retry": again,
                "after": ["pack"],
            },
        ],
        "outputs": {
            "files": "${ steps.pack.files }",
            **{
                name: f"${{ steps.prove.{name} }}"
                for name in ("verdict", "records", "lost", "duplicated")
            },
        },
    }


def keep_flow(api: httpx.Client) -> None:
    """Apply the flow unless it is stored; a stored one keeps its user's changes.

    Raises:
        SetupProblem: it was refused.
    """
    if api.get(f"{_PATH}/{FLOW}", timeout=ASK_TIMEOUT_S).status_code == httpx.codes.OK:
        return
    answer = api.post(_PATH, json=sample_flow(), timeout=ASK_TIMEOUT_S)
    if answer.is_error:
        raise SetupProblem(f"the sample's flow was refused: {answer.text}", "report this")


@dataclass(frozen=True)
class Ended:
    """An execution that has ended; `well`: as SUCCESS."""

    id: str
    well: bool


def first_telling(api: httpx.Client, since: datetime) -> Ended | None:
    """Return the first execution made since then that has failed, or has joined files.

    None: there is none yet, or the overlord does not answer now.  The first ones after a start may
    find one file, with nothing to join it to.
    """
    try:
        params = {"flow": FLOW, "limit": "1000"}
        page = api.get(_EXECUTIONS, params=params).raise_for_status().json()
        for line in reversed(page["executions"]):  # the list is newest first
            created = datetime.fromisoformat(line["createdAt"])
            if created < since or line["endedAt"] is None:
                continue
            if line["state"] != ExecutionState.SUCCESS:
                return Ended(line["id"], well=False)
            shown = api.get(f"{_EXECUTIONS}/{line['id']}").raise_for_status().json()
            if shown["outputs"]["files"]:
                return Ended(line["id"], well=True)
    except httpx.HTTPError:
        pass
    return None
