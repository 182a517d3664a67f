"""A kubeconfig for an EKS cluster that holds no secret: the token comes from the AWS CLI when it is used."""

import json


def kubeconfig(*, cluster_name: str, endpoint: str, certificate_authority: str, region: str) -> str:
    """The kubeconfig as JSON, which every reader of YAML understands.

    ``certificate_authority`` is base64, as EKS gives it.
    """
    arguments = ["--region", region, "eks", "get-token", "--cluster-name", cluster_name, "--output", "json"]
    named = {"name": cluster_name}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{**named, "cluster": {"server": endpoint, "certificate-authority-data": certificate_authority}}],
        "contexts": [{**named, "context": {"cluster": cluster_name, "user": cluster_name}}],
        "current-context": cluster_name,
        "users": [
            {
                **named,
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "aws",
                        "args": arguments,
                        "interactiveMode": "Never",
                        "provideClusterInfo": False,
                    }
                },
            }
        ],
    }
    return json.dumps(document, indent=2)
