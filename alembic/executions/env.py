"""How Alembic reaches the database of executions: by the connection of `migrate_executions` alone.

A new migration is written by hand, and `tests/conformance/executions` compares it with the tables.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
