from workbench.statistics.intervals import ClusteredValues as ClusteredValues
from workbench.statistics.intervals import Interval as Interval
from workbench.statistics.intervals import Value as Value
from workbench.statistics.intervals import clusters_of as clusters_of
from workbench.statistics.intervals import difference_interval as difference_interval
from workbench.statistics.intervals import share_interval as share_interval
