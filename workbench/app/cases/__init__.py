"""The Cases mode: what can be worked on, browsed before and without a run."""
