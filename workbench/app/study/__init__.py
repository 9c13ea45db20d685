"""The Study mode: a declared matrix while it is executed, and its comparison, rankings and leaderboard."""
