"""All trials of a session at once: a table, what the groups come to, and cases against agents."""
