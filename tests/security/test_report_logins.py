"""Reports by brokers that ask who one is: leader and persister log in by a file of properties.

Slow: a broker with passwords and a persister start.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.sql import SqlReports
from supervisor.app.archive import sender_in
from supervisor.app.brokers import report_brokers
from supervisor.app.report_facts import records_behind, topic_facts
from supervisor.cli.cluster.doctor.check import Result
from supervisor.cli.cluster.doctor.reports import topic_check
from supervisor.ports.store_problems import StoreAway
from supervisor.settings.settings import Settings
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tests.integration.reports.persisters import Persisters
from tests.security.brokers import PASSWORD, USER, SecuredBroker
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

SECRET = "TIDEGATE_SECRET_REPORTS"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """A broker that asks for passwords."""
    broker = SecuredBroker(tmp_path_factory.mktemp("guarded"))
    broker.start()
    broker.set_password(PASSWORD)
    yield broker
    broker.stop()


def _file(folder: Path, broker: SecuredBroker, listener: str, mechanism: str) -> Path:
    file = folder / "client.properties"
    over_tls = listener == "AUTHTLS"
    lines = [
        f"bootstrap.servers={broker.address(listener)}",
        f"security.protocol={'SASL_SSL' if over_tls else 'SASL_PLAINTEXT'}",
        f"sasl.mechanism={mechanism}",
        f"sasl.username={USER}",
        f"sasl.password=${{env:{SECRET}}}",
    ]
    if over_tls:
        lines.append("ssl.ca.pem=" + broker.ca_pem.strip().replace("\n", "\\n"))
    file.write_text("\n".join(lines))
    return file


def _record(subject: str) -> ReportRecord:
    kind = RecordType.TASK_RESULT
    return ReportRecord(
        type=kind,
        record_id=record_id_of(subject, 0, kind, 0),
        subject=subject,
        origin=RecordOrigin.EXECUTION,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        seq=0,
    )


@pytest.mark.parametrize(
    ("listener", "mechanism"), [("AUTH", "PLAIN"), ("AUTHTLS", "SCRAM-SHA-512")]
)
def test_what_is_sent_with_a_login_is_stored_with_it(
    guarded: SecuredBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listener: str,
    mechanism: str,
) -> None:
    monkeypatch.setenv(SECRET, PASSWORD)
    file = _file(tmp_path, guarded, listener, mechanism)
    prefix = f"report-logins-{mechanism.lower()}."
    settings = Settings(reports_kafka=str(file), reports_prefix=prefix, reports_mode="inline")
    env = {
        "TIDEGATE_REPORTS_KAFKA": str(file),
        "TIDEGATE_REPORTS_PREFIX": prefix,
        "TIDEGATE_REPORTS_MODE": "inline",
        SECRET: PASSWORD,
    }
    with Persisters(tmp_path, env) as persisters:
        persisters.start()
        sender = sender_in(settings, "test")
        assert sender is not None
        sender.send([_record("nightly:1")])
        sender.close()
        database = ReportDatabase(f"sqlite:///{tmp_path}/reports.db")
        store = SqlReports(database)
        wait_until(lambda: store.get(_record("nightly:1").record_id) is not None)
        database.close()
        client = report_brokers(settings)
        assert client is not None
        topics = topic_facts(settings, client)
        assert topics[-1].name == f"{prefix}activations"
        assert {topic_check(each).result for each in topics} == {Result.OK}
        wait_until(lambda: records_behind(settings, client) == 0)


def test_a_wrong_password_is_said_with_what_to_check(
    guarded: SecuredBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, "another-canary")
    file = _file(tmp_path, guarded, "AUTH", "SCRAM-SHA-256")
    sender = sender_in(Settings(reports_kafka=str(file)), "test")
    assert sender is not None

    with pytest.raises(StoreAway, match=r"sasl\.password") as problem:
        sender.send([_record("nightly:2")])

    sender.close()
    assert "another-canary" not in str(problem.value)
