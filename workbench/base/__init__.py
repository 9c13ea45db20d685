"""What stands under everything: errors, text, numbers, files, paths, settings."""
