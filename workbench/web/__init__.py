"""The app in a browser: textual-serve's page and protocol with access control (extra ``web``)."""
