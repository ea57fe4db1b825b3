"""Names that differ in case only, which DuckDB takes for one name.

The first of them keeps its name, each other has an alias: a number behind it.  A query that names
one of them in any other way is refused, for DuckDB would read another field instead.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from string import ascii_lowercase, ascii_uppercase

import duckdb

from supervisor.cli.shell.problems import CommandFailed

_FOLD = str.maketrans(ascii_uppercase, ascii_lowercase)


def folded(name: str) -> str:
    """Return a name as DuckDB compares it: of letters beyond ASCII the case counts."""
    return name.translate(_FOLD)


def aliases_of(names: Iterable[str]) -> dict[str, str]:
    """Return the name that each column has in DuckDB, of those that it takes for another one.

    The first one is in it, too, under its own name; other columns are not.
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

    `shown`: field, or table -> its name in DuckDB, of those that differ in case only.

    Raises:
        CommandFailed: naming all that DuckDB takes for one.
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
    """Yield the names in a query, without their quotes; also words that may be a name."""
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
