"""The read model: every query over a session and every figure that is made of one, as typed functions.

Below it stand the session (the file, its rows, its writer) and the domain; above it everything that shows or compares
results. A face formats what it gets from here and counts nothing itself.
"""
