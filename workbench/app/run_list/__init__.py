"""All runs of the open session: what was asked for, how far it is, and what can be done with it."""
