"""Better docstrings for the tasks of a run: asked for in a dialog, followed while they are tested, and handed over."""
