"""Other programs' formats: trajectories, candidates and verdicts in and out; a session as data frames.

In: a file is recognised and read into a :class:`~workbench.interop.formats.trajectory.Trajectory`, which ``recording``
writes as session rows, and beside them what rows have no place for. Out: ``recorded`` reads it back, and the module of
a format writes it.
"""
