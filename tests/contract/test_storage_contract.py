"""Every storage keeps the contract: memory, an SQLite file, a PostgreSQL server."""

import pytest

from mfbo.storage import open_storage
from mfbo.testing import StorageContract


class TestMemory(StorageContract):
    @pytest.fixture
    def storage(self):
        return open_storage("memory")


class TestSqlite(StorageContract):
    @pytest.fixture
    def storage(self, tmp_path):
        made = open_storage(f"sqlite:///{tmp_path / 'studies.db'}")
        yield made
        made.close()


class TestPostgres(StorageContract):
    @pytest.fixture
    def storage(self, postgres_database):
        made = open_storage(postgres_database())
        yield made
        made.close()


def test_the_suite_sees_a_storage_that_doubles_a_tell():
    """The suite itself can fail."""
    from mfbo.storage.memory import MemoryStorage

    class Careless(MemoryStorage):
        def append(self, name, kind, number, body, at, expected=None):
            try:
                return super().append(name, kind, number, body, at, expected)
            except RuntimeError:
                return 0

    with pytest.raises(AssertionError):
        StorageContract().test_a_round_ends_once(Careless())
