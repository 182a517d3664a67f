"""A cluster with Windows nodes in which nearly everything is wrong; ``expected.yaml`` lists what has to be found."""

import access
import cluster
import network
import storage
import workloads

vpc, subnets = network.build()
access.build()
storage.build()
main = cluster.build(vpc, subnets)
workloads.build(main)
