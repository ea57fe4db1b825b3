"""The meanings of a spec's fields, taken from the tables of docs/reference/spec.md.

`python -m scripts.reference` writes them into a module of the core, for hints in forms and editors:
people write a meaning once, on the page.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

PAGE = Path("docs/reference/spec.md")
MODULE = Path("supervisor/core/spec/meanings.py")
TABLES: Mapping[str, str] = MappingProxyType(
    {
        "Envelope": "document",
        "dataSchema": "dataSchema",
        "timestampSpec": "timestampSpec",
        "dimensionsSpec": "dimensionsSpec",
        "granularitySpec": "granularitySpec",
        "transformSpec": "transformSpec",
        "ioConfig": "ioConfig",
        "Input formats": "kafkaFormat",
        "tuningConfig": "tuningConfig",
        "indexSpec": "indexSpec",
    }
)
"""Heading -> part of the schema; its table is the one with a column `default`."""
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_TABLE = re.compile(
    r"^\| field[^|]*\| default \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE
)
_POINTER = re.compile(r"[,:;]? \[see (?:below|there)\]\([^)]*\)")
_LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")
_PLACE = re.compile(r"\]\(#([^)]+)\)")
_WIDTH = 81
"""Characters of a text that fits in one line, between its quotes."""
_DEEPER = 4
_HEAD = '''"""Meanings of a spec's fields, for hints in forms and editors.

Generated from the tables of docs/reference/spec.md: python -m scripts.reference
"""

from collections.abc import Mapping
from types import MappingProxyType

MEANINGS: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
'''
_TAIL = '''    }
)
"""Part of the schema -> field -> (heading that says more, or "" for its section's; meaning)."""
'''


def meanings_of(page: str) -> dict[str, dict[str, tuple[str, str]]]:
    """Return part -> field -> (heading on the page, meaning as plain text), of a page's text."""
    known = {}
    for heading, text in _sections(page):
        table = _TABLE.search(text)
        if heading in TABLES and table is not None:
            known[TABLES[heading]] = dict(_rows(table[1]))
    return known


def _sections(page: str) -> Iterator[tuple[str, str]]:
    pieces = _HEADING.split(page)
    return zip(pieces[1::2], pieces[2::2], strict=True)


def _rows(table: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in table.splitlines():
        name, _, meaning = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
        place = _PLACE.search(meaning)
        yield name.strip("`"), (place[1] if place else "", _plain(meaning))


def _plain(meaning: str) -> str:
    text = _LINK.sub(r"\1", _POINTER.sub("", meaning))
    return text.replace("`", "").replace("**", "").replace(r"\|", "|")


def module_of(page: str) -> str:
    """Return the source of the module, for the text of the page."""
    lines = [_HEAD]
    for part, fields in meanings_of(page).items():
        lines.append(f'        "{part}": {{\n')
        for name, (place, meaning) in fields.items():
            lines += [f'            "{name}": (\n', f'                "{place}",\n']
            lines += [f"                {piece}\n" for piece in _pieces(meaning)]
            lines.append("            ),\n")
        lines.append("        },\n")
    return "".join([*lines, _TAIL])


def _pieces(text: str) -> list[str]:
    """Return the lines of a text's literal; ruff would join what is parted and fits in one."""
    if len(text) <= _WIDTH:
        return [f"{_quoted(text)},"]
    pieces = textwrap.wrap(
        text,
        _WIDTH - _DEEPER,
        break_on_hyphens=False,
        break_long_words=False,
        drop_whitespace=False,
    )
    return ["(", *(f"    {_quoted(piece)}" for piece in pieces), "),"]


def _quoted(text: str) -> str:
    quote = "'" if '"' in text and "'" not in text else '"'
    escaped = text.replace("\\", "\\\\")
    return quote + (escaped.replace('"', '\\"') if quote == '"' else escaped) + quote


def rewrite_meanings(module: Path = MODULE) -> list[Path]:
    """Rewrite the module and return it if it has changed."""
    new = module_of(PAGE.read_text(encoding="utf-8"))
    if module.exists() and module.read_text(encoding="utf-8") == new:
        return []
    module.write_text(new, encoding="utf-8")
    return [module]
