"""Citations: rule codes, paths and names of tests that code and pages give, and where they lead.

comment, docstring, page ── cites P21 ──► `<a id="p21"></a>` on a page of the protocol or faults
page ── names `tests/core/test_plan.py` or `test_of_a_rule` ──► a file or a function that exists
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

LAW = ("docs/explanation/protocol.md", "docs/explanation/faults.md")
"""The pages that have the anchors."""
CITING_STRINGS = ("tests/simulation/", "tests/chaos/")
"""Where a string that begins with a code is a citation as well: planted faults and findings."""
_FAMILIES = "A-IMP-S"
_NO_CODES = {"S3"}
"""Names of other things that look like a code."""
_CODE = re.compile(rf"(?<![\w`'\"./])([{_FAMILIES}][1-9]\d?)(?![\w`'\"/])(?!-\d)")
_CITES = re.compile(rf"\b[{_FAMILIES}][1-9]\d?\b")
_FIRST = re.compile(rf"[{_FAMILIES}][1-9]\d?(?=$|[ ,:])")
_ANCHOR = re.compile(r'<a id="([a-z]\d+)"></a>')
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_FOLDERS = "supervisor|tasks|tests|alembic|docs|scripts|bench"
_PATH = re.compile(rf"(?:{_FOLDERS})/(?:[\w./-]*(?:/|\.\w+))?|scripts/\w+")
_PAGE = re.compile(r"(?<![\w/.-])[\w./-]+\.md\b")
_TEST = re.compile(r"test_\w+")
_DEFINED = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)


def anchors(page: str) -> list[str]:
    """Return the codes that have an anchor on a page, in its order."""
    return [code.upper() for code in _ANCHOR.findall(page)]


def codes_in(prose: str) -> Iterator[str]:
    """Yield the codes that a text cites; in a range such as A1-A15 its two ends."""
    yield from (code for code in _CODE.findall(prose) if code not in _NO_CODES)


def codes_of_page(text: str) -> set[str]:
    """Return the codes that a page cites, outside of code."""
    return set(codes_in(_SPAN.sub("", _FENCE.sub("", text))))


def codes_of_python(path: str, text: str) -> set[str]:
    """Return the codes that comments and docstrings cite, and findings where they are written."""
    if not _CITES.search(text):
        return set()
    codes = {code for prose in remarks(text) for code in codes_in(prose)}
    if path.startswith(CITING_STRINGS):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                codes |= _codes_of_string(node.value)
    return codes


def _codes_of_string(value: str) -> set[str]:
    first = _FIRST.match(value)
    if first is None or first.group() in _NO_CODES:
        return set()
    several = re.fullmatch(rf"(?:{_FIRST.pattern}(?:, )?)+", value)
    return set(re.findall(rf"[{_FAMILIES}]\d+", value)) if several else {first.group()}


def remarks(text: str) -> Iterator[str]:
    """Yield the comments and docstrings of a module, those of its fields too."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value.value


def pages_named(text: str) -> set[str]:
    """Return the names of pages that comments and docstrings give, addresses of others left out."""
    if ".md" not in text:
        return set()
    return {
        name for prose in remarks(text) for name in _PAGE.findall(re.sub(r"\w+://\S+", "", prose))
    }


def paths_named(text: str) -> set[str]:
    """Return the paths of the repository that a page gives in back-quotes."""
    spans = _SPAN.findall(_FENCE.sub("", text))
    return {span.rstrip("/") for span in spans if _PATH.fullmatch(span)}


def tests_named(text: str) -> set[str]:
    """Return the names of tests that a page gives in back-quotes."""
    return {span for span in _SPAN.findall(_FENCE.sub("", text)) if _TEST.fullmatch(span)}


def tests_defined(text: str) -> set[str]:
    """Return the names of the tests in a module."""
    return set(_DEFINED.findall(text))
