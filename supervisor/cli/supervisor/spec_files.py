"""Spec files of users: JSON or YAML, in files, in folders, on stdin; one spec, or a list of them.

JSON is sent unchanged, so that the overlord checks every byte; so is each spec of a list.  YAML is
read by the rules of 1.2 (`on` is a text, `010` is a text).  Aliases are refused, because nested
aliases can exhaust the memory, and so are repeated keys.
"""

import codecs
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.values.json_bodies import SIZE_BYTES_MAX

SUFFIXES = (".json", ".yaml", ".yml")
_STDIN = "-"
_BLANKS = (" ", "\t", "\r", "\n")


@dataclass(frozen=True)
class SpecFile:
    """One spec: its name in messages, and the body to POST, or the error in the file."""

    name: str
    body: bytes | CommandFailed


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 -- its form

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self.refused("aliases (*name) are not taken: write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.refused("a key must be a text")
            if key.value in seen:
                raise self.refused(f"the key {key.value!r} is given twice")
            seen.add(key.value)
        found = super().construct_mapping(node, deep)
        return {key if isinstance(key, str) else _text(key): found[key] for key in found}

    def refused(self, problem: str) -> yaml.YAMLError:
        return yaml.MarkedYAMLError(problem=problem, problem_mark=self.get_mark())


def _text(key: object) -> str:
    return json.dumps(key) if isinstance(key, bool | int | float | None) else str(key)


_NUMBER = r"[-+]?(?:0|[1-9][0-9]*)"
for _tag, _pattern, _first in (
    ("null", r"null|Null|NULL|~|", "nN~\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", _NUMBER, "-+0123456789"),
    ("float", rf"(?:{_NUMBER}(?:\.[0-9]*)?|[-+]?\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), [*_first, ""]
    )


def read_specs(names: Iterable[str]) -> Iterator[SpecFile]:
    """Yield every spec of these files and folders, in order; `-` is stdin.

    Of a folder its .json, .yaml and .yml files are read, sorted by name; of a YAML file each
    document; of a list each element.
    """
    for name in names:
        for path in _files(name):
            yield from _specs(path)


def read_one(name: str) -> bytes:
    """Return the one spec of a file, or of stdin for `-`.

    Raises:
        CommandFailed: the file cannot be read, or has several specs.
    """
    specs = list(read_specs([name]))
    if len(specs) != 1:
        raise CommandFailed(f"{name} has {len(specs)} specs, and this command takes one")
    if isinstance(specs[0].body, CommandFailed):
        raise specs[0].body
    return specs[0].body


def _files(name: str) -> list[str]:
    folder = Path(name)
    if name == _STDIN or not folder.is_dir():
        return [name]
    paths = sorted(p for p in folder.iterdir() if p.suffix in SUFFIXES and p.is_file())
    if not paths:
        raise CommandFailed(f"{name} has no spec", f"its name must end in {', '.join(SUFFIXES)}")
    return [str(path) for path in paths]


def _specs(name: str) -> Iterator[SpecFile]:
    try:
        content = sys.stdin.buffer.read() if name == _STDIN else Path(name).read_bytes()
    except OSError as error:
        yield SpecFile(name, CommandFailed(f"{name} cannot be read: {error.strerror}"))
        return
    if not name.endswith((".yaml", ".yml")):
        start = content.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        if start == b"[" and (listed := _json_list(content)) is not None:
            yield from _named(name, listed)
            return
        if start == b"{" or name.endswith(".json"):
            yield SpecFile(name, content)
            return
    try:
        yield from _named(name, list(_documents(content)))
    except CommandFailed as error:
        yield SpecFile(name, CommandFailed(f"{name}: {error}"))


def _named(name: str, specs: Sequence[SpecFile]) -> Iterator[SpecFile]:
    """Yield each spec of a file by the name of the file; by its number and id, too, if several."""
    if not specs:
        yield SpecFile(name, CommandFailed(f"{name} is empty"))
    for number, spec in enumerate(specs, 1):
        own = f"{name}#{number} {spec.name}".rstrip() if len(specs) > 1 else name
        body = spec.body
        if isinstance(body, CommandFailed):
            body = CommandFailed(f"{own}: {body}", body.hint)
        yield SpecFile(own, body)


def _json_list(content: bytes) -> list[SpecFile] | None:
    """Return each spec of a list in JSON, byte by byte as it is there; None: it is no such list."""
    try:
        text = content.decode("utf-8-sig")
        decode = json.JSONDecoder().raw_decode
        specs: list[SpecFile] = []
        at, more = _blank(text, text.index("[") + 1), True
        while more and not (text[at] == "]" and not specs):
            value, end = decode(text, at)
            specs.append(_spec_of_list(value, text[at:end].encode()))
            at = _blank(text, end)
            more = text[at] == ","
            at = _blank(text, at + 1) if more else at
        is_whole = text[at] == "]" and _blank(text, at + 1) == len(text)
    except (ValueError, IndexError, RecursionError):
        return None
    return specs if is_whole else None


def _blank(text: str, at: int) -> int:
    """Return where the blanks end that begin at `at`."""
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def _spec_of_list(value: object, body: bytes) -> SpecFile:
    """Return one spec by its id, or by the name of its table; by no name if it has neither."""
    if not isinstance(value, dict):
        hint = "each element of the list must be a spec, which is an object"
        return SpecFile("", CommandFailed("it is no spec", hint))
    inner = value.get("spec")
    schema = (inner if isinstance(inner, dict) else value).get("dataSchema")
    named = value.get("id") or (schema.get("dataSource") if isinstance(schema, dict) else None)
    return SpecFile(f"({named})" if isinstance(named, str) else "", body)


def _documents(content: bytes) -> Iterator[SpecFile]:
    """Yield the documents of a YAML text as JSON; of one that is a list, each element.

    Raises:
        CommandFailed: the text is no YAML, or has values that JSON does not have.
    """
    if len(content) > SIZE_BYTES_MAX:
        raise CommandFailed(f"it is larger than {SIZE_BYTES_MAX} bytes")
    try:
        for document in yaml.load_all(content.decode("utf-8-sig"), _Loader):
            if document is None:
                continue
            is_list = isinstance(document, list)
            for value in document if is_list else [document]:
                body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
                yield _spec_of_list(value, body) if is_list else SpecFile("", body)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}: "
        raise CommandFailed(f"{where}{error.problem or 'it is no YAML'}") from None
    except RecursionError:
        raise CommandFailed("it is nested too deeply") from None
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, ValueError) as error:
        raise CommandFailed(f"it cannot be read: {str(error).splitlines()[0]}") from None
