"""The read model: every query over a session and every figure derived from it; user interfaces only format them."""
