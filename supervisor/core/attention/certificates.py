"""The attention rule of the overlord's own TLS certificate: it ends soon, or has ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    THE_CLUSTER,
    AttentionItem,
    AttentionKind,
    Severity,
)
from supervisor.core.attention.remedies import Remedy, RemedyAction

__all__ = [
    "CERTIFICATE_NOTICE",
    "CERTIFICATE_URGENT",
    "EndingCertificate",
    "certificate_items",
]

CERTIFICATE_NOTICE = timedelta(days=14)
CERTIFICATE_URGENT = timedelta(days=2)
_RENEW = Remedy(
    RemedyAction.RENEW_CERTIFICATE,
    "Put a new certificate and its key in place of the files that TIDEGATE_TLS_CERT and "
    "TIDEGATE_TLS_KEY name, then restart this overlord: it reads them at its start",
    None,
)


@dataclass(frozen=True)
class EndingCertificate:
    """The certificate that an overlord serves."""

    overlord: str
    """The address of the overlord."""
    ends_at: datetime
    """When the first certificate of its chain ends."""


def certificate_items(served: EndingCertificate | None, now: datetime) -> Iterator[AttentionItem]:
    """Yield that a certificate ends within `CERTIFICATE_NOTICE`; None: plain HTTP is served."""
    if served is None or served.ends_at - now > CERTIFICATE_NOTICE:
        return
    left = served.ends_at - now
    when = f"{served.ends_at:%Y-%m-%d %H:%M} UTC"
    if left <= timedelta(0):
        severity = Severity.BROKEN
        verb, effect = "ended", "browsers, workers and clients refuse to talk to it"
    else:
        severity = Severity.AT_RISK if left <= CERTIFICATE_URGENT else Severity.TO_KNOW
        verb, effect = "ends", "from then on browsers, workers and clients refuse to talk to it"
    yield AttentionItem(
        severity,
        AttentionKind.CERTIFICATE_ENDING,
        THE_CLUSTER,
        f"the TLS certificate of the overlord {served.overlord} {verb} at {when}: {effect}",
        served.ends_at - CERTIFICATE_NOTICE,
        (_RENEW,),
    )
