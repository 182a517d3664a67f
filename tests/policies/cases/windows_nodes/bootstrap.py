"""Cases of the rules in ``rules/windows_nodes/bootstrap.py``."""

from winkube.policies.model import UNKNOWN

from ..base import BOOTSTRAP, GOOD_BOOTSTRAP, Case, group, powershell, windows_group
from .common import IN_TEMPLATE, template, user_data

CASES = {
    "windows-bootstrap-addresses": user_data(
        [GOOD_BOOTSTRAP, "exit", f"$env:SERVICE_IPV4_CIDR = '10.100.0.0/16'\n{BOOTSTRAP}"],
        [BOOTSTRAP, f'{BOOTSTRAP} -DNSClusterIP "172.20.0.10"'],
        "it guesses",
    ),
    "windows-memory-reserved": user_data(
        [GOOD_BOOTSTRAP, "exit", f'{BOOTSTRAP} -KubeletExtraArgs "--system-reserved=memory=2Gi,ephemeral-storage=1Gi"'],
        [BOOTSTRAP, f'{BOOTSTRAP} -KubeletExtraArgs "--kube-reserved=memory=512Mi"'],
        "are reserved for the system",
    ),
    "windows-managed-group-bootstrap": Case(
        [
            [windows_group(**IN_TEMPLATE), template(userData=powershell("Set-TimeZone UTC"))],
            [group("w", "CUSTOM", **IN_TEMPLATE), template(userData=powershell(GOOD_BOOTSTRAP), imageId="ami-1")],
        ],
        [[windows_group(**IN_TEMPLATE), template(userData=powershell(GOOD_BOOTSTRAP))]],
        [[windows_group(**IN_TEMPLATE), template(userData=UNKNOWN)]],
        "the user data calls it again",
    ),
}
