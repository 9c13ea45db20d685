"""What a person asks the engine for."""
