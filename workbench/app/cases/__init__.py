"""The Cases mode: test cases and their files, and starting runs on them."""
