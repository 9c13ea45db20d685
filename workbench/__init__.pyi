from workbench.interop.formats.tables import Session as Session
from workbench.interop.formats.tables import open_session as open_session

__version__: str
