from workbench.checking.pages import check as check
from workbench.checking.pages import fixed as fixed
from workbench.checking.verdicts import BlockResult as BlockResult
from workbench.checking.verdicts import Checked as Checked
from workbench.checking.verdicts import Verdict as Verdict
