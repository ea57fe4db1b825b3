"""Aliases for names that differ only in case, which DuckDB cannot distinguish.

The first of such names stays; each other name gets an alias: itself with a number at its end.  A
query with any other spelling is refused, because DuckDB would read another field.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from string import ascii_lowercase, ascii_uppercase

import duckdb

from supervisor.cli.shell.problems import CommandFailed

_FOLD = str.maketrans(ascii_uppercase, ascii_lowercase)


def folded(name: str) -> str:
    """Return a name as DuckDB compares it: only ASCII letters are folded to lower case."""
    return name.translate(_FOLD)


def aliases_of(names: Iterable[str]) -> dict[str, str]:
    """Return name -> alias in DuckDB, of names that differ only in case from another one.

    The first of such names is included, under its own name.  Other names are not included.
    """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(folded(name), []).append(name)
    taken = set(alike)
    aliases: dict[str, str] = {}
    for first, *others in alike.values():
        for name in others:
            numbered = (f"{name}_{number}" for number in count(1))
            alias = next(each for each in numbered if folded(each) not in taken)
            taken.add(folded(alias))
            aliases |= {first: first, name: alias}
    return aliases


def refuse_other_names(sql: str, shown: Mapping[str, str]) -> None:
    """Refuse a query that could read another field than it names.

    `shown`: field or table -> its alias in DuckDB, of names that differ only in case.

    Raises:
        CommandFailed: a name in the query is ambiguous; the hint has all aliases.
    """
    exact = set(shown.values())
    fields: dict[str, list[str]] = {}
    for field, name in shown.items():
        for key in {folded(field), folded(name)}:
            fields.setdefault(key, []).append(f"{field} is {_quoted(name)}")
    for name in _identifiers(sql):
        if name not in exact and (meant := fields.get(folded(name))):
            raise CommandFailed(
                f"{name} may be one of several: DuckDB's names ignore case",
                f"in a query {', '.join(meant)}",
            )


def _identifiers(sql: str) -> Iterator[str]:
    """Yield the names in a query without quotes, and any word that may be a name."""
    text = sql.encode()
    tokens = duckdb.tokenize(sql)
    ends = [at for at, _ in tokens[1:]] + [len(text)]
    reserved = _reserved_words()
    for (at, kind), end in zip(tokens, ends, strict=True):
        word = text[at:end].decode(errors="replace").strip()
        if kind == duckdb.token_type.identifier:
            yield word[1:-1].replace('""', '"') if word.startswith('"') else word
        elif kind == duckdb.token_type.keyword and folded(word) not in reserved:
            yield word


def _reserved_words() -> set[str]:
    sql = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
    with duckdb.connect() as connection:
        return {str(row[0]) for row in connection.sql(sql).fetchall()}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
