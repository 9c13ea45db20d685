"""Two things side by side, of one session or of two: trials, candidates, groups of candidates, runs."""
