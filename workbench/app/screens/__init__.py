"""One screen a mode, and the short dialogs over them."""
