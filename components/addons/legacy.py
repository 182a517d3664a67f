"""Left-overs of the legacy Windows support, in which a controller and a webhook ran on the cluster's own nodes. Pure.

Since October 2021 both run in the control plane, and the new controller waits for as long as the old one is there: new
Windows pods get no address. ``docs/runbooks/legacy-windows-controllers.md`` says how to take them away. Source: EKS
user guide of 2022, "Windows support"; amazon-vpc-resource-controller-k8s ``pkg/condition/conditions.go``.
"""

from collections.abc import Mapping

from ..core.mistakes import Mistakes, Path, Rule

LEGACY_OBJECT = Rule(
    "WK-ADD-070",
    "Objects of the legacy Windows controllers must be removed from the cluster.",
    "https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/pkg/condition/conditions.go",
)

CONTROLLER, WEBHOOK = "vpc-resource-controller", "vpc-admission-webhook"
LEFT_OVERS: Mapping[tuple[str, str], str] = {
    ("Deployment", CONTROLLER): "while it exists, the control plane assigns no addresses to Windows pods",
    ("ServiceAccount", CONTROLLER): "it belongs to the old controller",
    ("ClusterRole", CONTROLLER): "it belongs to the old controller",
    ("ClusterRoleBinding", CONTROLLER): "it belongs to the old controller",
    ("Deployment", WEBHOOK): "the webhook of the control plane replaces it",
    ("Deployment", f"{WEBHOOK}-deployment"): "the webhook of the control plane replaces it",
    ("Service", WEBHOOK): "it belongs to the old webhook",
    ("Service", f"{WEBHOOK}-svc"): "it belongs to the old webhook",
    ("MutatingWebhookConfiguration", f"{WEBHOOK}-cfg"): "it calls a webhook whose certificate expires after a year",
    ("Secret", f"{WEBHOOK}-certs"): "it belongs to the old webhook",
    ("CertificateSigningRequest", f"{WEBHOOK}.kube-system"): "it belongs to the old webhook",
}
"""Kind and name of what is left behind, in ``kube-system`` or cluster-wide, with what it does.

The ClusterRoleBinding ``eks:kube-proxy-windows`` is none of them: kube-proxy on Windows nodes needs it still.
"""


def check_legacy_object(kind: str, name: str, namespace: str | None = None, path: Path = ()) -> Mistakes:
    """Whether a Kubernetes object belongs to the legacy Windows support (``WK-ADD-070``).

    >>> [mistake.rule.code for mistake in check_legacy_object("Service", "vpc-admission-webhook-svc", "kube-system")]
    ['WK-ADD-070']
    """
    found = Mistakes()
    why = LEFT_OVERS.get((kind, name))
    if why is not None and namespace in (None, "", "kube-system"):
        found.add(LEGACY_OBJECT, path, f"this {kind} remains from the legacy Windows support: {why}",
                  "remove it as described in docs/runbooks/legacy-windows-controllers.md", name)  # fmt: skip
    return found
