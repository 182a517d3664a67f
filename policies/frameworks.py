"""Frameworks that rules refer to, and why some of their controls have no rule.

- AWS FSBP: AWS Foundational Security Best Practices of Security Hub, with the related controls of its CIS, NIST
  and tagging standards (https://docs.aws.amazon.com/securityhub/latest/userguide/);
- CIS AWS: CIS Amazon Web Services Foundations Benchmark 3.0.0, numbers as Security Hub maps them;
- CIS EKS: CIS Amazon EKS Benchmark 1.8.0, and CIS Kubernetes 1.10, numbers as kube-bench has them.
"""

from collections.abc import Mapping

from .model import Reference

FSBP_NAME, FSBP_VERSION = "AWS FSBP", "1.0.0"
CIS_AWS_NAME, CIS_AWS_VERSION = "CIS AWS", "3.0.0"
CIS_EKS_NAME, CIS_EKS_VERSION = "CIS EKS", "1.8.0"
CIS_KUBERNETES_NAME, CIS_KUBERNETES_VERSION = "CIS Kubernetes", "1.10"


def fsbp(control: str) -> Reference:
    """A control of Security Hub."""
    return Reference(FSBP_NAME, FSBP_VERSION, control)


def cis_aws(control: str) -> Reference:
    """A recommendation of the CIS benchmark for AWS accounts."""
    return Reference(CIS_AWS_NAME, CIS_AWS_VERSION, control)


def cis_eks(control: str) -> Reference:
    """A recommendation of the CIS benchmark for EKS."""
    return Reference(CIS_EKS_NAME, CIS_EKS_VERSION, control)


def cis_kubernetes(control: str) -> Reference:
    """A recommendation of the CIS benchmark for Kubernetes."""
    return Reference(CIS_KUBERNETES_NAME, CIS_KUBERNETES_VERSION, control)


def eks_guide(page: str) -> Reference:
    """A page of the EKS user guide."""
    return Reference("Amazon EKS User Guide", "", page)


def best_practices(page: str) -> Reference:
    """A page of the EKS best practices guide."""
    return Reference("Amazon EKS Best Practices Guide", "", page)


def kubernetes_docs(page: str) -> Reference:
    """A page of the Kubernetes documentation."""
    return Reference("Kubernetes documentation", "", page)


def controls_page(service: str) -> str:
    """The page of Security Hub with the controls of a service."""
    return f"https://docs.aws.amazon.com/securityhub/latest/userguide/{service}-controls.html"


WINDOWS_COMPATIBILITY = kubernetes_docs("Windows containers in Kubernetes")
WINDOWS_COMPATIBILITY_PAGE = "https://kubernetes.io/docs/concepts/windows/intro/"
WINDOWS_AMI_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html"
LAUNCH_TEMPLATES_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"
RBAC_PAGE = "https://kubernetes.io/docs/concepts/security/rbac-good-practices/"
WINDOWS_SUPPORT_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html"
CIS_EKS_PAGE = "https://www.cisecurity.org/benchmark/kubernetes"
BEST_PRACTICES = "https://docs.aws.amazon.com/eks/latest/best-practices"

NOT_COVERED: Mapping[str, Mapping[str, str]] = {
    FSBP_NAME: {
        "EC2.17": "exempt: the VPC CNI attaches further interfaces to EKS nodes by design",
        "EC2.24": "whether an instance is paravirtual is a property of its image, which is not read before deployment",
        "ELB.18": "a TCP listener may carry TLS to the target; only plain HTTP is found (ELB.1)",
        "S3.12": "in part: ACLs that open a bucket, and ownership that keeps ACLs alive",
        "SSM.2": "patch compliance is a state of running instances",
        "SSM.3": "association compliance is a state of running instances",
        "GuardDuty.1": "in part: a detector that is switched off; that there is none is a matter of the account",
        "Inspector.1": "a switch of the account, not of the program",
        "Inspector.2": "a switch of the account, not of the program",
        "Config.1": "a switch of the account, not of the program",
        "SecretsManager.2": "whether a rotation succeeds is a state of the running service",
        "SecretsManager.3": "whether a secret is in use is a state of the running service",
    },
    CIS_AWS_NAME: {
        "1.1–1.14": "accounts, contacts, root user and passwords are no resources of a cluster's program",
        "1.17–1.22": "support role, certificates and Access Analyzer belong to the account",
        "2.2.1": "in part: where the program says it; the default of the account is not visible to it",
        "2.3": "databases are no part of this pack",
        "4.1–4.16": "monitoring of the account",
    },
    CIS_EKS_NAME: {
        "3.1.1": "file permissions on nodes are set by the image",
        "3.1.2": "file permissions on nodes are set by the image",
        "3.1.3": "file permissions on nodes are set by the image",
        "3.1.4": "file permissions on nodes are set by the image",
        "3.2.1–3.2.9": "kubelet flags are set by the image; those in user data are read (kubelet-arguments-safe)",
        "4.4.2": "in part: parameters in clear text; where else secrets could be is a decision, not a property",
        "4.5.1": "manual: boundaries between teams are a decision; the default namespace is found (4.5.2)",
        "5.1.2": "in part: a repository's own policy; IAM policies of people are outside of the program",
    },
    CIS_KUBERNETES_NAME: {
        "1–4": "control plane and node files belong to EKS; of self-managed clusters to the program's own settings",
        "5.1.7": "in part: access entries; the certificates of a self-managed control plane are not in the plan",
        "5.1.11": "approval of certificate signing requests: EKS signs by its own signers only",
        "5.2.7": "root in Linux containers is left to Pod Security admission (namespace-pod-security)",
        "5.2.8": "capabilities of Linux containers are left to Pod Security admission (namespace-pod-security)",
        "5.2.9": "capabilities of Linux containers are left to Pod Security admission (namespace-pod-security)",
        "5.2.10": "capabilities of Linux containers are left to Pod Security admission (namespace-pod-security)",
        "5.4.2": "manual: where else secrets could be is a decision, not a property",
        "5.5.1": "in part: that a tag means one image; provenance itself needs an admission controller",
        "5.7.1": "manual: boundaries between teams are a decision",
        "5.7.2": "seccomp is left to Pod Security admission (namespace-pod-security)",
        "5.7.3": "manual",
    },
}
"""Controls without a rule, or with half of one, and the reason."""
