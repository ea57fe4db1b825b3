"""Masking of secrets in texts: known secrets by their value, others by the name beside them.

A library that fails may print all of its input: a map of properties, a line of JAAS, a key.  Both
ways of masking are needed.  A known value is masked at any place and in any quoting.  A name is
enough in a process that has not read the secret itself.
"""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "***"
ANYWHERE_FROM = 8
"""A value of at least so many characters is masked at any place, also inside a longer word."""
WORD_FROM = 6
"""A shorter value of at least so many characters is masked only as a whole word, and never inside
another word.  A still shorter value would match everywhere, so only the name beside it masks it."""
_LINE_FROM = 16
"""A line of at least so many characters of a multi-line secret is masked by itself as well, because
a log may indent the lines."""

_NAME = (
    r"(?:sasl[._]jaas[._]config|sasl[._]password|ssl[._]keystore[._]key|ssl[._]key[._]pem"
    r"|ssl[._](?:key|keystore|truststore)[._]password|sasl[._]oauthbearer[._]client[._]secret"
    r"|basic[._]auth[._]user[._]info|password|passwd|client_?secret|TIDEGATE_SECRET_(?!\w*_FILE)\w+)"
)
_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+\\?(?:"|$)'
"""A quoted value.  Without a closing quote it reaches to the end of the text, which may have been
cut there."""
_JAAS = rf"(?:[^;\"]++|{_QUOTED})*+(?:;|$)"
_VALUE = rf"(?:\\*{_QUOTED}|.*?(?=,\s*[\w.\-]+\s*(?:=|->)|[\])\x7D]+(?:[\s.,;:]|$)|[\r\n]|$))"
_PRIVATE = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
PATTERNS = (
    (rf"-----BEGIN {_PRIVATE}(?:.*?-----END {_PRIVATE}|.*)", MASK),
    (rf"(sasl[._]jaas[._]config\s*(?:=|->)\s*){_JAAS}", rf"\1{MASK};"),
    (rf"(\(\s*(?:kafka\.)?sasl[._]jaas[._]config\s*,\s*){_JAAS}", rf"\1{MASK};"),
    (rf"(LoginModule\s+(?:required|requisite|sufficient|optional)\s){_JAAS}", rf"\1{MASK};"),
    # One password of many properties: `"name": "value"`, `name=value`, `name -> value`.
    (rf'((?<![a-z]){_NAME}\\*"\s*:\s*)\\*{_QUOTED}', rf'\1"{MASK}"'),
    (rf"((?<![a-z]){_NAME}\s*(?:=|->)\s*){_VALUE}", rf"\1{MASK}"),
    (rf"(\(\s*(?:kafka\.)?{_NAME}\s*,\s*)[^)]*", rf"\1{MASK}"),
    (r"(authorization\W+(?:basic|bearer)\s+)[\w+/=.~-]+", rf"\1{MASK}"),
    (r"(://[^/\s:@\"']*:)[^/\s@\"']+(?=@)", rf"\1{MASK}"),
)
"""Pairs of pattern and replacement, in a syntax that Java understands too.  Case is ignored, and a
dot matches any character.  The patterns contain no brace, because Java's log would interpret it.
They contain no backtracking loop over alternatives, which would overflow Java's stack on a long
text."""
_COMPILED = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), instead) for pattern, instead in PATTERNS
)
_MARKS = (
    *("password", "passwd", "jaas", "private key", "secret", "keystore", "authorization", "://"),
    *("ssl.key", "ssl_key", "loginmodule", "user.info", "user_info"),
)
"""Substrings of which each match has at least one: a text without them needs no further search."""


def forms_of(secret: str) -> frozenset[str]:
    """Return the forms of a secret that may appear in texts: plain, quoted, escaped and encoded.

    The set is empty if the secret is too short to be searched for.
    """
    parts = {secret, secret.strip()}
    if len(lines := secret.splitlines()) > 1:
        parts |= {kept for line in lines if _is_specific(kept := line.strip())}
    forms: set[str] = set()
    for part in parts:
        if len(part) < WORD_FROM:
            continue
        jaas = part.replace("\\", "\\\\").replace('"', '\\"')
        jaas = jaas.replace("\n", "\\n").replace("\r", "\\r")
        plain = {part, jaas, part.replace("\n", "\\n").replace("\r", "\\r")}
        for form in plain:
            forms |= {form, *_in_json(form), repr(form)[1:-1]}
        forms |= {quote(part, safe=""), quote_plus(part)}
        forms.add(base64.b64encode(part.encode("utf-8", "surrogatepass")).decode())
    return frozenset(forms)


def pattern_of(forms: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of `forms`, the longest first; None: there are no forms."""
    ordered = sorted(set(forms), key=lambda form: (-len(form), form))
    return re.compile("|".join(map(_search_pattern, ordered))) if ordered else None


def masked(text: str, known: re.Pattern[str] | None = None) -> str:
    """Return `text` without the secrets that `known` matches or that a name beside them marks."""
    if not text:
        return text
    if known is not None:
        text = known.sub(MASK, text)
    lower = text.lower()
    if any(mark in lower for mark in _MARKS):
        for pattern, instead in _COMPILED:
            text = pattern.sub(instead, text)
    return text


def masked_within(text: str) -> str:
    """Return `text` masked by names alone, and not longer than before, for a field with a bound."""
    return masked(text)[: len(text)]


def _is_specific(line: str) -> bool:
    return len(line) >= _LINE_FROM and not line.startswith("-----")


def _in_json(text: str) -> set[str]:
    return {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}


def _search_pattern(form: str) -> str:
    escaped = re.escape(form)
    if len(form) >= ANYWHERE_FROM:
        return escaped
    return rf"(?<![A-Za-z0-9]){escaped}(?![A-Za-z0-9])"
