"""Errors of SQLite and PostgreSQL as those of a store, by class and code, and never by text.

busy, away, full, I/O         StoreAway       a repeat may succeed
the content of a row          ContentRefused  no repeat ever does
login, rights, schema         StoreRefuses    somebody has to act first
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from supervisor.core.values.errors import MetadataBusy, MetadataUnavailable
from supervisor.ports.store_problems import ContentRefused, StoreAway, StoreRefuses

__all__ = ["SideErrors"]

_SQLITE_CONTENT = {
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_RANGE,
    sqlite3.SQLITE_TOOBIG,
}
_POSTGRES_CONTENT = ("22", "23", "54")
"""Classes of SQLSTATE: data, constraints, and limits such as the size of an index row."""


@dataclass(frozen=True)
class SideErrors:
    """What the errors of one kind of database mean, in words that name it."""

    name: str
    """Such as reports: also its schema on PostgreSQL."""
    setting: str
    """Of its URL, such as TIDEGATE_REPORTS_URL."""
    starter: str
    """Who creates and migrates it, such as "a persister"."""

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise errors of the database as `StoreAway`, `ContentRefused` or `StoreRefuses`."""
        try:
            yield
        except (MetadataBusy, MetadataUnavailable) as error:
            raise self._of_driver(error.__cause__ or error) from error
        except DBAPIError as error:
            raise self._of_driver(error.orig or error) from error
        except (
            SQLAlchemyError
        ) as error:  # no connection became free in time, or a driver is missing
            raise StoreAway(f"{self.words} cannot be used: {_line(error)}") from error
        except (OverflowError, UnicodeError) as error:  # raised before the driver sent anything
            raise ContentRefused(f"no database takes it: {_line(error)}") from error

    @property
    def words(self) -> str:
        """What people call it."""
        return f"the database of {self.name}"

    @cached_property
    def _sqlite_fixes(self) -> Mapping[int, str]:
        rights = "give this user the right to write the file and its folder"
        start = f"start {self.starter}"
        return {
            sqlite3.SQLITE_AUTH: rights,
            sqlite3.SQLITE_CORRUPT: f"restore the file, or move it away and {start}",
            sqlite3.SQLITE_ERROR: f"{start} with this {self.setting}, which migrates it",
            sqlite3.SQLITE_NOTADB: f"set {self.setting} to another file",
            sqlite3.SQLITE_PERM: rights,
            sqlite3.SQLITE_READONLY: rights,
        }

    @cached_property
    def _postgres_fixes(self) -> Mapping[str, str]:
        start, schema = (
            f"start {self.starter} with this {self.setting}",
            f"the schema `{self.name}`",
        )
        return {
            "28": f"correct the user and the password of {self.setting}",
            "3D": f"create the database, or correct {self.setting}",
            "3F": f"{start}, which creates the schema",
            "42501": f"grant the user all rights on {schema}, or CREATE on the database",
            "42": f"{start}, which migrates it",
        }

    def _of_driver(self, error: BaseException) -> StoreAway | ContentRefused | StoreRefuses:
        if isinstance(error, sqlite3.Error):
            return self._of_sqlite(error)
        state = getattr(error, "sqlstate", None)
        if state is not None:
            return self._of_state(error, state)
        if "DataError" in {kind.__name__ for kind in type(error).__mro__}:
            return ContentRefused(f"{self.words} does not take it: {_line(error)}")
        # A refused login has no SQLSTATE: libpq says only that the server wanted a password.
        login = getattr(error, "pgconn", None)
        if getattr(login, "used_password", False) or getattr(login, "needs_password", False):
            return self._refuses(error, self._postgres_fixes["28"])
        return StoreAway(f"{self.words} cannot be reached: {_line(error)}")

    def _of_sqlite(self, error: sqlite3.Error) -> StoreAway | ContentRefused | StoreRefuses:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # the driver itself refused a value
            return ContentRefused(f"SQLite does not take it: {_line(error)}")
        kind = code & 0xFF  # the low byte
        if kind in _SQLITE_CONTENT:
            return ContentRefused(f"SQLite does not take it: {_line(error)}")
        if fix := self._sqlite_fixes.get(kind):
            return self._refuses(error, fix)
        return StoreAway(f"{self.words} cannot be used: {_line(error)}")

    def _of_state(
        self, error: BaseException, state: str
    ) -> StoreAway | ContentRefused | StoreRefuses:
        if state.startswith(_POSTGRES_CONTENT):
            return ContentRefused(f"{self.words} does not take it: {_line(error)}")
        if fix := self._postgres_fixes.get(state) or self._postgres_fixes.get(state[:2]):
            return self._refuses(error, fix)
        return StoreAway(f"{self.words} cannot be used now: {_line(error)}")

    def _refuses(self, error: BaseException, fix: str) -> StoreRefuses:
        return StoreRefuses(f"{self.words} refuses: {_line(error)}; {fix}")


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
