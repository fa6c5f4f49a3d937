"""The schema version of a store: read, compared, brought up to date by alembic. Importing alembic is put off."""

import sqlalchemy as sa

from mfbo.errors import StorageError
from mfbo.storage.tables import SCHEMA

MIGRATIONS = "mfbo.storage:migrations"
VERSION_TABLE = "alembic_version"


def version_of(connection: sa.Connection) -> str | None:
    """Return the schema version of a store; None if it has no tables yet."""
    tables = sa.inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise StorageError(f"this database has tables of another program ({', '.join(tables[:3])})")
        return None
    versions = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all()  # noqa: S608
    if len(versions) != 1:
        raise StorageError(f"its schema version is damaged: {list(versions)}")
    return str(versions[0])


def require_newest(version: str, address: str) -> None:
    """Refuse a store that is older or newer than this program."""
    if version == SCHEMA:
        return
    if version.isdecimal() and version < SCHEMA:
        way_out = "bring it up to date by `mfbo study upgrade` (a backup is kept)"
    else:
        way_out = "a newer mfbo wrote it, or it is damaged: update mfbo, or try `mfbo study doctor`"
    raise StorageError(f"{address} has schema version {version!r}, this mfbo reads {SCHEMA!r}; {way_out}")


def migrate(connection: sa.Connection) -> None:
    """Bring the tables to the newest version, inside the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
