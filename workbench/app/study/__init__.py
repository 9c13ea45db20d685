"""The Study mode: a study as a live matrix, with its comparison, rankings and leaderboard."""
