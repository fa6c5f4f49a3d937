"""Shell completion and -h, of every command."""

import pytest

from mfbo.cli import main


def said(capsys, *words: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", [[], ["run"], ["study"], ["study", "ask"], ["data", "build"]])
def test_h_is_help(capsys, command):
    assert said(capsys, *command, "-h") == said(capsys, *command, "--help")


@pytest.mark.parametrize(
    ("line", "wanted"), [("mfbo stu", "study"), ("mfbo study as", "ask"), ("mfbo run --str", "--strategy")]
)
def test_words_are_completed(capsys, monkeypatch, line, wanted):
    monkeypatch.setenv("_MFBO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    assert wanted in said(capsys).split()
