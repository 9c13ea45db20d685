"""Two things side by side: trials, sets of trials, tasks, samples, groups of samples, of one session or of two.

A module for each kind reads the two, compares them, and declares as a :class:`~workbench.comparison.panes.Kind` what is
shown of that; the app, ``workbench compare`` and its Markdown render these declarations.
"""
