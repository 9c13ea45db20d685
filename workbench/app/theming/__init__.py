"""How the app looks: themes from YAML files, checked, cached and read again when they change."""
