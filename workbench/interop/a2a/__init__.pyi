from workbench.interop.a2a.card import PeerCard as PeerCard
from workbench.interop.a2a.card_check import ShownCard as ShownCard
from workbench.interop.a2a.card_check import shown_card as shown_card
from workbench.interop.a2a.installed import check_installed as check_installed
from workbench.interop.a2a.installed import is_installed as is_installed
from workbench.interop.a2a.peer import Peer as Peer
from workbench.interop.a2a.peer import PeerAsker as PeerAsker
from workbench.interop.a2a.peer import PeerLimits as PeerLimits
