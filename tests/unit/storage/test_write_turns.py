"""Threads that write through one storage take turns, and the last of them leaves the file whole without its log."""

import shutil
from concurrent.futures import ThreadPoolExecutor

from mfbo.storage import open_storage

WRITERS, EACH = 8, 5


def test_all_records_of_threads_are_in_the_file_itself_afterwards(tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path}/studies.db")
    for writer in range(WRITERS):
        storage.create(f"study {writer}", "{}")

    def written(writer):
        for number in range(EACH):
            storage.append(f"study {writer}", "asked", number, "{}", float(number))

    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(written, writer) for writer in range(WRITERS)]:
            done.result()
    shutil.copy(tmp_path / "studies.db", tmp_path / "copy.db")  # without what SQLite keeps beside it
    copy = open_storage(f"sqlite:///{tmp_path}/copy.db")
    for writer in range(WRITERS):
        assert [event.number for event in copy.events(f"study {writer}")] == list(range(EACH))
