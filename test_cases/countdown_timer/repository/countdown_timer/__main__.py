"""Run the command line with ``python -m countdown_timer``."""

import sys

from countdown_timer.cli import main

if __name__ == "__main__":
    sys.exit(main())
