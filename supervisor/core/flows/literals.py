"""The literal values of calls: URLs, headers, days, intervals, words.

A value with an expression in it is not known before its step runs, and is read then.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime

from pydantic import JsonValue
from pydantic_core import PydanticCustomError

from supervisor.core.flows.http_places import HttpPlace, PlaceRefused, place_of_url
from supervisor.core.flows.steps import (
    BackfillStep,
    CompactStep,
    HttpStep,
    MarkUnusedStep,
    StepFields,
    WaitForStep,
)
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.values.field_types import nearest, pointer_part, shown
from supervisor.core.values.intervals import FORM, parse_interval

__all__ = ["EXPORTED", "OWN_HEADERS", "SUPERVISOR_STATES", "check_literals", "literal_place"]

OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers that the call sets itself."""
EXPORTED = ("delta", "iceberg")
"""Formats of an export."""
SUPERVISOR_STATES = (
    *("PENDING", "RUNNING", "SUSPENDED", "IDLE", "COMPLETED", "STOPPING"),
    *("UNHEALTHY_SUPERVISOR", "UNHEALTHY_TASKS", "SCHEMA_REGISTRY_UNAVAILABLE"),
    *("UNREADABLE_SPEC", "UNREADABLE_ROWS", "NO_SUCH_PARTITION", "BOUNDS_MISMATCHED"),
    *("CONNECTING_TO_STREAM", "DISCOVERING_INITIAL_TASKS", "NO_CAPACITY", "CREATING_TASKS"),
    *("EVENT_QUEUE_DEAD", "TOPIC_CHANGED", "TOPIC_GONE", "OFFSETS_UNREADABLE"),
    *("LOST_CONTINUITY", "UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM"),
)
"""What `state` of a `waitFor` may be: the states of supervisors, and the detailed ones."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET = re.compile(r"TIDEGATE_SECRET_[A-Za-z0-9_]{1,100}")
_REFERENCE = "write {secret: TIDEGATE_SECRET_NAME}"
_DAY, _MOMENT = "2026-11-25", "2026-11-25T04:00:00Z"


def check_literals(notes: SpecProblems, step: StepFields, pointer: str) -> None:
    """Note the literal values of a step that no call could use."""
    match step:
        case HttpStep():
            try:
                literal_place(step.url)
            except PlaceRefused as error:
                notes.refuse(f"{pointer}/url", str(error), "write https://hooks.example/orders")
            _check_headers(notes, step.headers, f"{pointer}/headers")
        case BackfillStep():
            _check(notes, step.day, f"{pointer}/day", _is_day, _DAY)
            _check(notes, step.from_, f"{pointer}/from", _is_moment, _MOMENT)
            _check(notes, step.to, f"{pointer}/to", _is_moment, _MOMENT)
        case CompactStep() | MarkUnusedStep():
            _check(notes, step.interval, f"{pointer}/interval", _is_interval, FORM)
        case WaitForStep():
            _check_word(notes, step.state, f"{pointer}/state", SUPERVISOR_STATES)
            _check_word(notes, step.exported, f"{pointer}/exported", EXPORTED)
        case _:
            pass


def literal_place(url: str) -> HttpPlace | None:
    """Return where a URL leads; None: an expression gives its scheme or host.

    Raises:
        PlaceRefused: it is no URL that a call may have.
    """
    literal, opens, _ = url.partition("${")
    if not opens:
        return place_of_url(url)
    _, behind, rest = literal.partition("://")
    has_host = behind and re.search(r"[/?#]", rest)
    return place_of_url(literal) if has_host else None


def _check_headers(notes: SpecProblems, headers: Mapping[str, JsonValue], pointer: str) -> None:
    for name, value in headers.items():
        place = f"{pointer}/{pointer_part(name)}"
        if name.lower() in OWN_HEADERS:
            notes.refuse(place, f"the call itself sets the header {name}", "leave it out")
        elif not _HEADER.fullmatch(name):
            notes.refuse(place, f"{shown(name)} is no name of a header", "such as X-Team")
        elif isinstance(value, dict):
            _check_reference(notes, value, place)
        elif value is None or isinstance(value, list):
            notes.refuse(place, "a header is a text, or a secret", f"{_REFERENCE}, or a text")


def _check_reference(notes: SpecProblems, value: Mapping[str, JsonValue], pointer: str) -> None:
    for name in value:
        if name != "secret":
            close = nearest(name, ["secret"])
            hint = "did you mean secret?" if close else _REFERENCE
            notes.refuse(
                f"{pointer}/{pointer_part(name)}", f"{shown(name)} is not known there", hint
            )
    if "secret" not in value:
        if not value:
            notes.refuse(pointer, "secret is required", _REFERENCE)
        return
    secret = value["secret"]
    if not isinstance(secret, str):
        notes.refuse(f"{pointer}/secret", "must be a text", _REFERENCE)
    elif "${" not in secret and not _SECRET.fullmatch(secret):
        message = f"{shown(secret)} is no name of a secret"
        notes.refuse(f"{pointer}/secret", message, "it begins with TIDEGATE_SECRET_")


def _check(
    notes: SpecProblems,
    text: str | None,
    pointer: str,
    holds: Callable[[str], object],
    form: str,
) -> None:
    if text is None or "${" in text:
        return
    try:
        holds(text)
    except (ValueError, PydanticCustomError):
        what = {_DAY: "day", FORM: "interval"}.get(form, "time")
        notes.refuse(pointer, f"{shown(text)} is no {what}", f"write {form}")


def _is_day(text: str) -> None:
    date.fromisoformat(text)


def _is_moment(text: str) -> None:
    datetime.fromisoformat(text)


def _is_interval(text: str) -> None:
    parse_interval(text)


def _check_word(notes: SpecProblems, word: str | None, pointer: str, known: Iterable[str]) -> None:
    if word is None or "${" in word:
        return
    words = list(known)
    same = word.upper() if words[0].isupper() else word
    if same not in words:
        close = nearest(word, words)
        hint = f"did you mean {close}?" if close else f"use one of {', '.join(words)}"
        notes.refuse(pointer, f"{shown(word)} is not known there", hint)
