"""The Trajectory mode: one trial, step by step."""
