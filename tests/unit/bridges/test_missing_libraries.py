"""A bridge without its library says what to install."""

import importlib
import sys

import pytest

from mfbo.errors import MissingExtraError


@pytest.mark.parametrize(
    ("bridge", "library"), [("sklearn", "sklearn.base"), ("botorch", "torch"), ("optuna", "optunahub")]
)
def test_a_bridge_names_the_extra_it_needs(monkeypatch, bridge, library):
    monkeypatch.delitem(sys.modules, f"mfbo.bridges.{bridge}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf'needs {library}.*pip install "mfbo\[bridges\]"'):
        importlib.import_module(f"mfbo.bridges.{bridge}")
