"""A terminal workbench for documentation agents: run them, trace them, score them, and test the quality of their docs.

From Python: ``from workbench import open_session`` gives the tables of a session as data frames (docs/reference/python.md).
"""

import lazy_loader

__version__ = "0.1.0"

# Nothing is imported here: `workbench --version` and the app's first paint must not wait for it.
__getattr__, _, _ = lazy_loader.attach(__name__, submod_attrs={"interop.formats.tables": ["Session", "open_session"]})
