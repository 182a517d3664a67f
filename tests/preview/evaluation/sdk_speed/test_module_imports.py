"""SDK packages imported a module at a time give what the whole package gives."""

import json
import subprocess
import sys

import pytest
from winkube.preview.evaluation.sdk_speed.module_imports import _modules_for, snake

pytestmark = pytest.mark.verify

# Both ask every public name of a package where it comes from; only the second imports module by module.
WHOLE = """
import importlib, json, sys
package = importlib.import_module(sys.argv[1])
getattr(package, "anything", None)  # wakes a module that waits for its first use
names = [n for n in dir(package) if not n.startswith("_")]
"""
STEPWISE = """
import importlib, json, sys
import pulumi._utils
from winkube.preview.evaluation.sdk_speed.module_imports import Package, import_package
pulumi._utils.lazy_import = import_package
top, _, rest = sys.argv[1].partition(".")
package = importlib.import_module(top)
for part in rest.split("."):
    package = getattr(package, part)
assert isinstance(package, Package), type(package)
names = json.load(sys.stdin)
"""
ANSWER = """
def origin(value):
    if isinstance(value, type(sys)):
        return ["module", value.__name__]
    return [type(value).__name__, getattr(value, "__module__", ""), getattr(value, "__qualname__", "")]
print(json.dumps({n: origin(getattr(package, n)) for n in names}))
"""


def run(code: str, package: str, names: list[str] | None = None) -> dict[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code + ANSWER, package],
        input=json.dumps(names), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "package",
    ["pulumi_aws.ec2", "pulumi_aws.iam", "pulumi_aws.eks", "pulumi_aws.s3", "pulumi_kubernetes.core.v1",
     "pulumi_kubernetes.helm.v3", "pulumi_kubernetes.yaml"],
)  # fmt: skip
def test_every_public_name_comes_from_where_it_always_came(package: str) -> None:
    """Each class, function and module of a package is the same, whichever way it is imported."""
    whole = run(WHOLE, package)
    assert len(whole) > 3
    assert run(STEPWISE, package, sorted(whole)) == whole


def test_a_name_that_is_nowhere_is_still_missing() -> None:
    code = (
        STEPWISE
        + "\ntry:\n    package.Nothing\nexcept AttributeError as e:\n    names = []\n    print(e, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, "pulumi_aws.sqs"], input="[]", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "module 'pulumi_aws.sqs' has no attribute 'Nothing'" in done.stderr


def test_one_class_does_not_run_the_package() -> None:
    """The point of it: a program that uses one class of a package does not pay for the others."""
    code = STEPWISE + "\npackage.Queue\nassert 'pulumi_aws.sqs.get_queues' not in sys.modules\nnames = []"
    assert run(code, "pulumi_aws.sqs", []) == {}


def test_a_star_import_gets_everything() -> None:
    code = STEPWISE + "\nexec('from pulumi_aws.sqs import *')\nassert Queue and get_queues_output\nnames = []"
    assert run(code, "pulumi_aws.sqs", []) == {}


def test_where_a_name_may_be_found() -> None:
    names = {"vpc": False, "_inputs": False, "get_vpc": False, "outputs": False, "v1": True, "ConfigMap": False}
    assert _modules_for("Vpc", names) == ["vpc"]
    assert _modules_for("VpcArgs", names) == ["vpc", "_inputs"]
    assert _modules_for("get_vpc_output", names) == ["get_vpc"]
    assert _modules_for("AwaitableGetVpcResult", names) == ["get_vpc"]
    assert _modules_for("ConfigMap", names) == ["ConfigMap"]
    assert _modules_for("Other", names) == []
    assert snake("S3BucketACL") == "s3_bucket_acl"
