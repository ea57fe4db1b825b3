"""A password that is changed while it is in use: no task fails, and nothing ever shows either.

What fails on purpose is a second supervisor's: its password is wrong for a while, then its topic
is gone.  A persister stores the logs and reports of all this, and sets aside what it cannot read.

Slow: tasks with Spark read on while passwords change.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import AdminClient
from pydantic import JsonValue

from tasks.contract.masking import forms_of
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, record, spec
from tests.integration.reports.persisters import PersisterProcess
from tests.security.answers import all_answers
from tests.security.brokers import PASSWORD, USER, SecuredBroker
from tests.security.stored import DEAD, TOPICS, Shelf
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

SAMPLER = "/druid/indexer/v1/sampler"
KEPT, FAILING = "rotated-canary", "failing-canary"
SECRETS = {KEPT: "TIDEGATE_SECRET_KEPT", FAILING: "TIDEGATE_SECRET_FAILING"}
NEW = 'canary-51d8 "newer\\ word'
WRONG = 'canary-90ab "never\\ right'
RECORDS = 1_000
_BAD, _TYPED = "broken: no record", "whoever reads this knows"
WITHIN_S = HANGS_AFTER_S
_ADMIN_S = 30


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[SecuredBroker]:
    """A broker of our own: its user's password changes."""
    broker = SecuredBroker(tmp_path / "guarded")
    broker.start()
    try:
        broker.set_password(PASSWORD)
        for topic in SECRETS:
            create_topic(broker.bootstrap, topic, partitions=2)
            produce(broker.bootstrap, topic, (record(n) for n in range(RECORDS)))
            produce(broker.bootstrap, topic, [_BAD])
        yield broker
    finally:
        broker.stop()


@dataclass(frozen=True)
class Site:
    """A cluster whose processes read passwords from files, its broker, and what is stored."""

    broker: SecuredBroker
    cluster: Cluster
    passwords: Path
    shelf: Shelf

    def keep(self, topic: str, password: str) -> None:
        """Write the password of a supervisor to its file."""
        (self.passwords / topic).write_text(password)

    def spec(self, topic: str) -> dict[str, JsonValue]:
        """Return the spec of a supervisor, whose ranges stay open for as long as the test."""
        document = spec(self.broker.bootstrap, topic, task_count=1, task_duration="PT1H")
        sections = document["spec"]
        assert isinstance(sections, dict)
        io = sections["ioConfig"]
        assert isinstance(io, dict)
        variables: dict[str, JsonValue] = {"sasl.password": SECRETS[topic]}
        sections["tuningConfig"] = {
            "type": "kafka",
            "logParseExceptions": True,
            "maxSavedParseExceptions": 5,
        }
        io["consumerProperties"] = {
            "bootstrap.servers": self.broker.address("AUTH"),
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.username": USER,
            "druid.dynamic.config.provider": {"type": "environment", "variables": variables},
        }
        return document

    def sample(self, topic: str, timeout_ms: int) -> httpx.Response:
        """Ask for some records."""
        config: dict[str, JsonValue] = {"numRows": 20, "timeoutMs": timeout_ms}
        body = {"type": "kafka", "spec": self.spec(topic), "samplerConfig": config}
        return httpx.post(f"{self.cluster.url}{SAMPLER}", json=body, timeout=70)

    def await_read(self, topic: str) -> None:
        """Wait until all that the topic has is journaled."""
        ends = ends_of(self.broker.bootstrap, topic)
        wait_until(lambda: self.cluster.has_read(topic, ends), within_s=WITHIN_S)


def test_no_password_is_shown_and_no_task_fails_when_it_changes(
    guarded: SecuredBroker, tmp_path: Path
) -> None:
    """Goal: old, new and wrong ones, searched in all that is answered, stored or logged."""
    passwords = tmp_path / "passwords"
    passwords.mkdir()
    files = {f"{name}_FILE": str(passwords / topic) for topic, name in SECRETS.items()}
    shelf = Shelf(tmp_path / "stored", guarded.bootstrap)
    more = files | {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"} | shelf.env
    site = Site(guarded, Cluster(tmp_path / "cluster", more=more), passwords, shelf)
    with shelf.persister(site.cluster.warehouse) as persister:
        more["TIDEGATE_REPORTS_PERSISTER"] = str(persister.http.base_url)
        with running(site.cluster):
            samples, shown = _live_through(site)
            _set_aside(site, persister)
            wait_until(lambda: _is_stored(site, persister), within_s=WITHIN_S)
            shown |= all_answers(site.cluster, tuple(SECRETS))
            states = {str(task["statusCode"]) for task in site.cluster.tasks(KEPT)}
            in_table = ids_in_files(site.cluster.files(KEPT))
    shown |= {f"sample {n}": answer.content for n, answer in enumerate(samples)}
    shown |= shelf.topics() | shelf.stored(site.cluster.warehouse)
    shown |= _rows(site.cluster.folder / "metadata.db")
    for folder in (site.cluster.folder, shelf.folder):
        shown |= {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    assert [answer.status_code for answer in samples] == [httpx.codes.OK] * len(samples)
    assert states == {"SUCCESS"}
    assert in_table == ids_in_topic(guarded.bootstrap, KEPT)
    assert _showing(SECRETS[FAILING], shown), "what is searched for would not be found"
    _assert_searched_whole(shown)
    for part in ("spark.log", "task-logs", "overlord", "GET /druid", "table tasks", "journal"):
        assert any(part in name for name in shown), f"{part} was not searched"
    for secret in (PASSWORD, NEW, WRONG):
        canary = secret.split()[0]
        assert [
            name for form in (canary, *forms_of(secret)) for name in _showing(form, shown)
        ] == []


def _live_through(site: Site) -> tuple[list[httpx.Response], dict[str, bytes]]:
    """Read, change one password and fail by the other; return samples, and what was said then."""
    for topic in SECRETS:
        site.keep(topic, PASSWORD)
        site.cluster.apply(site.spec(topic))
    for topic in SECRETS:
        site.await_read(topic)
    before = _tasks(site, KEPT)
    samples = [site.sample(KEPT, 50_000)]
    _rotate(site)
    samples += _samples(site)
    shown = _fail(site)
    assert _tasks(site, KEPT) == before, "a task was replaced"
    # A reason is typed by people, into audit log, events and the archive of both.
    why = {"reason": f"{_TYPED} {NEW}"}
    suspend = f"{SUPERVISORS}/{KEPT}/suspend"
    site.cluster.http.post(suspend, params=why).raise_for_status()
    wait_until(lambda: site.cluster.is_suspended_and_quiet(KEPT), within_s=WITHIN_S)
    return samples, shown


def _set_aside(site: Site, persister: PersisterProcess) -> None:
    """Have the persister set aside what it cannot read, as of a worker of a newer release."""
    newer = site.shelf.of_a_newer_worker()
    assert newer
    produce(site.broker.bootstrap, TOPICS[0], newer)
    wait_until(lambda: _letters(persister) == len(newer), within_s=WITHIN_S)


def _letters(persister: PersisterProcess) -> int:
    answer = persister.http.get("/status").raise_for_status()
    return int(answer.json()["deadLetters"] or 0)


def _is_stored(site: Site, persister: PersisterProcess) -> bool:
    """Whether nothing waits, and the words about a wrong password have arrived in the archive."""
    stored = site.shelf.stored(site.cluster.warehouse)
    kinds = {kind: _of(stored, f"stored {kind}") for kind in ("event", "audit", "task_result")}
    return (
        persister.lag() == 0
        and bool(kinds["task_result"])
        and bool(_showing("uthentication", kinds["event"]))
        and bool(_showing(_TYPED, kinds["audit"]))
    )


def _of(shown: Mapping[str, bytes], place: str) -> dict[str, bytes]:
    return {name: text for name, text in shown.items() if name.startswith(place)}


def _assert_searched_whole(shown: Mapping[str, bytes]) -> None:
    """Fail unless each place has what stands beside the secrets: it would have them as well."""
    for place, words in {
        "stored event": "uthentication",
        "stored audit": _TYPED,
        "stored task_report": _BAD,
        "stored log of": "uthentication",
        f"topic {TOPICS[0]}": "uthentication",
        f"topic {TOPICS[1]}": _TYPED,
        f"topic {DEAD}": "uthentication",
        "GET /api/v1/audit": _TYPED,
        "GET /api/v1/dead-letters": "unknown version",
        "GET /api/v1/logs": "uthentication",
        "GET /api/v1/reports/": _BAD,
    }.items():
        texts = _of(shown, place)
        assert _showing(words, texts), f"{words} is not in any {place} of {len(texts)}"


def _tasks(site: Site, topic: str) -> list[str]:
    return sorted(str(task["id"]) for task in site.cluster.tasks(topic))


def _rotate(site: Site) -> None:
    """Change the password in mid-task: in Kafka, then in the file; then there are more records."""
    site.broker.set_password(NEW)
    site.keep(KEPT, NEW)
    produce(site.broker.bootstrap, KEPT, (record(n, "new") for n in range(RECORDS)))
    site.await_read(KEPT)


def _samples(site: Site) -> list[httpx.Response]:
    """Take samples one after the other, then at once, each with another time."""
    responses = [site.sample(KEPT, ms) for ms in (30_000, 20_431, 25_007)]
    with ThreadPoolExecutor(2) as pool:
        responses += pool.map(site.sample, (KEPT, KEPT), (40_000, 35_000))
    return responses


def _fail(site: Site) -> dict[str, bytes]:
    """Have a supervisor fail, and return what it says meanwhile."""
    cluster, shown = site.cluster, {}
    site.keep(FAILING, WRONG)
    wait_until(lambda: "uthentication" in _why(site), within_s=WITHIN_S)
    refused = site.sample(FAILING, 30_000)
    assert refused.status_code != httpx.codes.OK
    shown["a sample with a wrong password"] = refused.content
    shown["the state then"] = cluster.http.get(f"{SUPERVISORS}/{FAILING}/status").content
    site.keep(FAILING, NEW)
    admin = AdminClient({"bootstrap.servers": site.broker.bootstrap})
    for done in admin.delete_topics([FAILING]).values():
        done.result(_ADMIN_S)
    wait_until(lambda: "exist" in _why(site), within_s=WITHIN_S)
    return shown


def _why(site: Site) -> str:
    return str(site.cluster.status(FAILING)["why"])


def _rows(database: Path) -> dict[str, bytes]:
    """Return the rows of each table: a file may divide a text among its pages."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        rows = {
            f"table {name}": repr(connection.execute(f'SELECT * FROM "{name}"').fetchall()).encode()  # noqa: S608 -- its own names
            for (name,) in tables
        }
    connection.close()
    return rows


def _showing(what: str, shown: Mapping[str, bytes]) -> list[str]:
    return [name for name, text in shown.items() if what.encode() in text]
