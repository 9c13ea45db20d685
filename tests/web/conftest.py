"""The support code of this folder is found from its tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
