"""No secret leaves its place: looked for in everything that a plan shows, with real keys and certificates."""

import base64
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from winkube.control_plane.args import IrsaIssuer
from winkube.instance_groups.groups import LinuxInstanceGroup, WindowsInstanceGroup
from winkube.preview.checks.policy_runner import run_policies
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Plan, Secret, unwrap_secrets, walk
from winkube.preview.output.plan_formats import json_text

from tests.instance_groups.samples import linux_args, windows_args

from .planes import update, usual

POLICIES = Path(__file__).parents[2] / "policies"
MARKS = ("PRIVATE KEY", "client-key-data", "secretbox:")


@cache
def plans() -> dict[str, Plan]:
    image = f"registry.example.com/aws-encryption-provider@sha256:{'0' * 64}"
    return {
        "usual": usual(),
        "rsa": update(encryption_algorithm="RSA-2048", irsa=IrsaIssuer(publish="s3"), etcd_volume_size_gib=20),
        "kms": update(secrets_encryption="kms", kms_plugin_image=image, slots=1, zones=("eu-central-1a",),
                      subnet_ids=("subnet-0a",)),
    }  # fmt: skip


LABELS = ("usual", "rsa", "kms")


def secrets_of(plan: Plan) -> set[str]:
    """What is secret in a plan: bodies of private keys, and the key of the Kubernetes secrets."""
    found: set[str] = set()
    for resource in plan.resources:
        for _, value in walk({"inputs": resource.inputs, "outputs": resource.outputs}):
            if isinstance(value, Secret) and isinstance(value.value, str):
                text = value.value
                found.update(re.findall(r"-----BEGIN [A-Z ]*PRIVATE KEY-----\n(.*?)\n-----END", text, re.DOTALL))
                found.update(re.findall(r'secret: "?([A-Za-z0-9+/=]{44})"?', text))
    # An RSA key begins with its modulus, which is public: a quarter of the whole.
    bodies = (body.split("\n") for body in found)
    return {line for lines in bodies for line in lines[len(lines) * 3 // 10 :] if len(line) >= 40}


def shown(plan: Plan) -> Iterator[tuple[str, str]]:
    """Every text that is not marked as secret, user data and other base64 also decoded."""
    for resource in plan.resources:
        where = {"inputs": resource.inputs, "outputs": resource.outputs, "options": vars_of(resource.options)}
        for path, value in walk(where):
            if isinstance(value, str):
                yield f"{resource.name} {path}", value
                if path[-1] == "userData":
                    yield f"{resource.name} {path} decoded", base64.b64decode(value).decode()
    for name, value in walk(plan.outputs):
        if isinstance(value, str):
            yield str(name), value


def vars_of(options: Any) -> dict[str, Any]:
    return {name: str(getattr(options, name)) for name in type(options).__slots__}


@pytest.mark.parametrize("label", LABELS)
def test_there_are_secrets_to_look_for(label: str) -> None:
    """Else the tests below would pass over nothing."""
    assert len(secrets_of(plans()[label])) >= 12


@pytest.mark.parametrize("label", LABELS)
def test_no_secret_stands_in_plain_in_what_a_plan_shows(label: str) -> None:
    """Inputs, outputs, user data, tags, node documents, policies; also encoded once more."""
    plan = plans()[label]
    secret = secrets_of(plan)
    encoded = {base64.b64encode(text.encode()).decode()[:40] for text in secret}
    for place, text in shown(plan):
        for mark in MARKS:
            assert mark not in text, place
        for value in secret | encoded:
            assert value not in text, place


@pytest.mark.parametrize("label", LABELS)
def test_no_secret_stands_in_the_rendered_plan(label: str) -> None:
    """What a pull request shows and a snapshot keeps."""
    text = json_text(plans()[label])
    for value in secrets_of(plans()[label]):
        assert value not in text


@pytest.mark.parametrize("label", LABELS)
def test_nodes_find_their_secrets_and_workers_are_told_none(label: str) -> None:
    """Each document names the objects, and each object is there."""
    plan = plans()[label]
    objects = {unwrap_secrets(r.inputs["key"]): r for r in plan.resources if r.type.endswith(":BucketObjectv2")}
    documents = [json.loads(r.inputs["content"]) for key, r in objects.items() if "/nodes/control-plane/" in str(key)]
    assert documents
    for document in documents:
        assert document["secrets"]
        for secret in document["secrets"]:
            held = objects[secret["key"]].inputs["content"]
            assert isinstance(held, Secret)
            if secret["path"].endswith((".key", ".yaml")):
                assert secret["mode"] == "0600"


SHARED_FILES = {
    "/etc/kubernetes/pki/ca.crt": "0644",
    "/etc/kubernetes/pki/ca.key": "0600",
    "/etc/kubernetes/pki/etcd/ca.crt": "0644",
    "/etc/kubernetes/pki/etcd/ca.key": "0600",
    "/etc/kubernetes/pki/front-proxy-ca.crt": "0644",
    "/etc/kubernetes/pki/front-proxy-ca.key": "0600",
    "/etc/kubernetes/pki/sa.key": "0600",
    "/etc/kubernetes/pki/sa.pub": "0644",
    "/etc/kubernetes/winkube/encryption.yaml": "0600",
}
"""All that a slot is given of other nodes: every other certificate is made on the node, for the node."""


def documents_of(plan: Plan, folder: str) -> list[dict[str, Any]]:
    """The node documents of a group."""
    objects = [r.inputs for r in plan.resources if r.type.endswith(":BucketObjectv2")]
    return [json.loads(unwrap_secrets(it["content"])) for it in objects if f"/nodes/{folder}/" in str(it["key"])]


def test_each_slot_is_given_just_these_files() -> None:
    documents = documents_of(usual(), "control-plane")
    assert len(documents) == 3
    for document in documents:
        assert {secret["path"]: secret["mode"] for secret in document["secrets"]} == SHARED_FILES
        assert not [file["path"] for file in document["files"] if file["path"].startswith("/etc/kubernetes/pki/")]


def test_workers_are_given_just_these_files() -> None:
    """The certificate of the cluster's authority, and no key."""

    def build() -> None:
        LinuxInstanceGroup("lin", linux_args(name="linux"))
        WindowsInstanceGroup("win", windows_args(name="windows"))

    plan = evaluate_function(build, mode="update")
    (linux,), (windows,) = documents_of(plan, "linux"), documents_of(plan, "windows")
    assert linux["secrets"] == []
    assert sorted(file["path"] for file in linux["files"]) == [
        "/etc/containerd/config.toml",
        "/etc/crictl.yaml",
        "/etc/kubernetes/credential-provider.yaml",
        "/etc/systemd/system/containerd.service",
        "/etc/systemd/system/kubelet.service",
        "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf",
    ]
    assert sorted(file["path"] for file in windows["files"]) == [
        r"C:\Program Files\containerd\config.toml",
        r"C:\etc\kubernetes\pki\ca.crt",
        r"C:\k\crictl.yaml",
        r"C:\var\lib\kubelet\config.json",
    ]
    for document in (linux, windows):
        assert "PRIVATE KEY" not in json.dumps(document)


def told_of_objects(plan: Plan) -> set[str]:
    """The objects of which the policy pack says that they hold a private key."""
    found = run_policies(plan, POLICIES)
    return {one.urn.rpartition("::")[2] for one in found if one.code.endswith("/object-without-secrets")}


def test_the_policy_of_objects_accepts_the_authorities_for_their_key_alone() -> None:
    """With real keys: an object that holds one names a key that only its reader may use."""
    plan = update()
    assert told_of_objects(plan) == set()
    for resource in plan.resources:
        if resource.type.endswith(":BucketObjectv2"):
            resource.inputs.pop("kmsKeyId", None)
    assert told_of_objects(plan) == {
        f"cp-pki-{name}" for name in ("ca.key", "etcd-ca.key", "front-proxy-ca.key", "sa.key")
    }


def test_the_join_token_s_parameter_starts_without_one() -> None:
    (parameter,) = [r for r in usual().resources if r.type == "aws:ssm/parameter:Parameter"]
    assert parameter.inputs["value"] == Secret("none")
    assert parameter.inputs["type"] == "SecureString"
    assert parameter.options.ignore_changes == ("value",)
