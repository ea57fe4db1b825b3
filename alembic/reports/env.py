"""How Alembic reaches the database of reports: by the connection of `migrate_reports` alone.

A new migration is written by hand, and `tests/conformance/reports` compares it with the tables.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
