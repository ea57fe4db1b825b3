"""Names with path parts, markup and control signs, and bodies that are bombs: 4xx, and no trace."""

import json
from typing import cast
from urllib.parse import quote

import pytest

from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json

STEP: Json = {"name": "one", "type": "noop"}
NAMES = [
    "../../etc/passwd",
    "..",
    "a/b",
    "a\\b",
    "day:one/../two",
    "<script>alert(1)</script>",
    "\x1b[2J",
    "a\u202eb",
    "a\nb",
    "a\x00b",
    "%2e%2e",
    "\ud800".encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
    "x" * 5_000,
    "",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_no_name_is_more_than_a_name(running: Running, name: str) -> None:
    running.apply(flow="day", steps=[STEP])
    client = running.world.client
    flows: list[Json] = [
        {"flow": name, "steps": [STEP]},
        {"flow": "other", "steps": [{"name": name, "type": "noop"}]},
        {"flow": "other", "steps": [STEP], "triggers": [{"name": name, "type": "published"}]},
        {"flow": "other", "steps": [{"name": "one", "type": "subflow", "flow": name}]},
    ]
    for flow in flows:
        assert client.post("/api/v1/flows", json=flow).status_code == 400, flow
    keyed = client.post("/api/v1/flows/day/executions", json={"key": name})
    assert keyed.status_code == 400, keyed.text
    part = quote(name, safe="")
    for path in (f"flows/{part}", f"executions/{part}", f"executions/{part}/events"):
        answer = client.get(f"/api/v1/{path}")
        assert answer.status_code < 500, path
        assert "root:" not in answer.text
    for path in (
        f"executions/{part}/kill",
        f"executions/day:x/runs/{part}/retry",
        f"hooks/day/{part}",
    ):
        assert 400 <= client.post(f"/api/v1/{path}").status_code < 500, path
    assert running.world.get_object("/api/v1/executions")["executions"] == []
    listed = cast("list[Json]", running.world.get_object("/api/v1/flows")["flows"])
    assert [one["flow"] for one in listed] == ["day"]


BODIES: dict[str, bytes] = {
    "10,000 deep": b'{"flow":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "a repeated key": b'{"flow":"a","flow":"b","steps":[]}',
    "YAML with aliases": b"a: &a [x,x]\nb: &b [*a,*a]\nflow: *b\n",
    "not a number": b'{"flow":"a","steps":[{"name":"a","type":"sleep","for":NaN}]}',
    "half a surrogate": b'{"flow":"\\ud800","steps":[{"name":"a","type":"noop"}]}',
    "a million digits": b'{"flow":"a","version":' + b"9" * 200_000 + b"}",
    "too large": b'{"flow":"' + b"x" * 2_000_000 + b'"}',
    "deep steps": json.dumps(
        {"flow": "a", "steps": [{"name": "a", "type": "noop", "x": [[[[[]]]]] * 2_000}]}
    ).encode(),
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("path", ["flows", "flows/validate", "flows/plan"])
def test_a_body_that_is_a_bomb_is_refused(running: Running, path: str, what: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = running.world.client.post(f"/api/v1/{path}", content=BODIES[what], headers=headers)
    says_so = answer.status_code == 200 and answer.json().get("valid") is False
    assert 400 <= answer.status_code < 500 or says_so, answer.text[:300]
    assert running.world.get_object("/api/v1/flows")["flows"] == []
