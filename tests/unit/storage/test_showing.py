"""No password in any output, whatever the scheme or spelling."""

import json
import traceback

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mfbo import Population, create_study, load_study
from mfbo.cli import main
from mfbo.errors import InvalidInputError, MfboError
from mfbo.storage import open_storage
from mfbo.storage.addresses import showable

SECRET = "Geh31m-n1s"
ADDRESSES = [
    f"postgres://mfbo:{SECRET}@127.0.0.1:1/x",
    f"postgresql://mfbo:{SECRET}@127.0.0.1:1/x",
    f"postgresql+psycopg://mfbo:{SECRET}@127.0.0.1:1/x",
    f"postgresql+psycopg://127.0.0.1:1/x?user=mfbo&password={SECRET}",
    f"postgresql+psycopg://127.0.0.1:1/x?sslpassword={SECRET}&sslmode=prefer",
    f"postgresql+psycopg://127.0.0.1:1/x?PassWord={SECRET}",
    f"postgresql://127.0.0.1:1/x?p%61ssword={SECRET}",
    f"postgresql://mfbo:{SECRET}@127.0.0.1:port/x",
    f"postgresql://mfbo:{SECRET}@127.0.0.1:99999999/x",
    f"postgresql://mfbo:a@b/{SECRET}?c@127.0.0.1:1/x",
    f"postgresql://mfbo:{SECRET}",
    f"mysql://root:{SECRET}@127.0.0.1/x",
    f"POSTGRESQL://mfbo:{SECRET}@127.0.0.1:1/x",
    f"postgresql:mfbo:{SECRET}@127.0.0.1",
    f"mfbo:{SECRET}@127.0.0.1",
    f"host=127.0.0.1 port=1 password={SECRET}",
    f"host=127.0.0.1 password = '{SECRET} and more'",
    f"sqlite:///x.db?password={SECRET}",
    f"://mfbo:{SECRET}@127.0.0.1",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_message_and_no_traceback_holds_it(address, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MFBO_STORAGE", address)
    for call in (open_storage, lambda given: load_study("one", given), lambda given: open_storage(given.encode())):
        with pytest.raises(MfboError) as raised:
            call(address)
        assert SECRET not in "".join(traceback.format_exception(raised.value))
    with pytest.raises(MfboError) as raised:
        create_study(Population(["a", "b"]), storage=address, name="one")
    assert SECRET not in str(raised.value)
    for command in (
        ["list"],
        ["doctor", "--json"],
        ["doctor", "--yes"],
        ["upgrade"],
        ["ask", "one"],
        ["delete", "one"],
    ):
        with pytest.raises(SystemExit) as end:
            main(["study", *command])
        said = capsys.readouterr()
        assert end.value.code == 2
        assert SECRET not in said.out + said.err
        assert len(said.err.splitlines()) == 1


def test_a_server_that_answers_is_shown_without_it_too(postgres_database, capsys):
    address = postgres_database().replace("mfbo@", f"mfbo:{SECRET}@")
    study = create_study(Population(["a", "b"]), storage=address, name="one")
    study.storage.close()
    for command in (["doctor"], ["list"], ["upgrade"], ["delete", "one"]):
        with pytest.raises(SystemExit):
            main(["study", *command, "--storage", address])
        said = capsys.readouterr()
        assert SECRET not in said.out + said.err
    with pytest.raises(SystemExit):
        main(["study", "doctor", "--json", "--storage", address])
    shown = json.loads(capsys.readouterr().out)["storage"]
    assert shown == address.replace(SECRET, "***")


@pytest.mark.parametrize(
    "address",
    [
        "memory",
        "sqlite:///x@y:z.db",
        "sqlite:////tmp/a b.db",
        "postgresql+psycopg://mfbo@127.0.0.1:5432/x?sslmode=require",
    ],
)
def test_an_address_without_a_secret_is_shown_as_it_is(address):
    assert showable(address) == address


@given(st.text(st.characters(exclude_characters="*"), min_size=5).filter(lambda text: "@" not in text))
@example("a/b?c=d&e")
def test_any_password_is_hidden(password):
    assert password not in showable(f"postgresql://user:{password}@host:5432/studies").replace("user:***@host:5432", "")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sqlite:///x.db?mode=ro", "takes no settings"),
        ("sqlite:///file:x.db?uri=true", "takes no settings"),
        ("postgresql://h:12x/d", "the port a number"),
        ("sqlite://x.db", "names no file"),
        ("sqlite:///a\0b.db", "NUL"),
    ],
)
def test_odd_addresses_are_refused_in_words(address, said):
    with pytest.raises(InvalidInputError, match=said):
        open_storage(address)
