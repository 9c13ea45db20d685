from workbench.checking.pages import check as check
from workbench.checking.pages import fixed as fixed
from workbench.checking.verdicts import BlockResult as BlockResult
from workbench.checking.verdicts import BlockVerdict as BlockVerdict
from workbench.checking.verdicts import CheckResult as CheckResult
