from workbench.cluster.address import ClusterError as ClusterError
from workbench.cluster.address import dask_address as dask_address
from workbench.cluster.address import require_package as require_package
from workbench.cluster.connection import Cluster as Cluster
from workbench.cluster.connection import connected as connected
from workbench.cluster.pool import ClusterPool as ClusterPool
