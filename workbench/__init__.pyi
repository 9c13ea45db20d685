from workbench.interchange.frames import Session as Session
from workbench.interchange.frames import open_session as open_session

__version__: str
