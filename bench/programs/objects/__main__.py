"""Kubernetes objects of the smallest shape."""

import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("cluster", kubeconfig="{}")
for index in range(pulumi.Config().require_int("count")):
    kubernetes.core.v1.ConfigMap(
        f"object{index}",
        metadata={"name": f"object{index}", "labels": {"app": "bench"}},
        data={"key": f"value {index}"},
        opts=pulumi.ResourceOptions(provider=provider),
    )
