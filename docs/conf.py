"""How ``./run docs`` builds these pages as a site (Sphinx). On a forge the same files are read as they are."""

import sys
from pathlib import Path

from hybrid_contact_ros import __version__

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))

import reference_pages  # noqa: E402

project = "hybrid_contact_ros"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"{project} {version}"
html_copy_source = False
exclude_patterns = ["requirements.txt"]
nitpicky = False  # types of third parties in signatures have no pages here

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 5
# Links to sources, which are no pages, become names: the site stands alone. test/docs holds every link to what is
# there.
suppress_warnings = ["myst.xref_missing"]

autodoc_typehints = "none"  # the docstrings give shapes and units, which types do not know
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_use_ivar = True

reference_pages.write(DOCS / "generated")


def escape_bars(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """Absolute values in docstrings, |a|, are no substitutions; what is between double backquotes is left as it is."""
    for number, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[number] = "``".join(parts)


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("autodoc-process-docstring", escape_bars)
