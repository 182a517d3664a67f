"""What a cluster with Windows nodes runs beside its workloads: drivers, controllers, logs, credentials."""
