"""How Alembic reaches the metadata database: by the overlord's connection, or by a URL.

On the command line: TIDEGATE_METADATA_URL, or `alembic -x url=... upgrade head`.
"""

import os
from typing import Literal

from alembic import context
from sqlalchemy import Connection, TypeDecorator

from supervisor.metadata.migrate import migrating
from supervisor.metadata.schema.tables import METADATA


def _run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        render_as_batch=True,  # SQLite changes a table by copying it
        render_item=_render,
    )
    with context.begin_transaction():
        context.run_migrations()


def _render(_kind: str, item: object, _: object) -> str | Literal[False]:
    """Write our column types as what they are stored as: a revision outlives our code."""
    return f"sa.{item.impl!r}" if isinstance(item, TypeDecorator) else False


def _url() -> str:
    url = context.get_x_argument(as_dictionary=True).get("url")
    if not (url := url or os.environ.get("TIDEGATE_METADATA_URL")):
        raise SystemExit("set TIDEGATE_METADATA_URL, or give -x url=sqlite:///file")
    return url


if context.is_offline_mode():
    context.configure(url=_url(), target_metadata=METADATA, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
elif (given := context.config.attributes.get("connection")) is not None:
    _run(given)
else:
    with migrating(_url()) as opened:
        _run(opened)
