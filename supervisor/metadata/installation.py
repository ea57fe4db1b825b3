"""The name of a metadata database, given when its schema was created."""

from sqlalchemy import Connection, select

from supervisor.metadata.schema.tables import installation


class SqlInstallation:
    """See `ports.store.Installation`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def name(self) -> str:
        """Return the name of the database, which never changes."""
        name: str = self._db.execute(select(installation.c.name)).scalar_one()
        return name
