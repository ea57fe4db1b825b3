"""The reason of a change, as the person who asks for it gives it: one bounded line of text."""

import unicodedata

from supervisor.core.values.errors import FieldError, InvalidRequest

REASON_MAX = 500
"""The maximum of characters in a reason."""
_BROKEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, lone surrogates, and the separators of lines and paragraphs."""
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""They turn the direction of the text behind them: what is read is not what is stored."""
PATTERN = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
"""What `checked_reason` accepts, for the description of the API."""


def checked_reason(text: str | None) -> str | None:
    """Return the reason of a request without space around it; None: none was given.

    Raises:
        InvalidRequest: it is too long, or has a control character.
    """
    reason = (text or "").strip(" ")
    if len(reason) > REASON_MAX:
        message = f"has {len(reason)} characters"
        raise _refused(message, f"at most {REASON_MAX}; a link has room for the rest")
    wrong = next((sign for sign in reason if _is_refused(sign)), None)
    if wrong is not None:
        raise _refused(f"has the control character U+{ord(wrong):04X}", "one line of plain text")
    return reason or None


def _is_refused(sign: str) -> bool:
    return sign in _TURNING or unicodedata.category(sign) in _BROKEN


def _refused(message: str, hint: str) -> InvalidRequest:
    return InvalidRequest([FieldError("/query/reason", message, hint)])
