"""`tidegate doctor` about stored reports: store, topics, rights, limits, persisters, clocks."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # no __all__

from supervisor.adapters.kafka.report_topic_checks import TopicFacts, look_at_topics
from supervisor.adapters.reports.database import migrate_reports
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.cluster.doctor.reports import check_reports, topic_check
from supervisor.dev.broker import Broker
from supervisor.settings.settings import Settings, load_settings
from tests.supervisor.cli.cluster.test_reports import STATUS
from tests.supervisor.cli.overlord import Overlord, Reply


def _checks(settings: Settings) -> dict[str, InstallationCheck]:
    return {each.part: each for each in check_reports(settings)}


def _settings(monkeypatch: pytest.MonkeyPatch, folder: Path, **given: str) -> Settings:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TIDEGATE_REPORTS_URL", f"sqlite:///{folder}/reports.db")
    for name, value in given.items():
        monkeypatch.setenv(f"TIDEGATE_REPORTS_{name}", value)
    return load_settings()


def test_nothing_is_checked_where_nothing_is_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _checks(load_settings()) == {}


def test_a_store_without_its_schema_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = _settings(monkeypatch, tmp_path)
    missing = _checks(settings)["store of reports"]
    migrate_reports(f"sqlite:///{tmp_path}/reports.db")

    assert (missing.result, missing.fix) == (Result.PROBLEM, "start it: tidegate persister")
    assert _checks(settings)["store of reports"].result is Result.OK


@pytest.mark.parametrize(
    ("answer", "result", "words"),
    [
        ({}, Result.OK, "clock agrees"),
        ({"state": "STOPPED", "reason": "no right"}, Result.PROBLEM, "STOPPED: no right"),
        ({"now": datetime.now(UTC) - timedelta(hours=1)}, Result.PROBLEM, "clock differs"),
    ],
    ids=["well", "stopped", "an hour behind"],
)
def test_a_persister_is_asked_for_its_state_and_its_clock(
    server: Overlord,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    answer: dict[str, object],
    result: Result,
    words: str,
) -> None:
    now = answer.get("now", datetime.now(UTC))
    body = STATUS | answer | {"now": str(now).replace(" ", "T")}
    server.on("GET", "/status", Reply(body))
    settings = _settings(monkeypatch, tmp_path, PERSISTER=server.url)

    checked = _checks(settings)[f"persister {server.url}"]

    assert checked.result is result
    assert words in checked.finding


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (TopicFacts("t", exists=False), "not there"),
        (TopicFacts("t", True, frozenset({"READ", "DESCRIBE"}), 10_000_000), "right to WRITE"),
        (TopicFacts("t", True, None, 1_000_000), "takes 1000000 bytes"),
        (TopicFacts("a.activations", True, None, 10_000_000), "a record has up to 10551296"),
    ],
    ids=["missing", "no right", "too small", "too small for whole records"],
)
def test_a_topic_that_loses_records_is_a_problem(facts: TopicFacts, words: str) -> None:
    checked = topic_check(facts)
    assert checked.result is Result.PROBLEM
    assert words in checked.finding
    assert checked.fix


@pytest.mark.kafka
def test_topics_are_described_by_a_real_broker(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    small = NewTopic("doctor-small", 1, config={"max.message.bytes": "1000"})
    for each in admin.create_topics([small]).values():
        each.result(30.0)

    one, none = look_at_topics(
        {"bootstrap.servers": broker.bootstrap}, ["doctor-small", "doctor-none"]
    )

    assert (one.exists, one.bytes_max, none.exists) == (True, 1000, False)
    assert one.operations is not None
    assert {"READ", "WRITE", "DESCRIBE"} <= one.operations


def test_the_topic_of_whole_records_takes_no_larger_ones_than_it_needs() -> None:
    for name, size in (("activations", 11_000_000), ("completed.activations", 2_097_152)):
        assert topic_check(TopicFacts(name, True, None, size)).result is Result.OK


def test_a_file_of_a_login_that_cannot_be_used_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=kafka:9092\nsasl.password=canary\n")
    settings = _settings(monkeypatch, tmp_path, KAFKA=str(file))

    check = _checks(settings)[f"reports at {file}"]

    assert check.result is Result.PROBLEM
    assert "sasl.password" in check.finding
    assert "canary" not in f"{check.finding} {check.fix}".replace(str(tmp_path), "")
