"""The tables of a store and their version: made, compared, brought up to date.

A study's uid keeps a deleted study's records from passing for those of its successor; its number of events shows that
the last one is lost.
"""

from mfbo.errors import DamageError, StorageError
from mfbo.storage.drivers import Connection

VERSION_TABLE = "alembic_version"  # alembic made the first stores
FIRST = "0001"
TABLES = {VERSION_TABLE, "studies", "events"}

MIGRATIONS: dict[str, tuple[str, ...]] = {  # from each version's predecessor to it
    FIRST: (
        """CREATE TABLE studies (
            id {counter} NOT NULL,
            uid TEXT NOT NULL,
            name TEXT NOT NULL,
            created DOUBLE PRECISION NOT NULL,
            description TEXT NOT NULL,
            events INTEGER NOT NULL,
            rounds INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            checksum TEXT NOT NULL,
            PRIMARY KEY (id),
            UNIQUE (name)
        )""",
        """CREATE TABLE events (
            study INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            number INTEGER NOT NULL,
            step INTEGER NOT NULL,
            kind TEXT NOT NULL,
            body TEXT NOT NULL,
            at DOUBLE PRECISION NOT NULL,
            checksum TEXT NOT NULL,
            PRIMARY KEY (study, sequence),
            UNIQUE (study, number, step),
            FOREIGN KEY (study) REFERENCES studies (id)
        )""",
    ),
}
SCHEMA = max(MIGRATIONS)


def version_of(connection: Connection) -> str | None:
    """Return the schema version of a store; None if it has no tables yet."""
    tables = connection.driver.tables(connection)
    if not tables:
        return None
    if not TABLES.issubset(tables):
        raise StorageError(f"this database has tables of another program ({', '.join(tables[:3])})")
    versions = connection.column(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 (a name of our own)
    if len(versions) != 1 or not isinstance(versions[0], str):
        raise DamageError(f"its schema version is damaged: {versions}; see `mfbo study doctor`")
    return versions[0]


def is_older(version: str) -> bool:
    """Tell whether an earlier mfbo made such stores."""
    return version in MIGRATIONS and version < SCHEMA


def require_newest(version: str, address: str) -> None:
    """Refuse a store that is older or newer than this program."""
    if version == SCHEMA:
        return
    if is_older(version):
        way_out = "bring it up to date by `mfbo study upgrade` (a backup is kept)"
    else:
        way_out = "a newer mfbo wrote it, or the version was changed: update mfbo, or restore a backup"
    raise StorageError(f"{address} has schema version {version!r}, this mfbo reads {SCHEMA!r}; {way_out}")


def migrate(connection: Connection) -> None:
    """Bring the tables to the newest version, inside the connection's transaction."""
    version = version_of(connection)
    if version is None:
        connection.run(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        connection.insert(VERSION_TABLE, [{"version_num": ""}])
    for newer in sorted(later for later in MIGRATIONS if later > (version or "")):
        for statement in MIGRATIONS[newer]:
            connection.run(statement.format(counter=connection.driver.counter))
        connection.run(f"UPDATE {VERSION_TABLE} SET version_num = :newer", newer=newer)  # noqa: S608
