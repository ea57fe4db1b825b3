"""What a verb for every supervisor would do, as the sum of what it does to each of them.  Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from supervisor.core.attention.foreseen.effect import Foreseen, clause_of, digest_of

EVERY = "*"
"""The subject of such a verb, in the place of an id."""


@dataclass(frozen=True)
class _Words:
    one: str
    many: str
    undo: str


_WORDS = {
    "suspend": _Words(
        "is suspended",
        "are suspended",
        "resume each of them: a resume of all also resumes those that were suspended before",
    ),
    "resume": _Words(
        "is resumed",
        "are resumed",
        "suspend each of them: a suspend of all also suspends those that run already",
    ),
    "terminate": _Words(
        "is terminated",
        "are terminated",
        "apply their specs again, before they are forgotten: they go on at their committed offsets",
    ),
}


def every_digest(verb: str, digests: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a verb on several supervisors: of pairs (id, digest of its effect)."""
    effects = [f"{digest} {supervisor_id}" for supervisor_id, digest in digests]
    return digest_of(verb, EVERY, effects)


def every_foreseen(verb: str, items: Sequence[Foreseen], unreadable: Sequence[str]) -> Foreseen:
    """Return what a verb does to all that it changes.

    `unreadable`: ids of those that it leaves alone, because only a newer release reads their specs.
    """
    words = _WORDS[verb]
    text = "No supervisor changes."
    if items:
        published = [each for item in items for each in item.publishes or ()]
        first = "nothing of them has to be published first"
        if published:
            first = clause_of(published, "range", "is published first", "are published first")
        text = f"{clause_of(items, 'supervisor', words.one, words.many)}; {first}."
    warnings = [warning for item in items for warning in item.warnings]
    if unreadable:
        warnings.insert(0, _left_alone(unreadable))
    return Foreseen(
        verb,
        EVERY,
        text,
        words.undo,
        every_digest(verb, [(item.subject, item.digest) for item in items]),
        warnings=tuple(warnings),
        items=tuple(items),
    )


def _left_alone(ids: Sequence[str]) -> str:
    left = clause_of(ids, "supervisor", "is", "are")
    return f"{left} left alone, since only a newer release reads the spec: {', '.join(ids)}"
