"""The digest of a preview that a caller has read, held against what a verb does now."""

from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.values.errors import PreviewOutdated


def hold_against(expect: str | None, now: Foreseen) -> None:
    """Return if `now` is what the caller expects; None: it expects nothing in particular.

    Raises:
        PreviewOutdated: with `now`, which the caller has not read.
    """
    if expect not in {None, now.digest}:
        subject = now.subject if now.items is None else "every supervisor"
        raise PreviewOutdated(subject, now)
