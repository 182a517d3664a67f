"""Pure knowledge can be used without any SDK: settings are judged before one is imported."""

import subprocess
import sys

import pytest

PURE = (
    "winkube.network.cidrs",
    "winkube.network.endpoints",
    "winkube.network.plan",
    "winkube.network.ports",
    "winkube.roles.actions",
    "winkube.roles.role_rules",
    "winkube.roles.policy_documents",
    "winkube.roles.patterns",
    "winkube.roles.validation",
    "winkube.state_bucket.bucket_rules",
    "winkube.state_bucket.bucket_policies",
    "winkube.state_bucket.layout",
    "winkube.tables.regions",
    "winkube.zone.names",
)


@pytest.mark.parametrize("module", PURE)
def test_a_pure_module_imports_no_sdk(module: str):
    """A fresh interpreter that imports it has loaded neither pulumi nor policy_sentry."""
    program = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not {"pulumi", "pulumi_aws", "pulumi_kubernetes", "policy_sentry", "pydantic"} & set(ran.stdout.split())
