"""Two trials of a session side by side: what only one of them did, saw, wrote and won."""
