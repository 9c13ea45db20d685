"""The Trajectory mode, which shows one trial step by step."""
