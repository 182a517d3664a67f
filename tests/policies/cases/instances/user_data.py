"""Cases of the rules in ``rules/instances/user_data.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import LAUNCH_TEMPLATE

from ..base import encoded, one, powershell

TOKEN = "kubeadm join --token abcdef.0123456789abcdef"

CASES = {
    "user-data-without-secrets": one(
        LAUNCH_TEMPLATE,
        [
            {},
            {"userData": encoded("#!/bin/bash\nPASSWORD=$(aws ssm get-parameter --name x)\n")},
            {"userData": encoded("kubeadm token create\n")},
        ],
        [
            {"userData": encoded(f"#!/bin/bash\n{TOKEN}\n")},
            {"userData": f"#!/bin/bash\n{TOKEN}\n"},
            {"userData": encoded("export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\n")},
            {"userData": powershell('$Password = "Winter2026!"')},
            {"userData": encoded("-----BEGIN RSA PRIVATE KEY-----\n")},
        ],
        [{"userData": UNKNOWN}],
        "user data holds a",
    ),
    "user-data-downloads-verified": one(
        LAUNCH_TEMPLATE,
        [
            {},
            {"userData": encoded("curl -s http://169.254.169.254/latest/meta-data/instance-id")},
            {"userData": powershell("iwr https://example.com/a.zip -OutFile a.zip", "Get-FileHash a.zip")},
        ],
        [
            {"userData": powershell("Invoke-WebRequest https://example.com/a.zip -OutFile a.zip")},
            {"userData": encoded("#!/bin/bash\ncurl -sSL https://example.com/install.sh | bash\n")},
        ],
        [{"userData": UNKNOWN}],
        "does not verify them",
    ),
}
