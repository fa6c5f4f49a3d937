"""How the documentation site is built: `make docs`, offline."""

import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import mfbo

sys.path.insert(0, str(Path(__file__).parent))
from page_runner import run_page

project = "mfbo"
author = "The mfbo founders"
release = version = mfbo.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx-mathjax-offline"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
html_theme = "furo"
html_title = "mfbo"
html_copy_source = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["narrow.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
suppress_warnings = ["myst.xref_missing", "myst.header"]  # links to files beside docs/, which tests/integration checks
logging.getLogger("mfbo").setLevel(logging.WARNING)  # furo's a11y_pygments makes the root logger tell all
RUN_PAGES = ("gallery", "tutorials/operator", "tutorials/researcher", "tutorials/developer")


def show_what_blocks_show(app: Sphinx, page: nodes.document) -> None:
    """Run the blocks of the pages named above, and put their text and figures below them."""
    name = app.env.docname
    if name not in RUN_PAGES:
        return
    kept = Path(app.doctreedir) / "drawn" / name
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        shown = run_page(Path(app.env.doc2path(name)).read_text(encoding="utf-8"), Path(folder))
        for block, result in zip(list(page.findall(nodes.literal_block)), shown, strict=True):
            below: list[nodes.Node] = []
            if result.text.strip():
                below.append(nodes.literal_block(result.text, result.text, language="text", classes=["shown"]))
            for figure in result.figures:
                copied = Path(shutil.copy(figure, kept))
                below.append(nodes.image(uri="/" + os.path.relpath(copied, app.srcdir), alt=figure.stem))
            at = block.parent.index(block)
            block.parent[at + 1 : at + 1] = below


def setup(app: Sphinx) -> dict[str, Any]:
    """Run pages before Sphinx collects their images."""
    app.connect("doctree-read", show_what_blocks_show, priority=400)
    return {"parallel_read_safe": False}
