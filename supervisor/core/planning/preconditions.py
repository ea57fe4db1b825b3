"""HTTP preconditions on the newest version of a spec or a flow: If-Match and If-None-Match.

The writing transaction checks the precondition, so that no other write can come between (H8).
Source: RFC 9110, 8.8.3 and 13.1.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
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
class TaggedVersion:
    """The newest version of something, as preconditions see it."""

    what: str
    """`spec` or `flow`."""
    version: int
    etag: str


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
        present = None
        if newest is not None and not is_ended(newest):
            present = TaggedVersion("spec", newest.version, etag_of(newest))
        self.check_tagged(supervisor_id, present, "spec")

    def check_tagged(self, name: str, present: TaggedVersion | None, what: str) -> None:
        """Compare the tags with what is stored under a name; None: nothing, or it was ended.

        `what`: as `TaggedVersion` has it.

        Raises:
            PreconditionFailed: the stored version is not the expected one.
        """
        if self.match is not None and not _names(self.match, present):
            raise _failed(name, present, _unmatched(present, what))
        if self.none_match is not None and present is not None and _names(self.none_match, present):
            reason = (
                f"has a {what} already, version {present.version}, and If-None-Match asks that it "
                "has not: to change it, send its ETag as If-Match, or neither"
            )
            raise _failed(name, present, reason)

    def knows(self, newest: SpecVersion) -> bool:
        """Return whether the client has this version already, so that the answer is 304."""
        tags = self.none_match
        return tags is not None and not {ANY, etag_of(newest)}.isdisjoint(tags)


WHATEVER = Expected()
"""The precondition of a request without either header."""


def is_ended(newest: AnyVersion) -> bool:
    """Whether a newest version ends its supervisor; one that cannot be read does not."""
    return isinstance(newest, SpecVersion) and newest.terminated


def etag_of(version: AnyVersion) -> str:
    """Return the entity tag of a version, with its quotes.

    The tag includes the time, because versions restart at 1 once a supervisor was forgotten.
    """
    return entity_tag(version.supervisor_id, version.version, version.created_at)


def entity_tag(name: str, version: int, at: datetime) -> str:
    """Return the entity tag of a version that was stored at a time, with its quotes."""
    named = "\0".join((name, str(version), at.isoformat()))
    digest = hashlib.sha256(named.encode()).hexdigest()[:_DIGITS]
    return f'"{version}-{digest}"'


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


def _names(tags: frozenset[str], present: TaggedVersion | None) -> bool:
    return present is not None and (ANY in tags or present.etag in tags)


def _failed(name: str, present: TaggedVersion | None, message: str) -> PreconditionFailed:
    if present is None:
        return PreconditionFailed(name, message, None, None)
    return PreconditionFailed(name, message, present.version, present.etag)


def _unmatched(present: TaggedVersion | None, what: str) -> str:
    if present is None:
        return f"has no {what} that If-Match could name: leave the header out to create it"
    return (
        f"is at version {present.version} now, which is not the one that If-Match names: read it "
        "again (GET), and send the change with the ETag of that answer"
    )
