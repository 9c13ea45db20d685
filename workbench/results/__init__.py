"""The read model: every query over a session and every figure made of it; faces only format them."""
