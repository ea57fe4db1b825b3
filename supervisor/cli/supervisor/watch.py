"""`tidegate supervisor explain` and `watch`: the reasons of a state, and the event stream."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import httpx
import typer

from supervisor.cli.shell.client import Client, Params, path_of, problem_of
from supervisor.cli.shell.completion import complete_ids
from supervisor.cli.shell.form import Format
from supervisor.cli.shell.options import Output, Server, SupervisorId, connect
from supervisor.cli.shell.output import print_notice, show_json, show_name, show_text
from supervisor.views.attention.explain import Explanation
from supervisor.views.history import EventsPage

API = "/api/v1/supervisors"
EVENTS = "/api/v1/events"
STREAM = f"{EVENTS}/stream"
_SILENT_S = 45.0
"""Three heartbeats: a connection that is silent for longer is dead."""
_PAUSE_FIRST_S, _PAUSE_S = 0.5, 5.0
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        show_default="all",
        help="Of this type alone, such as state-changed. May be repeated.",
    ),
]


def explain(
    supervisor_id: SupervisorId, server: Server = None, output: Output = Format.TABLE
) -> None:
    """Explain the state of a supervisor: why it is so, what it waits for, and what comes next.

    Example: tidegate supervisor explain clicks
    """
    with connect(server) as client:
        answer = client.get(path_of(API, supervisor_id, "explain"))
    if output is Format.JSON:
        show_json(answer.json())
        return
    show_name(supervisor_id)
    explanation = answer.read(Explanation)
    for sentence in explanation.sentences:
        since = sentence.since
        show_text(sentence.text + (f" (since {since:%Y-%m-%d %H:%M:%S %Z})" if since else ""))
    for remedy in explanation.remedies:
        if remedy.command is not None:
            show_text(f"{remedy.label}: {remedy.command}")


def watch(
    supervisor_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Of this supervisor alone.",
            show_default="of all",
            autocompletion=complete_ids,
        ),
    ] = None,
    *,
    after: Annotated[
        int | None,
        typer.Option(
            "--after",
            metavar="EVENT",
            min=0,
            help="Begin behind the event of this id; 0: with all that are kept.",
            show_default="with what happens from now on",
        ),
    ] = None,
    kinds: Types = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            metavar="N",
            min=1,
            help="End after so many.",
            show_default="goes on until Ctrl-C",
        ),
    ] = None,
    server: Server = None,
    output: Output = Format.TABLE,
) -> None:
    """Print what happens as it happens, until Ctrl-C; a lost connection is made again.

    Example: tidegate supervisor watch clicks --limit 10
    """
    wanted = EventsWanted(supervisor_id, tuple(kinds or ()))
    with connect(server) as client:
        for number, event in enumerate(_events(client, wanted, after), 1):
            if output is Format.JSON:
                typer.echo(json.dumps(event, ensure_ascii=False))
            else:
                show_text(_line(event))
            if number == count:
                return


@dataclass(frozen=True)
class EventsWanted:
    """The events that somebody wants to see."""

    supervisor_id: str | None
    kinds: tuple[str, ...]

    def params(self) -> dict[str, str | Sequence[str]]:
        """Return the query parameters; what is not narrowed is left out."""
        params: dict[str, str | Sequence[str]] = {}
        if self.supervisor_id is not None:
            params["supervisor"] = self.supervisor_id
        return params | ({"type": self.kinds} if self.kinds else {})


def _events(client: Client, wanted: EventsWanted, after: int | None) -> Iterator[dict[str, object]]:
    """Yield events for ever; after a lost connection the next one goes on behind the last event.

    Raises:
        Unreachable: no overlord answers at first.
        ProblemAnswer: an overlord refuses.
    """
    params, supervisor_id = wanted.params(), wanted.supervisor_id
    alone = {} if supervisor_id is None else {"supervisor": supervisor_id}
    # The start is known before the first event, so no event is missed if the connection is lost.
    known = client.get(EVENTS, {**alone, "limit": "1"}).read(EventsPage)
    if supervisor_id is not None and not known.events:
        print_notice(
            f"nothing is known of [{supervisor_id}]; `tidegate supervisor list` shows the ids"
        )
    last, pause = known.newest if after is None else after, _PAUSE_FIRST_S
    while True:
        for url in client.servers:
            try:
                for found in _stream(client, url, {**params, "after": str(last)}):
                    last, pause = int(found[0]), _PAUSE_FIRST_S
                    yield found[1]
            except httpx.ConnectError:
                print_notice(f"{url} cannot be reached; trying again")
            except httpx.HTTPError:
                print_notice(f"the connection to {url} was lost; going on")
        time.sleep(pause)
        pause = min(pause * 2, _PAUSE_S)


def _stream(client: Client, url: str, params: Params) -> Iterator[tuple[str, dict[str, object]]]:
    with client.stream(f"{url}{STREAM}", params, _SILENT_S) as answer:
        if answer.is_client_error:
            answer.read()
            raise problem_of(answer, url)
        answer.raise_for_status()
        number = kind = ""
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                number = value
            elif name == "event":
                kind = value
            elif name == "data" and number:
                yield number, {"id": int(number), "type": kind} | json.loads(value)


def _line(event: dict[str, object]) -> str:
    if event["type"] == "trimmed":
        return f"events {event['from']} to {event['to']} are gone: look at status and lists again"
    at = str(event.get("at", ""))[:19].replace("T", " ")
    group = "" if event.get("group") is None else f" group {event['group']}"
    detail = event.get("detail")
    members = detail.items() if isinstance(detail, dict) else ()
    detail_text = "  ".join(f"{name}={short_value(value)}" for name, value in members)
    task = f" {event['taskId']}" if event.get("taskId") else ""
    return (
        f"{at}  {event.get('supervisorId')}{group}  {event['type']}{task}  {detail_text}".rstrip()
    )


def short_value(value: object) -> str:
    """Return a member of an event's detail on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
