"""Flows on brokers that ask who one is and what one may: what is missing is said, with its command.

The rights are those of the pages, taken from there; what an error names is carried out as it is.

Slow: a broker with rights starts, and executors of their own processes.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AclOperation,
    ResourcePatternType,
    ResourceType,
)

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.kafka.kept import KeptTopics
from supervisor.adapters.executions.kafka.members import GroupMember
from supervisor.adapters.executions.kafka.preparing import look_at_topics, prepare_topics
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.app.brokers import execution_brokers
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.ports.flows.execution_log import LogRefuses, LogTopic
from supervisor.settings.settings import Settings
from tests.environment.brokers import create_topic
from tests.environment.executions import executions_sqlite_url, migrated_executions_file
from tests.integration.executors.processes import ExecutorProcess, Executors
from tests.integration.overlords import Overlord, Overlords
from tests.security.acls import commands_in, grant
from tests.security.brokers import PASSWORD, USER, Resource, StrictBroker
from tests.waiting import wait_until

__all__ = ["executions_sqlite_url", "migrated_executions_file"]
pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

SECRET = "TIDEGATE_SECRET_EXECUTIONS"
CANARY = b"canary-7c1f"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "execution-topics.md"
PLAN = FlowPlan("f", 1, (Step("a", CallWork("noop")),))
_NUMBERS = itertools.count(1)
_PREFIXED, _LITERAL = ResourcePatternType.PREFIXED, ResourcePatternType.LITERAL


@dataclass(frozen=True)
class Site:
    """A broker, a file that logs in there, and names that no other test has."""

    broker: StrictBroker
    file: Path
    prefix: str

    @property
    def topics(self) -> ExecutionTopics:
        return ExecutionTopics(self.prefix)

    @property
    def env(self) -> dict[str, str]:
        """The settings of all processes."""
        return {
            "TIDEGATE_EXECUTIONS_KAFKA": str(self.file),
            "TIDEGATE_EXECUTIONS_PREFIX": self.prefix,
            SECRET: PASSWORD,
        }

    def commands_of_page(self) -> Sequence[str]:
        """Return the commands that the page has, for the names here."""
        own = PAGE.read_text().replace("tidegate.executions.", self.prefix)
        commands = commands_in(own)
        assert len(commands) == 3, commands
        return commands

    def of(self, kind: ResourceType, name: str = "", *, literal: bool = False) -> Resource:
        """Return a resource of these names."""
        return kind, f"{self.prefix}{name}", _LITERAL if literal else _PREFIXED


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrictBroker]:
    """A broker where only what is written may be done."""
    broker = StrictBroker(tmp_path_factory.mktemp("strict"))
    broker.start()
    try:
        broker.set_password(PASSWORD)
        yield broker
    finally:
        broker.stop()


@pytest.fixture
def site(strict: StrictBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A login over TLS that may do nothing yet."""
    monkeypatch.setenv(SECRET, PASSWORD)
    file = tmp_path / "client.properties"
    lines = (
        f"bootstrap.servers={strict.address('AUTHTLS')}",
        "security.protocol=SASL_SSL",
        "sasl.mechanism=SCRAM-SHA-512",
        f"sasl.username={USER}",
        f"sasl.password=${{env:{SECRET}}}",
        "ssl.ca.pem=" + strict.ca_pem.strip().replace("\n", "\\n"),
    )
    file.write_text("\n".join(lines))
    return Site(strict, file, f"strict.test{next(_NUMBERS)}.")


def _client(site: Site) -> dict[str, str]:
    client = execution_brokers(Settings(executions_kafka=str(site.file)))
    assert client is not None
    return client


MISSING = [
    ("history", AclOperation.READ, "READ on {}history is missing"),
    ("state", AclOperation.WRITE, "WRITE on {}state is missing"),
    ("results", AclOperation.DESCRIBE_CONFIGS, "DESCRIBE_CONFIGS on {}results is missing"),
    ("calls", AclOperation.WRITE, "WRITE on {}calls is missing"),
]
_ALL = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
)


@pytest.mark.parametrize(("name", "operation", "text"), MISSING)
def test_a_right_on_a_topic_is_named_with_the_command_that_gives_it(
    site: Site, executions_sqlite_url: str, name: str, operation: AclOperation, text: str
) -> None:
    for command in site.commands_of_page():
        grant(site.broker, command)
    with closing(ExecutionDatabase(executions_sqlite_url)) as database:
        kept = KeptTopics(database)
        prepare_topics(_client(site), site.topics, kept)
        site.broker.revoke(site.of(ResourceType.TOPIC))
        for of in site.topics.all:
            rights = [each for each in _ALL if (of, each) != (name, operation)]
            site.broker.allow(site.of(ResourceType.TOPIC, of, literal=True), *rights)

        refusal = _refused(site, kept, text.format(site.prefix))
        _, troubles = look_at_topics(_client(site), site.topics, kept.all())
        assert "; ".join(troubles) == refusal, "doctor says the same"

        [command] = commands_in(refusal)
        grant(site.broker, command)
        _goes_on(site, kept)


def test_a_topic_that_is_hidden_is_not_taken_for_one_that_is_gone(
    site: Site, executions_sqlite_url: str
) -> None:
    """Goal: nobody is sent to a backup, or makes a topic anew, where a right is missing."""
    for command in site.commands_of_page():
        grant(site.broker, command)
    with closing(ExecutionDatabase(executions_sqlite_url)) as database:
        kept = KeptTopics(database)
        prepare_topics(_client(site), site.topics, kept)
        site.broker.revoke(site.of(ResourceType.TOPIC))

        refusal = _refused(site, kept, f"DESCRIBE on {site.prefix}state is missing")
        assert "is gone" not in refusal
        assert "kafka-topics" not in refusal

        for command in site.commands_of_page():
            grant(site.broker, command)
        _goes_on(site, kept)


@pytest.mark.parametrize(
    ("kind", "operation", "text"),
    [
        (ResourceType.GROUP, AclOperation.ANY, "missing: READ on the groups {}*"),
        (
            ResourceType.TRANSACTIONAL_ID,
            AclOperation.ANY,
            "missing: WRITE, DESCRIBE on the transactional ids {}*",
        ),
        (
            ResourceType.TRANSACTIONAL_ID,
            AclOperation.WRITE,
            "missing: WRITE, DESCRIBE on the transactional ids {}*",
        ),
    ],
)
def test_a_right_on_the_group_and_on_transactional_ids_is_named(
    site: Site, executions_sqlite_url: str, kind: ResourceType, operation: AclOperation, text: str
) -> None:
    for command in site.commands_of_page():
        grant(site.broker, command)
    assert site.broker.revoke(site.of(kind), operation) > 0
    with closing(ExecutionDatabase(executions_sqlite_url)) as database:
        kept = KeptTopics(database)
        refusal = _refused(site, kept, text.format(site.prefix))
        [command] = commands_in(refusal)
        grant(site.broker, command)
        _goes_on(site, kept)


class Owned:
    """Partitions that are given, and begin nothing."""

    def __init__(self) -> None:
        self.mine: set[int] = set()

    def begin(self, partitions: Sequence[int]) -> None:
        """Keep them."""
        self.mine |= set(partitions)

    def leave(self, partitions: Sequence[int], within_s: float = 5.0) -> bool:  # noqa: ARG002
        """Give them up."""
        self.mine -= set(partitions)
        return True

    def positions(self) -> Mapping[int, int]:
        """Return nothing: nobody works."""
        return {}


def test_a_member_without_the_right_on_its_group_says_so_until_it_has_it(site: Site) -> None:
    """Goal: taken away while it runs, the command is in its `/ping`; given again, it is well."""
    for command in site.commands_of_page():
        grant(site.broker, command)
    create_topic(site.broker.bootstrap, site.topics.name(LogTopic.HISTORY), partitions=2)
    site.broker.revoke(site.of(ResourceType.GROUP))
    owned = Owned()
    member = GroupMember(_client(site), site.topics, owned, session_s=6)
    member.start()
    try:
        wait_until(lambda: "--group" in member.trouble)
        [command] = commands_in(member.trouble)
        grant(site.broker, command)
        wait_until(lambda: owned.mine == {0, 1} and member.trouble == "")
        site.broker.revoke(site.of(ResourceType.GROUP))
        wait_until(lambda: "--group" in member.trouble)
        grant(site.broker, command)
        wait_until(lambda: owned.mine == {0, 1} and member.trouble == "")
    finally:
        member.stop()


def _refused(site: Site, kept: KeptTopics, text: str) -> str:
    """Return what is refused; rights reach the broker some moments after they are changed."""
    refusals: list[str] = []

    def is_refused() -> bool:
        try:
            prepare_topics(_client(site), site.topics, kept)
        except LogRefuses as refused:
            refusals.append(str(refused))
        return bool(refusals) and text in refusals[-1]

    wait_until(is_refused)
    assert PASSWORD not in refusals[-1]
    assert f"User:{USER}" in refusals[-1]
    return refusals[-1]


def _goes_on(site: Site, kept: KeptTopics) -> None:
    def is_prepared() -> bool:
        try:
            prepare_topics(_client(site), site.topics, kept)
        except LogRefuses:
            return False
        return True

    wait_until(is_prepared)


def _end_of(process: ExecutorProcess) -> str:
    """Wait for a process's end, and return what it has logged."""
    wait_until(lambda: process.child.exit_code() is not None)
    assert process.child.exit_code() != 0
    return process.child.log.read_text()


def test_flows_run_with_the_rights_of_the_page_and_say_what_is_missing_without(
    site: Site, tmp_path: Path
) -> None:
    """Goal: no right at all, then what errors name, one after the other; the overlord runs on."""
    env = site.env | {"TIDEGATE_EXECUTIONS_URL": f"sqlite:///{tmp_path}/executions.db"}
    executors = Executors(tmp_path, site.broker.bootstrap, env, site.prefix)
    overlords = Overlords(tmp_path, f"sqlite:///{tmp_path}/metadata.db", env)
    with overlords, executors:
        leader = overlords.start_leader()
        flow = {"flow": "still", "steps": [{"name": "one", "type": "noop"}]}
        assert leader.http.post("/api/v1/flows", json=flow).is_success
        started = leader.http.post("/api/v1/flows/still/executions", json={"key": "one"})
        assert started.status_code == httpx.codes.ACCEPTED

        refused = _end_of(executors.spawn())
        assert f"{site.prefix}history" in refused
        assert "kafka-topics --create" in refused
        for command in site.commands_of_page():
            if "--topic" in command:
                grant(site.broker, command)
        refused = _end_of(executors.spawn())
        commands = commands_in(refused)
        assert any("--group" in each for each in commands), refused
        assert any("--transactional-id" in each for each in commands), refused
        assert leader.http.get("/status/health").is_success, "the rest runs on"

        for command in commands:
            grant(site.broker, command)
        one = executors.start()
        wait_until(lambda: _state(leader, "still:one") == "SUCCESS")
        assert leader.http.get("/api/v1/executor").is_success
        assert leader.http.get("/api/v1/executor/dead").is_success

        site.broker.revoke(site.of(ResourceType.TRANSACTIONAL_ID))
        executors.begin(PLAN, ["by-a-test"])
        started = leader.http.post("/api/v1/flows/still/executions", json={"key": "two"})
        assert started.status_code == httpx.codes.ACCEPTED
        wait_until(lambda: "--transactional-id" in _reason(one))
        wait_until(lambda: "--transactional-id" in leader.log())
        for command in site.commands_of_page():
            grant(site.broker, command)
        wait_until(lambda: _state(leader, "still:two") == "SUCCESS")
        wait_until(one.well)
        answers = {path: one.http.get(path).content for path in ("/ping", "/status", "/metrics")}
    shown = {str(each): each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    assert any("metadata.db" in name for name in shown)
    assert [name for name, text in (shown | answers).items() if CANARY in text] == []


def _state(leader: Overlord, execution: str) -> str:
    answer = leader.http.get(f"/api/v1/executions/{execution}")
    return str(answer.json().get("state"))


def _reason(one: ExecutorProcess) -> str:
    return str(one.http.get("/ping").json().get("reason", ""))
