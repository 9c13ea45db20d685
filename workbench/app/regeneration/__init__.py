"""The Regeneration mode, which measures the value of documentation by task and by sample."""
