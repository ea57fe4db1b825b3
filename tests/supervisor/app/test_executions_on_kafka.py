"""The wired overlord with topics of executions: it sends letters; executors do the rest."""

from collections.abc import Mapping
from contextlib import closing

import pytest

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.kafka.kept import KeptTopics
from supervisor.adapters.executions.kafka.preparing import prepare_topics
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.app.executions.calls import executions_url
from supervisor.app.overlord import Overlord, wire_overlord
from supervisor.chores.flows.executions import ExecutionTimes
from supervisor.core.executions.plan import ApproveWork, FlowPlan, Step
from supervisor.core.values.errors import ExecutionStoreUnavailable, InvalidFlow
from supervisor.core.values.permissions import Actor
from supervisor.dev.broker import Broker
from supervisor.executions.sequencer.letters import LETTER_FORM, ExecutionGiven, ExecutionStart
from supervisor.metadata.store import SqlStore
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.services.flows.executions import StartRequest
from supervisor.settings.settings import Settings
from tests.environment.execution_topics import TopicsOfTest
from tests.supervisor.app.test_app import database, running, settings
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.waiting import wait_until

__all__ = ["database", "settings"]

_ANN = Actor.named("ann", None)
_FLOW: Mapping[str, object] = {
    "flow": "f",
    "steps": [{"name": "ok", "type": "approve", "question": "go on?"}],
}


def _started(overlord: Overlord, key: str) -> str:
    executions = overlord.services.executions
    overlord.services.flows.apply(dict(_FLOW), _ANN)
    return executions.start(StartRequest("f", key=key), _ANN)[0].id


def test_it_makes_no_call_and_ticks_nothing_but_has_the_verbs(
    settings: Settings, database: SqlStore
) -> None:
    changed = settings.model_copy(update={"executions_kafka": "127.0.0.1:1"})
    overlord = wire_overlord(changed, database, "http://localhost:8090")

    assert (overlord.executions.runner, overlord.wiring.step_runner) == (None, None)
    [times] = [chore for _, chore, _ in overlord.duties if isinstance(chore, ExecutionTimes)]
    assert times.engine is None
    assert {"compact", "verify", "waitFor"} <= set(overlord.services.steps.verbs)


def test_hosts_of_calls_are_checked_where_the_overlord_makes_them(
    settings: Settings, database: SqlStore
) -> None:
    call = {"name": "tell", "type": "http", "url": "https://hooks.example/x"}
    document = {"flow": "f", "steps": [call]}
    for brokers, allow, refused in (
        (None, (), True),
        (None, ("Hooks.example",), False),
        ("127.0.0.1:1", (), False),
    ):
        changed = settings.model_copy(
            update={"executions_kafka": brokers, "http_allow": list(allow)}
        )
        flows = wire_overlord(changed, database, "http://localhost:8090").services.flows
        if refused:
            with pytest.raises(InvalidFlow, match=r"hooks\.example is not allowed"):
                flows.check(document)
        else:
            assert flows.check(document).flow == "f"


@pytest.mark.kafka
def test_what_is_started_waits_for_topics_and_then_is_on_them(
    settings: Settings, database: SqlStore, broker: Broker
) -> None:
    """Goal: nothing that was answered is lost while there are no topics yet."""
    topics = ExecutionTopics("tidegate.overlords.executions.")
    update = {"executions_kafka": broker.bootstrap, "executions_prefix": topics.prefix}
    changed = settings.model_copy(update=update)

    with running(changed, database) as overlord:
        relay = overlord.executions.relay
        assert relay is not None
        execution = _started(overlord, "one")
        wait_until(lambda: "start `tidegate executor`" in relay.trouble)
        overlord.services.executions.pause(execution, _ANN)
        assert overlord.services.executions.unsent_since(execution) is not None

        with closing(ExecutionDatabase(executions_url(changed))) as opened:
            client = {"bootstrap.servers": broker.bootstrap}
            prepare_topics(client, topics, KeptTopics(opened))
        wait_until(lambda: overlord.services.executions.unsent_since(execution) is None)

    with closing(TopicsOfTest(broker.bootstrap, topics)) as reader:
        letters = [LETTER_FORM.read(each.value or b"") for each in reader.read(LogTopic.HISTORY)]
    assert [type(each) for each in letters] == [ExecutionStart, ExecutionGiven]


def test_flows_do_not_run_while_executions_live_in_the_database_and_the_rest_does(
    settings: Settings, database: SqlStore
) -> None:
    url = executions_url(settings)
    migrate_executions(url)
    with closing(Stored(url)) as stored:
        stored.start(FlowPlan("asks", 1, (Step("ok", ApproveWork("go on?")),)), "asks:1")
    changed = settings.model_copy(update={"executions_kafka": "127.0.0.1:1"})

    with running(changed, database) as overlord:
        services = overlord.services
        with pytest.raises(ExecutionStoreUnavailable, match="1 execution lives in the database"):
            _started(overlord, "one")
        assert services.executions.get("asks:1").state == "RUNNING", "it can be read"
        watch = overlord.wiring.flow_watch
        assert watch is not None
        watch.run_once()
        last = watch.last()
        assert last is not None
        assert last.trouble.startswith("1 execution lives in the database")
