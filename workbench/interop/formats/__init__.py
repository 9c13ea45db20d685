"""Other programs' file formats: trajectories, tasks and candidates to import and export; sessions as data frames.

Each format is a class that recognises, reads and writes it (``reading.Format``), registered through entry points like
the formats of other packages. ``recording`` converts trajectories to session rows and back.
"""
