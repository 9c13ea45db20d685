"""All trials of a session: a table, group means, and cases against agents."""
