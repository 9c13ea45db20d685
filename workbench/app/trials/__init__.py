"""The Trials screen: all trials of a session in a table, group means, and a matrix of cases and agents."""
