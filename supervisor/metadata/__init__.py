"""The metadata database: SQLAlchemy tables and repositories, alike on SQLite and PostgreSQL.

Read `schema/tables.py` (what is stored), then `store.py` (how a transaction begins and ends), then
the repository of the noun you need; `migrate.py` brings a database to the present schema.
"""
