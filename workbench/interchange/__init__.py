"""Other programs' formats: trajectories, candidates and verdicts in and out; a session as data frames.

Data flow, in: a file is recognised and read into a :class:`~workbench.interchange.trajectory.Trajectory`, which ``recording`` writes
as the rows that every screen reads, with what rows have no place for beside them. Out: ``recorded`` reads it back, and the module of
a format writes it. What a file does not say stays empty.
"""
