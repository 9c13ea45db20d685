"""The Sessions mode, which lists and manages session files, and a screen with the costs of all sessions."""
