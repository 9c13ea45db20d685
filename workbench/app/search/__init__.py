"""Search over all texts of the open session, or of all sessions: what is asked, hits with the lines around them, facets."""
