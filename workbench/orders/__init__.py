"""Orders: work that a user requests from the engine."""
