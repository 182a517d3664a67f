"""The pages about joining and migrating say what the code says."""

import dataclasses
import re
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from winkube.existing_clusters import self_managed
from winkube.instance_groups.group_args import WindowsInstanceGroupArgs
from winkube.tables.kubernetes import EKS_MINORS, newest

from tests.golden import has_schema

DOCS = Path(__file__).parents[2] / "docs"
JOIN = (DOCS / "join-existing-clusters.md").read_text(encoding="utf-8")
MIGRATE = (DOCS / "migrating-from-nodeup.md").read_text(encoding="utf-8")


def objects() -> list[dict[str, Any]]:
    """The Kubernetes objects of the page."""
    found = re.findall(r"^( *)```yaml\n(.*?)^ *```$", JOIN, flags=re.M | re.S)
    documents = [
        it for indent, block in found for it in yaml.safe_load_all(re.sub(f"^{indent}", "", block, flags=re.M))
    ]
    return [document for document in documents if "apiVersion" in document]


@pytest.mark.parametrize("sample", objects(), ids=lambda sample: f"{sample['kind']}-{sample['metadata']['name']}")
def test_the_objects_follow_the_schema_of_kubernetes(sample: dict[str, Any]) -> None:
    """Whoever copies them gets them admitted."""
    kubernetes_validate.validate(sample, newest(filter(has_schema, EKS_MINORS)), strict=True)


def test_the_script_of_the_job_is_one(tmp_path: Path) -> None:
    """Its syntax, and that it makes tokens of the right form."""
    (job,) = [sample for sample in objects() if sample["kind"] == "CronJob"]
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    (script,) = container["args"]
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    first = script.splitlines()[0]
    made = subprocess.run(["bash", "-euc", f"{first}\necho $(random 6).$(random 16)"], capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}\n", made.stdout)


def test_the_job_runs_often_enough() -> None:
    """Twice at least within the life of a token."""
    assert 'schedule: "*/20 * * * *"' in JOIN
    assert "'+1 hour'" in JOIN


def test_the_helpers_of_the_page_are_those_of_the_code() -> None:
    """Each is named, and the example's arguments exist."""
    for name in ("target_of_kops", "target_of_kubespray", "target_of_kubeadm"):
        assert f"`{name}`" in JOIN
        assert callable(getattr(self_managed, name))
    example = JOIN.partition("```python")[2].partition("```")[0]
    fields = {field.name for field in dataclasses.fields(self_managed.KopsCluster)}
    written = set(re.findall(r"^        (\w+)=", example, flags=re.M))
    assert written
    assert written <= fields


def test_every_old_input_is_mapped_onto_one_that_exists() -> None:
    """The second column names arguments of the group or of its target."""
    groups = {field.name for field in dataclasses.fields(WindowsInstanceGroupArgs)}
    rows = [line.split("|")[1:3] for line in MIGRATE.splitlines() if line.startswith("| ") and "---" not in line]
    named = {word for _, now in rows for word in re.findall(r"`([a-z_]+)(?:=False)?`", now)}
    assert named - groups == set()
    olds = " ".join(old for old, _ in rows)
    for old in ("additionalPolicies", "AutoGenerateWindowsTaints", "node-template/label", "node-template/taint",
                "ConfigBase", "flannel.kcfg", "additionalUserData"):  # fmt: skip
        assert old in olds
