"""The house rules that no linter knows: each takes a path and a text and returns findings."""

import ast
import re
from collections.abc import Callable, Iterator

from tests.tidy.sources import Finding, nodes_of

FUNCTION_LINES_MAX = 50
FILE_LINES_MAX = 400
POSITIONAL_MAX = 5

Rule = Callable[[str, str], Iterator[Finding]]
_Function = ast.FunctionDef | ast.AsyncFunctionDef

_FORBIDDEN_TEXT = {
    # Spelled in pieces: this file is checked too.
    "registry-host": [
        "pypi" + ".org",
        "files.pythonhosted" + ".org",
        "repo1.maven" + ".org",
        "repo.maven.apache" + ".org",
        "registry.npmjs" + ".org",
        "proxy.golang" + ".org",
        "static.crates" + ".io",
    ],
    "outside-path": [".." + "/shared"],
}
_MACHINE_PATH = re.compile(r"(?<![\w.${}<>/~-])/(?:work|root|home/[A-Za-z][\w.-]*)/[\w.]")
_TODO = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX)\b(?!\(#\d+\)|:? #\d+)")
_BINARY_OR_GENERATED = (".lock", "package-lock.json")
_SKIPS = {"pytest.skip", "pytest.importorskip", "pytest.mark.skip", "pytest.mark.skipif"}
_SKIPS |= {"pytest.xfail", "pytest.mark.xfail", "unittest.skip", "unittest.skipIf"}


def long_functions(path: str, text: str) -> Iterator[Finding]:
    """A function has at most 50 lines; decorators and docstring are not counted."""
    for function in _functions(text):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        lines -= _docstring_lines(function)
        if lines > FUNCTION_LINES_MAX:
            message = f"{function.name} has {lines} lines, at most {FUNCTION_LINES_MAX} are allowed"
            yield Finding("function-lines", path, function.lineno, function.name, message)


def long_files(path: str, text: str) -> Iterator[Finding]:
    """A file has at most 400 lines."""
    if (lines := len(text.splitlines())) > FILE_LINES_MAX:
        message = f"{lines} lines, at most {FILE_LINES_MAX} are allowed"
        yield Finding("file-lines", path, lines, "", message)


def many_parameters(path: str, text: str) -> Iterator[Finding]:
    """A function takes at most 5 parameters by position, self and cls aside."""
    for function in _functions(text):
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        names = names[1:] if names[:1] in (["self"], ["cls"]) else names
        # pytest passes fixtures by name: there is no call to misread.
        is_test = function.name.startswith("test_") or _is_fixture(function)
        if len(names) > POSITIONAL_MAX and not is_test:
            message = f"{function.name} takes {len(names)} by position: make some keyword-only"
            yield Finding("parameters", path, function.lineno, function.name, message)


def mocks(path: str, text: str) -> Iterator[Finding]:
    """Nothing imports a mocking library: Kafka and the warehouse have fakes, SQL has SQLite."""
    for line, name in _imports(text):
        if name.startswith(("unittest.mock", "mock.", "pytest_mock")) or name == "mock":
            yield Finding("mock", path, line, "", f"imports {name}: use a fake of ours, or SQLite")


def sleeps(path: str, text: str) -> Iterator[Finding]:
    """A test waits for a signal with a bound, or moves the clock; it never sleeps."""
    if not path.startswith("tests/"):
        return
    for line, name in _uses(text):
        if name in {"time.sleep", "asyncio.sleep"}:
            yield Finding("sleep", path, line, "", "wait on a condition with a deadline instead")


def skips(path: str, text: str) -> Iterator[Finding]:
    """No test skips itself or expects to fail: a missing part is a failure that names it."""
    for line, name in _uses(text):
        if name in _SKIPS:
            yield Finding("skip", path, line, "", f"{name}: a missing part is a failure")


def unfinished(path: str, text: str) -> Iterator[Finding]:
    """Nothing raises NotImplementedError: what is not there yet is not offered."""
    for node in nodes_of(text):
        if isinstance(node, ast.Name) and node.id == "NotImplementedError":
            yield Finding("unfinished", path, node.lineno, "", "build it, or do not offer it")


def todos(path: str, text: str) -> Iterator[Finding]:
    """What is left to do has the number of an issue: `TODO(#12)`."""
    for number, line in enumerate(text.splitlines(), 1):
        if _TODO.search(line):
            yield Finding("todo", path, number, "", "name the issue: (#12)")


def foreign_words(path: str, text: str) -> Iterator[Finding]:
    """No file names a package registry's host, or a folder of one machine."""
    for number, line in enumerate(text.splitlines(), 1):
        for rule, words in _FORBIDDEN_TEXT.items():
            for word in words:
                if word in line:
                    yield Finding(rule, path, number, "", f"names {word}")
        if found := _MACHINE_PATH.search(line):
            yield Finding("machine-path", path, number, "", f"names {found.group()}...")


def package_docstrings(path: str, text: str) -> Iterator[Finding]:
    """A package says what to read first."""
    if path.endswith("/__init__.py") and not ast.get_docstring(ast.parse(text)):
        yield Finding("package-docstring", path, 1, "", "say in three lines what to read first")


def vague_names(path: str, text: str) -> Iterator[Finding]:  # noqa: ARG001 -- a rule's shape
    """A file is one noun."""
    if path.rpartition("/")[2] in {"utils.py", "util.py", "helpers.py", "common.py", "misc.py"}:
        yield Finding("vague-name", path, 1, "", "name the file after what it holds")


_WRITE_WITHOUT_A_TERM = {
    "supervisor/control/leadership.py",  # it takes the term
    "supervisor/services/access/principals.py",  # any overlord may change who may do what
    "supervisor/services/access/authentication.py",  # and note when a token was used last
    "supervisor/services/access/sessions.py",  # and log browsers in and out
}


def writes_without_a_term(path: str, text: str) -> Iterator[Finding]:
    """The product writes with a leader's term: a deposed leader's write is refused."""
    if not path.startswith("supervisor/") or path in _WRITE_WITHOUT_A_TERM:
        return
    for line, use in _uses(text):
        if use.endswith("store.writing"):
            yield Finding("term", path, line, use, "`writing` knows no term: use `leading(term)`")


def is_generated(path: str) -> bool:
    """Whether a tool wrote this file, so that its words are not ours."""
    return path.endswith(_BINARY_OR_GENERATED)


PYTHON_RULES: tuple[Rule, ...] = (
    long_functions,
    long_files,
    many_parameters,
    mocks,
    sleeps,
    skips,
    unfinished,
    package_docstrings,
    vague_names,
    writes_without_a_term,
)
TEXT_RULES: tuple[Rule, ...] = (todos, foreign_words)


def _functions(text: str) -> Iterator[_Function]:
    for node in nodes_of(text):
        if isinstance(node, _Function):
            yield node


def _docstring_lines(function: _Function) -> int:
    if ast.get_docstring(function, clean=False) is None:
        return 0
    first = function.body[0]
    return (first.end_lineno or first.lineno) - first.lineno + 1


def _is_fixture(function: _Function) -> bool:
    return any("fixture" in ast.unparse(decorator) for decorator in function.decorator_list)


def _imports(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and full name of each imported module and name."""
    for node in nodes_of(text):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _uses(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of what is imported by name or reached by attribute."""
    yield from _imports(text)
    for node in nodes_of(text):
        if isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node)
