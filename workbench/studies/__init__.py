"""Studies: a declared matrix of agents and models on cases, or of doc systems and evaluators on repositories.

``declaration`` has the declared matrix, ``cell_work`` reads its results from sessions, ``outcome`` computes the
figures, ``study_reader`` does both for a running study, and ``comparing`` compares columns. Permutation tests and
resamples are in ``significance``, which imports numpy; the app runs it in another process.
"""
