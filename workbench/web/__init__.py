"""The app in a browser: the page and protocol of textual-serve, with access control (extra ``web``)."""
