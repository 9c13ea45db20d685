"""Statistics of means over tasks that are similar within files and repositories: intervals, differences, rankings.

Plain Python that is as cheap to import as the standard library, except for ``resampling`` and ``correlations``. These
import numpy to compute, and are meant for engine, report and command processes.
"""

import lazy_loader

# Nothing is imported here, because a package that imports its own modules can deadlock with a thread that imports one
# of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "intervals": ["Interval", "ClusteredValues", "Value", "clusters_of", "difference_interval", "share_interval"],
    },
)
