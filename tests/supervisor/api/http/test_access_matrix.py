"""Every role at every route, over its own table and a foreign one.

The matrix is generated from the routes: a new one is in it as soon as it is there.
Source: faults.md S21; a hidden object is answered as one that is not there.
"""

import re
from collections.abc import Iterator

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from supervisor.api.http.access import Needs, Undeclared, api_routes, needs, needs_of
from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.api.server import build_routes
from supervisor.core.values.permissions import PERMISSIONS, Kind, Permission, Role
from tests.sqlite_memory import empty_file
from tests.supervisor.api.description import description
from tests.supervisor.api.guarded import FOREIGN, OWN, Guarded, a_guarded_world, bearer, grants_of
from tests.supervisor.api.world import SUPERVISORS, spec_document
from tests.tidy.test_docs import columns, text_of

ROUTES = [
    pytest.param(method, route, id=f"{method} {route.path_format}")
    for route in api_routes(build_routes().routes)
    for method in sorted(route.methods or ())
]
UNSCOPED = {Permission.OPEN, Permission.SIGNED_IN, Permission.WORK}
READS_BY_POST = {
    "/druid/indexer/v1/taskStatus": "the ids are in the body",
    "/druid/indexer/v1/lockedIntervals/v2": "nothing is locked",
    "/druid/indexer/v1/action": "not offered",
    "/api/v1/flows/validate": "the flow is in the body",
    "/api/v1/flows/plan": "the flow is in the body",
    "/api/v1/flows/{flow}/plan": "the inputs are in the body",
}
"""What changes nothing, for all that it is a POST."""
LOGIN = ("/api/v1/sessions",)
"""Open, because the body proves who it is; tests/supervisor/api/routes/cluster/test_sessions.py."""
HOOKS = ("/api/v1/hooks/{flow}/{trigger}",)
"""Open, because a signature proves it; tests/supervisor/api/routes/flows/test_hooks.py."""
OWN_SESSION = ("/api/v1/sessions/current",)
"""Whoever has begun a session may end it."""
CALLERS = ("viewer", "operator", "admin", "everywhere", "worker", "nobody", "revoked", "wrong")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Two supervisors of two tables with a task each, and callers of each role."""
    folder = tmp_path_factory.mktemp("matrix")
    with a_guarded_world(folder, empty_file(folder / "empty.db")) as guarded_world:
        yield guarded_world


@pytest.fixture(scope="module")
def tokens(guarded: Guarded) -> dict[str, str]:
    """Token by caller; under the name of a table, the id of its task."""
    by_caller = {role.value: guarded.token(role.value, *grants_of(role)) for role in Role}
    by_caller["everywhere"] = guarded.token("everywhere", *grants_of(Role.ADMIN, "*"))
    by_caller["worker"] = guarded.token("worker", kind=Kind.WORKER)
    by_caller["revoked"] = guarded.token("revoked", *grants_of(Role.ADMIN, "*"))
    by_caller["wrong"] = "tdg_wrong"
    guarded.principals.revoke("revoked", "test")
    guarded.token("last")
    for table in (OWN, FOREIGN):
        guarded.world.streams.create(table, 1)
        guarded.world.client.headers[WORKERS_HEADER] = by_caller["worker"]
        posted = guarded.ask("POST", SUPERVISORS, by_caller["everywhere"], _spec(table))
        assert posted.status_code == 200, posted.text
        by_caller[f"operation of {table}"] = posted.headers["tidegate-operation"]
    agent = guarded.world.agent("w1")
    agent.sync()
    for table in (OWN, FOREIGN):
        guarded.world.settle(table)
    agent.sync()
    assert {held.wanted.supervisor_id for held in agent.held.values()} == {OWN, FOREIGN}
    by_caller |= {held.wanted.supervisor_id: task_id for task_id, held in agent.held.items()}
    return by_caller


def _spec(table: str) -> dict[str, object]:
    document = spec_document(task_count=1, replicas=1, topic=table)
    section = document["spec"]
    assert isinstance(section, dict)
    section["dataSchema"] = section["dataSchema"] | {"dataSource": table}
    return document


def _path(route: APIRoute, table: str, tokens: dict[str, str]) -> str:
    given = {
        "supervisor_id": table,
        "data_source": table,
        "container": f"supervisor:{table}",
        "name": "task-output",
        "task_id": tokens[table],
        "compaction": "no-such-compaction",
        "operation": tokens[f"operation of {table}"],
        "host": "w1",
    }
    path = re.sub(r"{(\w+)}", lambda found: given.get(found[1], "1"), route.path_format)
    endless = route.path.endswith("/stream")  # behind the last event: refused, and so it ends
    return f"{path}?after={2**63 - 1}" if endless else path


@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_nobody_gets_past_a_route_without_what_it_needs(
    guarded: Guarded, tokens: dict[str, str], method: str, route: APIRoute
) -> None:
    """Goal: what is not allowed is answered with 401, 403 or 404, and never carried out."""
    wanted = needs_of(route)
    for caller in ("nobody", "revoked", "wrong"):
        answer = guarded.ask(method, _path(route, OWN, tokens), tokens.get(caller))
        if wanted.permission is not Permission.OPEN:
            assert answer.status_code in {401, 429}, (caller, answer.text)
            assert "www-authenticate" in answer.headers or "retry-after" in answer.headers
        elif caller == "nobody" and route.path not in (*LOGIN, *HOOKS):
            assert answer.status_code == 200
    for caller in ("viewer", "operator", "admin", "worker"):
        for table in (OWN, FOREIGN):
            if not _may(caller, wanted, table):
                answer = guarded.ask(method, _path(route, table, tokens), tokens[caller])
                assert answer.status_code in {401, 403, 404}, (caller, table, answer.text)
                _check_kind(wanted, caller, table, answer.status_code)


def _may(caller: str, wanted: Needs, table: str) -> bool:
    """What the documentation promises, written down a second time."""
    if wanted.permission in UNSCOPED:
        return wanted.permission is Permission.OPEN or (
            (wanted.permission is Permission.WORK) == (caller == "worker")
        )
    if caller == "worker" or wanted.permission not in PERMISSIONS[Role(caller)]:
        return False
    if wanted.scope.tables is None:
        return True  # a list, or a spec: told apart below
    return wanted.scope.name != "cluster" and table == OWN


def _check_kind(wanted: Needs, caller: str, table: str, status: int) -> None:
    if (
        caller == "worker"
        or wanted.permission is Permission.WORK
        or wanted.scope.tables is None
        or wanted.scope.name == "cluster"
    ):
        assert status == 403
    elif table == FOREIGN:
        assert status == 404, "what may not be seen is not there"


@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_whoever_has_what_a_route_needs_reaches_it(
    guarded: Guarded, tokens: dict[str, str], method: str, route: APIRoute
) -> None:
    """Goal: a matrix of nothing but refusals would pass on an API that refuses everything."""
    wanted = needs_of(route)
    if wanted.permission is Permission.WORK or method != "GET":
        return  # workers' calls and changes have stories of their own
    for caller in ("viewer", "operator", "admin", "everywhere"):
        if caller == "everywhere" or _may(caller, wanted, OWN):
            answer = guarded.ask(method, _path(route, OWN, tokens), tokens[caller])
            assert answer.status_code not in {401, 403, 429}, (caller, answer.text)


def test_a_route_that_declares_nothing_keeps_the_overlord_from_starting() -> None:
    from supervisor.api.http.access import open_paths

    router = APIRouter()

    @router.get("/forgotten")
    def forgotten() -> None:
        """Declare nothing."""

    with pytest.raises(Undeclared, match="/forgotten declares no permission"):
        open_paths([*build_routes().routes, *router.routes])


def test_a_route_that_declares_two_is_refused() -> None:
    router = APIRouter()
    twice = [needs(Permission.OPEN), needs(Permission.READ)]

    @router.get("/twice", dependencies=twice)
    def both() -> None:
        """Declare too much."""

    (route,) = router.routes
    assert isinstance(route, APIRoute)
    with pytest.raises(Undeclared, match="several"):
        needs_of(route)


def test_nothing_but_the_health_is_open_and_only_workers_calls_are_work() -> None:
    permissions = [
        (route.path, needs_of(route).permission) for route in api_routes(build_routes().routes)
    ]
    assert [path for path, permission in permissions if permission is Permission.OPEN] == [
        *HOOKS,
        *LOGIN,
        "/status/health",
    ]
    for path, permission in permissions:
        assert (permission is Permission.WORK) == path.startswith("/internal/v1/")


def test_every_change_needs_more_than_reading() -> None:
    """Goal: a POST that was declared as a read by mistake."""
    for route in api_routes(build_routes().routes):
        asks = (route.methods or set()) <= {"GET", "HEAD"} or route.path in READS_BY_POST
        if not asks and route.path not in (*LOGIN, *OWN_SESSION, *HOOKS):
            assert needs_of(route).permission not in {
                Permission.READ,
                Permission.OPEN,
                Permission.SIGNED_IN,
            }, route.path


def test_the_description_tells_what_each_route_needs() -> None:
    paths = description()["paths"]
    operation = paths[f"{SUPERVISORS}/{{supervisor_id}}/terminate"]["post"]
    assert operation["x-tidegate-permission"] == {"permission": "terminate", "on": "supervisor"}
    assert operation["security"] == [
        {"bearer": []},
        {"basic": []},
        {"session": [], "console": []},
    ]
    assert paths["/status/health"]["get"]["security"] == []
    sync = paths["/internal/v1/workers/{worker}/sync"]["post"]
    assert sync["security"] == [{"worker": []}]


def test_lists_show_what_the_caller_may_read_and_nothing_else(
    guarded: Guarded, tokens: dict[str, str]
) -> None:
    lists = [
        SUPERVISORS,
        f"{SUPERVISORS}?full=true",
        f"{SUPERVISORS}/history",
        "/api/v1/datasources",
        "/druid/indexer/v1/tasks",
        "/api/v1/tasks",
        "/druid/indexer/v1/pendingTasks",
        "/druid/indexer/v1/workers",
        "/api/v1/events",
        "/api/v1/operations",
    ]
    for path in lists:
        shown = {
            caller: guarded.ask("GET", path, tokens[caller]).text
            for caller in ("viewer", "everywhere")
        }
        assert OWN in shown["viewer"], path
        assert FOREIGN not in shown["viewer"], path
        assert FOREIGN in shown["everywhere"], path


def test_a_hidden_supervisor_is_answered_as_one_that_is_not_there(
    guarded: Guarded, tokens: dict[str, str]
) -> None:
    for verb in ("", "/status", "/history"):
        answers = [
            guarded.ask("GET", f"{SUPERVISORS}/{name}{verb}", tokens["viewer"])
            for name in (FOREIGN, "nowhere")
        ]
        texts = [answer.text.replace(FOREIGN, "nowhere") for answer in answers]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert texts[0] == texts[1]


def test_a_spec_needs_the_permission_on_its_table_and_on_the_one_before(
    guarded: Guarded, tokens: dict[str, str]
) -> None:
    """Goal: neither can a foreign table be written, nor a foreign supervisor be taken over."""
    moved = _spec(FOREIGN) | {"id": "moved"}
    assert guarded.ask("POST", SUPERVISORS, tokens["everywhere"], moved).status_code == 200
    taken = guarded.ask("POST", SUPERVISORS, tokens["operator"], _spec(OWN) | {"id": "moved"})
    assert FOREIGN not in taken.text, "an id tells nothing about a table that is not the caller's"
    for document in (_spec(FOREIGN), _spec("third"), _spec(OWN) | {"id": "moved"}):
        answer = guarded.ask("POST", SUPERVISORS, tokens["operator"], document)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/not-allowed")
    allowed = guarded.ask("POST", SUPERVISORS, tokens["operator"], _spec(OWN))
    assert allowed.status_code == 200, allowed.text
    read_only = guarded.ask("POST", SUPERVISORS, tokens["viewer"], _spec(OWN))
    assert read_only.status_code == 403


def test_a_sample_needs_what_applying_its_spec_needs(
    guarded: Guarded, tokens: dict[str, str]
) -> None:
    """Goal: who may write one table reads no topic by naming another one, or none."""
    path = "/druid/indexer/v1/sampler"
    nameless = _spec(OWN)
    section = nameless["spec"]
    assert isinstance(section, dict)
    del section["dataSchema"]["dataSource"]
    for document in (_spec(FOREIGN), nameless):
        body = {"type": "kafka", "spec": document, "samplerConfig": {"timeoutMs": 1}}
        assert guarded.ask("POST", path, tokens["operator"], body).status_code == 403
    body = {"type": "kafka", "spec": _spec(OWN), "samplerConfig": {"timeoutMs": 1}}
    assert guarded.ask("POST", path, tokens["viewer"], body).status_code == 403
    answer = guarded.ask("POST", path, tokens["operator"], body)
    assert answer.status_code != 403, answer.text


def test_a_grant_of_some_topics_lets_specs_read_no_others(
    guarded: Guarded, tokens: dict[str, str]
) -> None:
    limited = guarded.token("limited", *grants_of(Role.OPERATOR, "team-*", "team.*"))
    assert tokens
    validate = "/api/v1/supervisors/validate?connect=false"

    def spec(**source: str | None) -> dict[str, object]:
        document = spec_document(task_count=1, replicas=1, **source)
        section = document["spec"]
        assert isinstance(section, dict)
        section["dataSchema"]["dataSource"] = "team-a"
        return document

    for path in (validate, f"{SUPERVISORS}?dryRun=true"):
        assert guarded.ask("POST", path, limited, spec(topic="team.a")).status_code == 200
        refused = guarded.ask("POST", path, limited, spec(topic="payments"))
        assert (refused.status_code, "payments" in refused.text) == (403, True)
        by_pattern = spec(topic=None, topicPattern=r"team\..*")
        assert guarded.ask("POST", path, limited, by_pattern).status_code == 403


def test_the_page_tells_which_role_may_do_what() -> None:
    rows = columns(text_of("docs/reference/api.md"), "Roles")
    first = {
        permission.value: role.value for role in reversed(Role) for permission in PERMISSIONS[role]
    }
    assert {permission: role for permission, role, _ in rows} == first


def test_what_is_for_all_tables_needs_a_grant_on_all(
    guarded: Guarded, tokens: dict[str, str]
) -> None:
    for path in (
        f"{SUPERVISORS}/suspendAll",
        f"{SUPERVISORS}/terminateAll",
        "/druid/indexer/v1/worker/w1/disable",
    ):
        assert guarded.ask("POST", path, tokens["admin"]).status_code == 403, path
    assert guarded.ask("GET", SUPERVISORS, tokens["everywhere"]).text.count(OWN) == 1


def test_dry_runs_and_rollbacks_are_judged_like_the_spec(
    guarded: Guarded, tokens: dict[str, str]
) -> None:
    """Goal: neither tells of a table, nor puts one in force, that the caller may not change."""
    validate = "/api/v1/supervisors/validate?connect=false"
    for path in (f"{SUPERVISORS}?dryRun=true", validate):
        assert guarded.ask("POST", path, tokens["operator"], _spec(OWN)).status_code == 200
        assert guarded.ask("POST", path, tokens["operator"], _spec(FOREIGN)).status_code == 403
        assert guarded.ask("POST", path, tokens["viewer"], _spec(OWN)).status_code == 403
    wandered = _spec(FOREIGN) | {"id": "wandered"}
    assert guarded.ask("POST", SUPERVISORS, tokens["everywhere"], wandered).status_code == 200
    for verb in ("suspend", "terminate"):
        path = f"{SUPERVISORS}/wandered/{verb}"
        assert guarded.ask("POST", path, tokens["everywhere"]).status_code == 200
    own = _spec(OWN) | {"id": "wandered"}
    assert guarded.ask("POST", SUPERVISORS, tokens["everywhere"], own).status_code == 200
    back = "/api/v1/supervisors/wandered/rollback"
    for path in (back, f"{back}?dryRun=true"):
        answer = guarded.ask("POST", path, tokens["operator"], {"version": 1})
        assert answer.status_code == 403, answer.text
    past = "/api/v1/supervisors/wandered/generations"
    assert guarded.ask("GET", past, tokens["operator"]).status_code == 404
    events = guarded.ask("GET", "/api/v1/events?limit=1000", tokens["operator"]).json()["events"]
    assert {event["supervisorId"] for event in events} == {OWN}


def test_statuses_of_foreign_tasks_are_left_out(guarded: Guarded, tokens: dict[str, str]) -> None:
    path, both = "/druid/indexer/v1/taskStatus", [tokens[OWN], tokens[FOREIGN]]
    assert set(guarded.ask("POST", path, tokens["viewer"], both).json()) == {tokens[OWN]}
    assert set(guarded.ask("POST", path, tokens["everywhere"], both).json()) == set(both)


def test_a_key_belongs_to_who_was_proved(guarded: Guarded, tokens: dict[str, str]) -> None:
    """Goal: a new token, or another comment, is the same caller; another principal is not."""

    def ask(token: str, author: str) -> str | None:
        headers = {"Idempotency-Key": "one", "X-Druid-Author": author} | bearer(token)
        answer = guarded.world.client.post(SUPERVISORS, json=_spec(OWN), headers=headers)
        assert answer.status_code == 200, answer.text
        replayed: str | None = answer.headers.get("idempotency-replayed")
        return replayed

    assert ask(tokens["operator"], "a") is None
    assert ask(tokens["operator"], "b") == "true"
    assert ask(tokens["admin"], "a") is None
