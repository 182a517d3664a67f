"""The test bed: real Kubernetes control planes as processes on loopback, with simulated nodes."""
