"""What went wrong in a run: candidates by the way in which they fail, tasks that nobody solves, tests that fail most."""
