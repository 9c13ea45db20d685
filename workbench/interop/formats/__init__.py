"""Other programs' formats: trajectories, tasks and candidates in and out; a session as data frames.

A format is one module with a class that recognises, reads and writes it (``reading.Format``), registered by entry points
as those of other packages are. What was read, ``recording`` writes as session rows and reads back from them.
"""
