"""The app in a browser: textual-serve's page and protocol behind a door that checks who comes (extra ``web``)."""
