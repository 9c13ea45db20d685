"""File formats of other programs: import and export of trajectories, tasks and candidates; sessions as data frames.

Each format is a class that recognises, reads and writes it (``reading.Format``), registered by entry points like those of
other packages. ``recording`` converts trajectories to session rows and back.
"""
