"""The Cases mode, which shows test cases and their files and starts runs on them."""
