"""How the documentation site is built: `make docs`, offline."""

import mfbo

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
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
suppress_warnings = ["myst.xref_missing", "myst.header"]  # links to files beside docs/, which tests/integration checks
