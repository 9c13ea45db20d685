"""The parts of the Sessions mode: session files, what is in them and what can be done with them."""
