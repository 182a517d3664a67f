"""Cases of the rules in ``rules/windows_nodes/kubelet.py``."""

from ..base import BOOTSTRAP, GOOD_BOOTSTRAP
from .common import user_data

CASES = {
    "kubelet-arguments-safe": user_data(
        [GOOD_BOOTSTRAP],
        [
            f'{BOOTSTRAP} -KubeletExtraArgs "--anonymous-auth=true"',
            f'{BOOTSTRAP} -KubeletExtraArgs "--read-only-port=10255"',
        ],
        "in user data",
    ),
    "kubelet-arguments-known": user_data(
        [GOOD_BOOTSTRAP],
        [
            f'{BOOTSTRAP} -KubeletExtraArgs "--pod-infra-container-image=pause"',
            f'{BOOTSTRAP} -ContainerRuntime "docker"',
        ],
        "in user data",
    ),
}
