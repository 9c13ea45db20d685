"""The Regeneration mode: what documentation is worth, task by task and sample by sample."""
