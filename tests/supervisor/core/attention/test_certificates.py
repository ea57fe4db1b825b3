"""The attention rule of the overlord's own certificate."""

from datetime import timedelta

import pytest

from supervisor.core.attention.certificates import (
    CERTIFICATE_NOTICE,
    EndingCertificate,
    certificate_items,
)
from supervisor.core.attention.items import AttentionKind, Severity
from supervisor.core.attention.remedies import RemedyAction
from tests.supervisor.core.snapshots import MINUTE, NOON

DAY = timedelta(days=1)
URL = "https://overlord-1:8090"


@pytest.mark.parametrize(
    ("left", "severity", "words"),
    [
        (14 * DAY, Severity.TO_KNOW, "ends"),
        (3 * DAY, Severity.TO_KNOW, "ends"),
        (2 * DAY, Severity.AT_RISK, "ends"),
        (MINUTE, Severity.AT_RISK, "ends"),
        (timedelta(0), Severity.BROKEN, "ended"),
        (-9 * DAY, Severity.BROKEN, "ended"),
    ],
)
def test_a_certificate_is_announced_two_weeks_before_it_ends(
    left: timedelta, severity: Severity, words: str
) -> None:
    ends = NOON + left

    [item] = certificate_items(EndingCertificate(URL, ends), NOON)

    assert (item.severity, item.kind) == (severity, AttentionKind.CERTIFICATE_ENDING)
    assert item.since == ends - CERTIFICATE_NOTICE, "the same whenever somebody looks"
    assert f"of the overlord {URL} {words} at {ends:%Y-%m-%d %H:%M} UTC" in item.text
    [step] = item.remedies
    assert (step.action, step.permission) == (RemedyAction.RENEW_CERTIFICATE, None)
    assert "TIDEGATE_TLS_CERT" in step.label
    assert "restart" in step.label


def test_plain_http_and_a_certificate_that_lasts_are_no_item() -> None:
    assert list(certificate_items(None, NOON)) == []
    lasting = EndingCertificate(URL, NOON + CERTIFICATE_NOTICE + timedelta(seconds=1))
    assert list(certificate_items(lasting, NOON)) == []
