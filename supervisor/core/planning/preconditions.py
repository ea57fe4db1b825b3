"""HTTP preconditions on the newest version of a spec: If-Match and If-None-Match.

The writing transaction checks the precondition, so that no other write can come between (H8).
Source: RFC 9110, 8.8.3 and 13.1.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from supervisor.core.model.rows import SpecVersion
from supervisor.core.values.errors import PreconditionFailed, SpecUnreadable

AnyVersion: TypeAlias = SpecVersion | SpecUnreadable
"""A stored version, also a version that this release cannot read."""
ANY = "*"
"""The tag that stands for any existing version."""
TAGS_MAX = 100
"""The maximum number of tags in one header."""
_DIGITS = 16
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_LIST = re.compile(rf"\s*{_TAG}\s*(?:,\s*{_TAG}\s*)*")


@dataclass(frozen=True)
class Expected:
    """Tags of which the newest version must have one (`match`) or none (`none_match`).

    None is no precondition; `*` stands for any version except a tombstone.
    """

    match: frozenset[str] | None = None
    none_match: frozenset[str] | None = None

    def check(self, supervisor_id: str, newest: AnyVersion | None) -> None:
        """Compare the tags with the stored version; a terminated supervisor has no spec.

        Raises:
            PreconditionFailed: the stored version is not the expected one.
        """
        present = None if newest is None or is_ended(newest) else newest
        if self.match is not None and not _names(self.match, present):
            raise _failed(supervisor_id, present, _unmatched(present))
        if self.none_match is not None and present is not None and _names(self.none_match, present):
            reason = (
                f"has a spec already, version {present.version}, and If-None-Match asks that it "
                "has not: to change it, send its ETag as If-Match, or neither"
            )
            raise _failed(supervisor_id, present, reason)

    def knows(self, newest: SpecVersion) -> bool:
        """Return whether the client has this version already, so that the answer is 304."""
        return self.none_match is not None and _names(self.none_match, newest)


WHATEVER = Expected()
"""The precondition of a request without either header."""


def is_ended(newest: AnyVersion) -> bool:
    """Whether a newest version ends its supervisor; one that cannot be read does not."""
    return isinstance(newest, SpecVersion) and newest.terminated


def etag_of(version: AnyVersion) -> str:
    """Return the entity tag of a version, with its quotes.

    The tag includes the time, because versions restart at 1 once a supervisor was forgotten.
    """
    named = "\0".join((version.supervisor_id, str(version.version), version.created_at.isoformat()))
    digest = hashlib.sha256(named.encode()).hexdigest()[:_DIGITS]
    return f'"{version.version}-{digest}"'


def read_tags(values: Iterable[str], *, weak: bool) -> frozenset[str] | None:
    """Return the tags of the lines of one header; None: the header is not a list of tags.

    Our tags are strong.  A weak tag counts as equal to ours only with `weak`.
    """
    lines = [value.strip() for value in values]
    if lines == [ANY]:
        return frozenset({ANY})
    tags = [tag for line in lines for tag in re.findall(_TAG, line)]
    if len(tags) > TAGS_MAX or not all(_LIST.fullmatch(line) for line in lines):
        return None
    return frozenset(tag.removeprefix("W/") if weak else tag for tag in tags)


def _names(tags: frozenset[str], present: AnyVersion | None) -> bool:
    return present is not None and (ANY in tags or etag_of(present) in tags)


def _failed(supervisor_id: str, present: AnyVersion | None, message: str) -> PreconditionFailed:
    if present is None:
        return PreconditionFailed(supervisor_id, message, None, None)
    return PreconditionFailed(supervisor_id, message, present.version, etag_of(present))


def _unmatched(present: AnyVersion | None) -> str:
    if present is None:
        return "has no spec that If-Match could name: leave the header out to create it"
    return (
        f"is at version {present.version} now, which is not the one that If-Match names: read it "
        "again (GET), and send the change with the ETag of that answer"
    )
