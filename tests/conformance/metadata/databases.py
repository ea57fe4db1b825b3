"""A way into a database beside its store: for what no store would write."""

import sqlite3

import psycopg


def execute(url: str, statement: str) -> None:
    """Run one statement and commit."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        connection.execute(statement)
        connection.commit()
        connection.close()
        return
    with psycopg.connect(url) as postgres:
        postgres.execute(statement.encode())
