from workbench.interchange.tables import Session as Session
from workbench.interchange.tables import open_session as open_session

__version__: str
