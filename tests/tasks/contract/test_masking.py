"""Secrets in texts: masked by value in each form, and by the names beside them."""

import base64
import json
from datetime import timedelta
from urllib.parse import quote

import pytest

from tasks.contract.masking import MASK, forms_of, masked, pattern_of
from tasks.contract.messages import (
    CompactionReport,
    FailureCode,
    SyncRequest,
    TaskPhase,
    TaskReport,
)
from tasks.contract.sample import SampleAnswer
from tasks.ports import SchemasUnavailable, StreamTimeout, TaskError
from tasks.runtime.secrets import KnownSecrets, secret_text
from tests.security.leaks import BY_NAME, BY_VALUE, CANARY, REFERENCE, SECRET, VARIABLE

NAMED = [
    BY_NAME,
    f'kafka.sasl.jaas.config -> x.PlainLoginModule required password="{CANARY}, cut off her',
    f'kafka.sasl.jaas.config -> x.PlainLoginModule required password="{CANARY}\\',
    f"Map(kafka.sasl.jaas.config -> x required password={CANARY};, kafka.group.id -> g)",
    f"(kafka.sasl.jaas.config,x.PlainLoginModule required password={CANARY})",
    f'"required username=\\"a\\" password=\\"{CANARY}\\";"',
    f"sasl.password={CANARY}, x=1",
    f'{{"sasl.password": "{CANARY}"}}',
    f"ssl_key_password -> {CANARY}",
    f"(ssl.key.password,{CANARY})",
    f"ssl.keystore.key = -----BEGIN ENCRYPTED PRIVATE KEY----- {CANARY} cut off",
    f"-----BEGIN RSA PRIVATE KEY-----\\n{CANARY}\\n-----END RSA PRIVATE KEY-----",
    f"{VARIABLE}={CANARY} in the environment",
    f"Authorization: Bearer {CANARY}",
    f"postgresql://tidegate:{CANARY}@db:5432/x",
]


@pytest.mark.parametrize("text", NAMED, ids=range(len(NAMED)))
def test_a_name_marks_what_is_beside_it_as_a_secret(text: str) -> None:
    assert CANARY not in masked(text)
    assert MASK in masked(text)


INNOCENT = [
    "check sasl.username, the secret of sasl.password and the mechanism",
    "ssl.key.pem is locked: give ssl.key.password too",
    f"neither {VARIABLE} nor {VARIABLE}_FILE is set in this process's environment",
    "no answer from 127.0.0.1:9092 (Connection refused): check bootstrap.servers, that the broker",
    "http://overlord-1:8090: 503 nobody leads; http://overlord-2:8090/x: timed out @ 3 s",
    "org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_speaks_of_secrets_stays_as_it_is(text: str) -> None:
    assert masked(text) == text


KEY = (
    "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7\n-----END KEY-----"
)
IN_JAAS = SECRET.replace("\\", "\\\\").replace('"', '\\"')
WRITTEN = [
    SECRET,
    IN_JAAS,
    json.dumps(SECRET),
    json.dumps(IN_JAAS),
    repr(SECRET),
    quote(SECRET, safe=""),
    f"https://ann:{quote(SECRET)}@registry",
    base64.b64encode(SECRET.encode()).decode(),
]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_known_secret_is_found_in_each_form(written: str) -> None:
    known = KnownSecrets()
    known.learn(SECRET)

    assert "canary" not in known.hide(f"before <{written}> behind")
    assert base64.b64encode(SECRET.encode()).decode() not in known.hide(written)


@pytest.mark.parametrize("shift", ["\n", "\\n", "\n    ", "; ", "\r\n"])
def test_a_key_is_found_however_its_lines_are_broken(shift: str) -> None:
    known = KnownSecrets()
    known.learn(KEY)

    shown = known.hide(f"the key {shift.join(KEY.splitlines())}")

    assert "MIIEvQIBADANBgkqhkiG9w0BAQEF" not in shown
    assert "AASCBKcwggSjAgEAAoIBAQC7" not in shown


def test_a_short_secret_is_masked_as_a_word_and_the_shortest_by_their_names_alone() -> None:
    """Goal: a password of three letters does not make every text unreadable."""
    known = KnownSecrets()
    for secret in ("sun", "planet"):
        known.learn(secret)

    assert known.hide("planetary, a (planet) on sunday") == f"planetary, a ({MASK}) on sunday"
    assert known.hide("sasl.password=sun, x=1") == f"sasl.password={MASK}, x=1"
    assert forms_of("sun") == frozenset()
    assert pattern_of(()) is None


def test_former_secrets_are_masked_too_and_those_long_unread_are_forgotten() -> None:
    known = KnownSecrets(most=2)
    for secret in ("first-one", "second-one", "first-one", "third-one"):
        known.learn(secret)

    assert known.hide("first-one second-one third-one") == f"{MASK} second-one {MASK}"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has read the secret, and reads another by now."""
    for value in (SECRET, "rotated-since"):
        monkeypatch.setenv(VARIABLE, value)
        secret_text(REFERENCE)


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize("text", [BY_NAME, BY_VALUE])
def test_no_error_of_a_task_shows_a_secret(text: str) -> None:
    errors = (
        TaskError(FailureCode.READ_FAILED, text),
        StreamTimeout(text),
        SchemasUnavailable(text),
    )

    assert [error for error in errors if CANARY in str(error)] == []


def test_no_message_of_a_worker_shows_what_a_name_marks() -> None:
    """Goal: also where the other side is of a version that masks nothing, on either plane."""
    task = TaskReport(
        task_id="t",
        phase=TaskPhase.FAILED,
        order_term=1,
        order_sequence=1,
        position={},
        detail=BY_NAME,
        suspect=BY_NAME,
    )
    rewrite = CompactionReport(compaction_id="c", failure=FailureCode.READ_FAILED, detail=BY_NAME)
    sync = SyncRequest(
        worker_id="w",
        incarnation=1,
        previous_end=BY_NAME,
        sequence=1,
        url="http://w",
        slots=1,
        tasks=(task,),
        compactions=(rewrite,),
        wait=timedelta(0),
    )
    sample = SampleAnswer(sample_id="s", failure=BY_NAME)

    assert CANARY not in sync.to_json() + sample.to_json()


def test_a_masked_text_is_no_longer_than_it_was() -> None:
    """Goal: what the bound of a field let pass is not refused by the other plane."""
    detail = "password=a; " * 300

    report = CompactionReport(compaction_id="c", detail=detail)

    assert len(report.detail) <= len(detail)
    assert CompactionReport.from_json(report.to_json()) == report
