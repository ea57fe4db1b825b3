"""Spec files of users: JSON or YAML, in files, in folders, on stdin.

JSON is sent unchanged, so that the overlord checks every byte.  YAML is read by the rules of 1.2
(`on` is a text, `010` is a text).  Aliases are refused, because nested aliases can exhaust the
memory, and so are repeated keys.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.values.json_bodies import SIZE_BYTES_MAX

SUFFIXES = (".json", ".yaml", ".yml")
_STDIN = "-"


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
    document.
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
    is_json = name.endswith(".json") or content.lstrip().startswith(b"{")
    if is_json and not name.endswith((".yaml", ".yml")):
        yield SpecFile(name, content)
        return
    try:
        documents = list(_documents(content))
    except CommandFailed as error:
        yield SpecFile(name, CommandFailed(f"{name}: {error}"))
        return
    if not documents:
        yield SpecFile(name, CommandFailed(f"{name} is empty"))
    for number, body in enumerate(documents, 1):
        yield SpecFile(name if len(documents) == 1 else f"{name}#{number}", body)


def _documents(content: bytes) -> Iterator[bytes]:
    """Yield the documents of a YAML text as JSON.

    Raises:
        CommandFailed: the text is no YAML, or has values that JSON does not have.
    """
    if len(content) > SIZE_BYTES_MAX:
        raise CommandFailed(f"it is larger than {SIZE_BYTES_MAX} bytes")
    try:
        for document in yaml.load_all(content.decode("utf-8-sig"), _Loader):
            if document is not None:
                yield json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}: "
        raise CommandFailed(f"{where}{error.problem or 'it is no YAML'}") from None
    except RecursionError:
        raise CommandFailed("it is nested too deeply") from None
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, ValueError) as error:
        raise CommandFailed(f"it cannot be read: {str(error).splitlines()[0]}") from None
