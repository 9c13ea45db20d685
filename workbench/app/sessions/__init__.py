"""The Sessions mode: session files, their contents and what can be done with them; and the costs over all sessions."""
