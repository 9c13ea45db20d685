"""Everything of a session that people starred, tagged or remarked on, in one list."""
