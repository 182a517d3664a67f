"""What every component keeps, whichever it is: the contract of the library."""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pulumi_tls as tls
import pytest
import winkube
from pulumi import _types as pulumi_types
from pydantic.alias_generators import to_camel
from winkube.addons.self_managed_addons import SELF_MANAGED_ADDONS
from winkube.core.component import Component
from winkube.preview.checks.plan import check_plan
from winkube.preview.evaluation import sdk_types
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Plan, Resource, Secret, Severity, walk

ROOT = Path(__file__).resolve().parent.parent
TAGS = {"contract": "kept"}
SUBNETS = ("subnet-0a", "subnet-0b")
ISSUER = "https://oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF"
OIDC = f"arn:aws:iam::111122223333:oidc-provider/{ISSUER.removeprefix('https://')}"


def target() -> winkube.EksTarget:
    return winkube.EksTarget(
        name="c",
        kubernetes_version="1.36",
        endpoint="https://c",
        certificate_authority="Q0E=",
        security_group_id="sg-1",
    )


API = "api.c.example.com:6443"


def join_target() -> winkube.JoinTarget:
    return winkube.JoinTarget(
        cluster_name="c.example.com",
        kubernetes_version="1.36",
        region="eu-central-1",
        endpoint=API,
        token_parameter="/winkube/c.example.com/join-token",
        certificate_authority="-----BEGIN CERTIFICATE-----",
        vpc_id="vpc-1",
        bucket="boot",
        bucket_arn="arn:aws:s3:::boot",
        control_plane_security_group_ids=["sg-1"],
        node_security_group_ids=["sg-1", "sg-2"],
    )


def control_plane(**changes: Any) -> dict[str, Any]:
    return {
        "cluster_name": "c.example.com", "region": "eu-central-1", "kubernetes_version": "1.36", "vpc_id": "vpc-1",
        "vpc_cidrs": ["10.0.0.0/16"], "zones": ["eu-central-1a"], "subnet_ids": ["subnet-0a"], "slots": 1,
        "domain": "example.com", "zone_ids": {"private": "Z1"}, "bucket": "b-example",
        "bucket_arn": "arn:aws:s3:::b-example", "irsa": winkube.IrsaIssuer(), "tags": TAGS, **changes,
    }  # fmt: skip


Build = Callable[[str, pulumi.ResourceOptions], Component]

COMPONENTS: dict[str, Build] = {
    "ApiRecord": lambda name, opts: winkube.ApiRecord(
        name,
        winkube.ApiRecordArgs(
            cluster_name="c.example.com", domain="example.com", zone_ids={"private": "Z1"},
            balancer_dns_name="lb.elb.amazonaws.com", balancer_zone_id="Z2",
        ),
        opts,
    ),
    "ClusterZone": lambda name, opts: winkube.ClusterZone(
        name,
        winkube.ClusterZoneArgs(
            domain="dev.example.com", visibility="both", vpc_ids=["vpc-1"], parent_zone_id="Z1", tags=TAGS
        ),
        opts,
    ),
    "EksAddon": lambda name, opts: winkube.EksAddon(
        name, winkube.EksAddonArgs(cluster=target(), addon_name="coredns", tags=TAGS), opts
    ),
    "EksAddons": lambda name, opts: winkube.EksAddons(
        name,
        winkube.EksAddonsArgs(
            cluster=target(), region="eu-central-1", vpc_id="vpc-1", oidc_provider_arn=OIDC, oidc_issuer=ISSUER,
            addons=[
                winkube.AddonChoice(name=addon)
                for addon in ("aws-ebs-csi-driver", "aws-load-balancer-controller", "metrics-server")
            ],
            tags=TAGS,
        ),
        opts,
    ),
    "EksCluster": lambda name, opts: winkube.EksCluster(
        name,
        winkube.EksClusterArgs(
            cluster_name="c", region="eu-central-1", kubernetes_version="1.36", subnet_ids=SUBNETS, tags=TAGS,
            access_entries=[
                winkube.AccessEntry(
                    name="team", principal_arn="arn:aws:iam::111122223333:role/team",
                    policies=[winkube.AccessPolicy(policy="view")],
                )
            ],
        ),
        opts,
    ),
    "EksClusterRole": lambda name, opts: winkube.EksClusterRole(name, winkube.EksClusterRoleArgs(tags=TAGS), opts),
    "EksFargateProfile": lambda name, opts: winkube.EksFargateProfile(
        name, winkube.EksFargateProfileArgs(cluster=target(), subnet_ids=SUBNETS, tags=TAGS), opts
    ),
    "EksLinuxNodeGroup": lambda name, opts: winkube.EksLinuxNodeGroup(
        name, winkube.EksLinuxNodeGroupArgs(name="system", cluster=target(), subnet_ids=SUBNETS, tags=TAGS), opts
    ),
    "EksSecurityGroups": lambda name, opts: winkube.EksSecurityGroups(
        name, winkube.EksSecurityGroupsArgs(vpc_id="vpc-1", pod_ports=[winkube.PodPort(first=8080)], tags=TAGS), opts
    ),
    "EksWindowsImage": lambda name, opts: winkube.EksWindowsImage(
        name,
        winkube.EksWindowsImageArgs(
            region="eu-central-1", kubernetes_version="1.36", tags=TAGS,
            cached_images=["mcr.microsoft.com/windows/servercore:ltsc2022"],
            fast_launch=winkube.FastLaunch(account_id="111122223333"),
        ),
        opts,
    ),
    "EksWindowsNodeGroup": lambda name, opts: winkube.EksWindowsNodeGroup(
        name, winkube.EksWindowsNodeGroupArgs(name="windows", cluster=target(), subnet_ids=SUBNETS, tags=TAGS), opts
    ),
    "FluentBitWindows": lambda name, opts: winkube.FluentBitWindows(
        name, winkube.FluentBitWindowsArgs(cluster_name="c", region="eu-central-1", tags=TAGS), opts
    ),
    "GmsaCredentialSpec": lambda name, opts: winkube.GmsaCredentialSpec(
        name,
        winkube.GmsaCredentialSpecArgs(
            spec_name="web-app", account_name="WebApp", domain_name="corp.example.com", netbios_name="CORP",
            domain_guid="244818ae-87ac-4fcd-92ec-e79e5252348a", domain_sid="S-1-5-21-2126449477-2524075714-3094792973",
            users=[winkube.GmsaUser(namespace="team-a", service_account="web-app")],
        ),
        opts,
    ),
    "IrsaRole": lambda name, opts: winkube.IrsaRole(
        name,
        winkube.IrsaRoleArgs(
            namespace="team-a", service_account="web-app", oidc_provider_arn=OIDC, oidc_issuer=ISSUER, tags=TAGS
        ),
        opts,
    ),
    "KarpenterWindowsNodes": lambda name, opts: winkube.KarpenterWindowsNodes(
        name,
        winkube.KarpenterWindowsNodesArgs(
            cluster=target(), pool_name="windows2022", role_name="nodes", subnet_ids=SUBNETS,
            security_group_ids=["sg-1"], tags=TAGS,
        ),
        opts,
    ),
    "KarpenterWindowsRole": lambda name, opts: winkube.KarpenterWindowsRole(
        name, winkube.KarpenterWindowsRoleArgs(cluster=target(), tags=TAGS), opts
    ),
    "Network": lambda name, opts: winkube.Network(
        name,
        winkube.NetworkArgs(
            region="eu-central-1", intra_subnets=True, interface_endpoints=["sts"], cluster_names=["c"],
            windows_prefix_reservations=2, tags=TAGS,
        ),
        opts,
    ),
    "NodeRole": lambda name, opts: winkube.NodeRole(
        name, winkube.NodeRoleArgs(kind="eks-windows", instance_profile=True, tags=TAGS), opts
    ),
    "NtfsStorageClass": lambda name, opts: winkube.NtfsStorageClass(name, winkube.NtfsStorageClassArgs(), opts),
    "SmbStorageClass": lambda name, opts: winkube.SmbStorageClass(
        name,
        winkube.SmbStorageClassArgs(
            class_name="smb", share="//fs.corp.example.com/share", secret_name="smb", secret_namespace="kube-system"
        ),
        opts,
    ),
    "StateBucket": lambda name, opts: winkube.StateBucket(name, winkube.StateBucketArgs(tags=TAGS), opts),
    "WindowsIpam": lambda name, opts: winkube.WindowsIpam(
        name, winkube.WindowsIpamArgs(cluster=target(), tags=TAGS), opts
    ),
    "WindowsRuntimeClasses": lambda name, opts: winkube.WindowsRuntimeClasses(
        name, winkube.WindowsRuntimeClassesArgs(releases=["2022", "2025"]), opts
    ),
    "BootCode": lambda name, opts: winkube.BootCode(
        name, winkube.BootCodeArgs(cluster_name="c.example.com", bucket="boot", tags=TAGS), opts
    ),
    "CloudControllerManager": lambda name, opts: winkube.CloudControllerManager(
        name, winkube.CloudControllerManagerArgs(cluster_name="c", kubernetes_version="1.36", endpoint=API), opts
    ),
    "ControlPlaneRole": lambda name, opts: winkube.ControlPlaneRole(
        name, winkube.ControlPlaneRoleArgs(tags=TAGS), opts
    ),
    "Flannel": lambda name, opts: winkube.Flannel(
        name, winkube.FlannelArgs(endpoint=API), opts
    ),
    "InterruptionQueue": lambda name, opts: winkube.InterruptionQueue(
        name, winkube.InterruptionQueueArgs(tags=TAGS), opts
    ),
    "KubeletCsrApprover": lambda name, opts: winkube.KubeletCsrApprover(
        name, winkube.KubeletCsrApproverArgs(endpoint=API, node_cidrs=["10.0.0.0/16"]), opts
    ),
    "LinuxControlPlane": lambda name, opts: winkube.LinuxControlPlane(
        name, winkube.LinuxControlPlaneArgs(**control_plane()), opts
    ),
    "LinuxInstanceGroup": lambda name, opts: winkube.LinuxInstanceGroup(
        name, winkube.LinuxInstanceGroupArgs(name=name, target=join_target(), subnet_ids=SUBNETS, tags=TAGS), opts
    ),
    "NodeTaints": lambda name, opts: winkube.NodeTaints(
        name, winkube.NodeTaintsArgs(
            nodes=[
                winkube.NodeMarks(
                    node="i-1", labels={"a": "b"}, taints=[winkube.Taint(key="os", value="windows")]
                )
            ]
        ), opts
    ),
    "SampleWorkloads": lambda name, opts: winkube.SampleWorkloads(
        name, winkube.SampleWorkloadsArgs(releases=("2022", "2025")), opts
    ),
    "SelfManagedAddons": lambda name, opts: winkube.SelfManagedAddons(
        name, winkube.SelfManagedAddonsArgs(
            cluster_name="c", kubernetes_version="1.36", region="eu-central-1", vpc_id="vpc-1",
            oidc_provider_arn=OIDC, oidc_issuer=ISSUER, tags=TAGS,
            addons=[winkube.SelfManagedAddon(name=it) for it in SELF_MANAGED_ADDONS],
        ), opts
    ),
    "WindowsAdmission": lambda name, opts: winkube.WindowsAdmission(
        name,
        winkube.WindowsAdmissionArgs(kubernetes_version="1.36", releases=("2022", "2025"), linux_default=True),
        opts,
    ),
    "WindowsInstanceGroup": lambda name, opts: winkube.WindowsInstanceGroup(
        name, winkube.WindowsInstanceGroupArgs(name=name, target=join_target(), subnet_ids=SUBNETS, tags=TAGS), opts
    ),
    "WindowsKubeProxy": lambda name, opts: winkube.WindowsKubeProxy(
        name, winkube.WindowsKubeProxyArgs(endpoint=API), opts
    ),
    "WindowsLogs": lambda name, opts: winkube.WindowsLogs(
        name, winkube.WindowsLogsArgs(cluster_name="c", region="eu-central-1", tags=TAGS), opts
    ),
    "WindowsNodeImage": lambda name, opts: winkube.WindowsNodeImage(
        name, winkube.WindowsNodeImageArgs(target=join_target(), tags=TAGS), opts
    ),
    "WorkerSecurityGroup": lambda name, opts: winkube.WorkerSecurityGroup(
        name, winkube.WorkerSecurityGroupArgs(group="g", system="windows", target=join_target(), tags=TAGS), opts
    ),
}  # fmt: skip


def evaluated(kind: str, mode: str = "preview", name: str = "it") -> Plan:
    def build() -> None:
        aws_provider = aws.Provider("given-aws", region="eu-central-1")
        in_cluster = kubernetes.Provider("given-kubernetes", kubeconfig="{}")
        keys = tls.Provider("given-tls")
        COMPONENTS[kind](name, pulumi.ResourceOptions(providers=[aws_provider, in_cluster, keys]))

    return evaluate_function(build, mode=mode)


def component_of(plan: Plan, kind: str, name: str = "it") -> Resource:
    (found,) = [r for r in plan.resources if r.type == f"winkube:index:{kind}" and r.name == name]
    return found


def made(plan: Plan) -> list[Resource]:
    """The cloud resources, the given providers left out."""
    return [r for r in plan.resources if r.custom and not r.type.startswith("pulumi:providers:")]


def public_components() -> set[str]:
    return {
        name
        for name in winkube.__all__
        if inspect.isclass(getattr(winkube, name)) and issubclass(getattr(winkube, name), Component)
    }


def test_every_public_component_is_under_contract() -> None:
    assert set(COMPONENTS) == public_components()


both_modes = pytest.mark.parametrize("mode", ["preview", "update"])
every_component = pytest.mark.parametrize("kind", sorted(COMPONENTS))


@both_modes
@every_component
def test_it_evaluates_without_a_finding(kind: str, mode: str) -> None:
    """With unknowns as in a preview and with known values as in an update: no check finds anything."""
    plan = evaluated(kind, mode)
    findings = [f for f in [*plan.findings, *check_plan(plan)] if f.severity is not Severity.NOTE]
    assert findings == []


@every_component
def test_its_token_and_parent(kind: str) -> None:
    """The token is winkube:index:<Class>; everything else stands below it."""
    plan = evaluated(kind)
    top = component_of(plan, kind)
    assert made(plan), "a component makes something"
    for resource in made(plan):
        assert resource.urn.startswith(f"urn:pulumi:stack::project::winkube:index:{kind}$"), resource.urn
        assert resource.parent in plan.by_urn
    assert not top.custom


@every_component
def test_its_children_have_the_given_providers(kind: str) -> None:
    """No child falls back to a default provider."""
    for resource in made(evaluated(kind)):
        assert "::given-" in resource.options.provider, resource.urn


@every_component
def test_its_children_carry_its_name_first(kind: str) -> None:
    """Two instances never collide: every child's name begins with the component's."""
    for resource in made(evaluated(kind)):
        assert resource.name.startswith("it-"), resource.name

    def build() -> None:
        provider = aws.Provider("given-aws", region="eu-central-1")
        in_cluster = kubernetes.Provider("given-kubernetes", kubeconfig="{}")
        keys = tls.Provider("given-tls")
        for name in ("one", "two"):
            COMPONENTS[kind](name, pulumi.ResourceOptions(providers=[provider, in_cluster, keys]))

    evaluate_function(build)  # a duplicate URN would raise


def can_be_tagged(kind: str) -> bool:
    return "tags" in {field.name for field in fields(getattr(winkube, f"{kind}Args"))}


def tags_of(resource: Resource) -> Any:
    """What can be tagged has its tags here: mostly a mapping, of an Auto Scaling group a list; None otherwise."""
    if resource.type.endswith(":EC2NodeClass"):
        return resource.inputs["spec"].get("tags")
    cls = sdk_types.resource_class(resource.type)
    kinds = pulumi_types.resource_types(cls) if cls is not None else {}
    if "tagsAll" not in kinds and not ("tags" in kinds and resource.type.startswith("aws:")):
        return None
    tags = resource.inputs.get("tags", {})
    return {tag["key"]: tag["value"] for tag in tags} if isinstance(tags, list) else tags


@pytest.mark.parametrize("kind", [kind for kind in sorted(COMPONENTS) if can_be_tagged(kind)])
def test_it_tags_every_child_that_can_be_tagged(kind: str) -> None:
    found = {resource.urn: tags for resource in made(evaluated(kind)) if (tags := tags_of(resource)) is not None}
    assert found
    assert {urn: tags.get("contract") for urn, tags in found.items()} == dict.fromkeys(found, "kept")


@pytest.mark.parametrize("kind", [kind for kind in sorted(COMPONENTS) if not can_be_tagged(kind)])
def test_a_component_without_tags_makes_nothing_that_has_some(kind: str) -> None:
    for resource in made(evaluated(kind)):
        kind_of = sdk_types.resource_class(resource.type) or object
        assert "tags" not in pulumi_types.resource_types(kind_of), resource.urn


@both_modes
@every_component
def test_it_registers_real_outputs(kind: str, mode: str) -> None:
    """Outputs are registered, in camelCase, and each is an annotated attribute or a fact beside them."""
    plan = evaluated(kind, mode)
    outputs = component_of(plan, kind).outputs
    assert outputs
    assert all(key[0].islower() and "_" not in key for key in outputs)
    secret = {path[0] for path, value in walk(outputs) if isinstance(value, Secret)}
    assert secret <= ({"kubeconfig"} if kind == "LinuxControlPlane" else set())


@every_component
def test_its_outputs_are_annotated_and_documented(kind: str) -> None:
    cls = getattr(winkube, kind)
    assert cls.__doc__
    public = [name for base in cls.__mro__ if base.__module__.startswith("winkube")
              for name in inspect.get_annotations(base) if not name.startswith("_")]  # fmt: skip
    assert public


@every_component
def test_its_arguments_are_frozen_and_keyword_only(kind: str) -> None:
    args = getattr(winkube, f"{kind}Args")
    assert is_dataclass(args)
    assert args.__dataclass_params__.frozen
    assert all(field.kw_only for field in fields(args))
    parameters = list(inspect.signature(getattr(winkube, kind).__init__).parameters)
    assert parameters == ["self", "name", "args", "opts"]


@both_modes
@every_component
def test_no_secret_stands_in_plain_text(kind: str, mode: str) -> None:
    text = json.dumps([resource.inputs for resource in evaluated(kind, mode).resources], default=repr)
    for mark in ("PRIVATE KEY", "BEGIN RSA", "AKIA"):
        assert mark not in text


@every_component
def test_nothing_is_made_when_an_argument_is_wrong(kind: str) -> None:
    """A mistake is raised before anything is registered, with the component's class and name."""
    args = getattr(winkube, f"{kind}Args")
    wrong: dict[str, dict[str, Any]] = {
        "ApiRecord": {"cluster_name": "-", "domain": "example.com", "zone_ids": {}, "balancer_dns_name": "x",
                      "balancer_zone_id": "Z"},
        "ClusterZone": {"domain": "-"},
        "EksAddon": {"cluster": target(), "addon_name": "vpc-cni"},
        "EksAddons": {"cluster": target(), "region": "eu-central-1", "addons": [winkube.AddonChoice(name="notepad")]},
        "EksCluster": {"cluster_name": "c", "region": "eu-central-1", "kubernetes_version": "9.99",
                       "subnet_ids": SUBNETS},
        "EksClusterRole": {"path": "no-slash"},
        "EksFargateProfile": {"cluster": target(), "subnet_ids": SUBNETS, "selectors": ()},
        "EksLinuxNodeGroup": {"name": "g", "cluster": target(), "subnet_ids": SUBNETS, "linux": "gentoo"},
        "EksSecurityGroups": {"vpc_id": "vpc-1", "egress_cidrs": ["everywhere"]},
        "EksWindowsImage": {"region": "eu-central-1", "kubernetes_version": "1.34", "windows": "2025"},
        "EksWindowsNodeGroup": {"name": "g", "cluster": target(), "subnet_ids": SUBNETS, "windows": "95"},
        "FluentBitWindows": {"cluster_name": "c", "region": "eu-central-1", "log_retention_days": 100},
        "GmsaCredentialSpec": {"spec_name": "web-app", "account_name": "WebApp$", "domain_name": "corp",
                               "netbios_name": "CORP", "domain_guid": "", "domain_sid": "", "users": ()},
        "IrsaRole": {"namespace": "*", "service_account": "*"},
        "KarpenterWindowsNodes": {"cluster": target(), "pool_name": "Windows", "role_name": "nodes",
                                  "subnet_ids": SUBNETS, "security_group_ids": ["sg-1"]},
        "KarpenterWindowsRole": {"cluster": target(), "path": "no-slash"},
        "Network": {"region": "eu-central-1", "cidr": "10.0.0.0/8"},
        "NodeRole": {"kind": "mainframe"},
        "NtfsStorageClass": {"volume_type": "gp4"},
        "SmbStorageClass": {"class_name": "SMB", "share": "share", "secret_name": "s", "secret_namespace": "n"},
        "StateBucket": {"bucket_name": "UPPER"},
        "WindowsIpam": {"cluster": target(), "mode": "both"},
        "WindowsRuntimeClasses": {"releases": ["95"]},
        "BootCode": {"cluster_name": ".x", "bucket": "boot"},
        "CloudControllerManager": {"cluster_name": "c", "kubernetes_version": "1.20", "endpoint": API},
        "ControlPlaneRole": {"path": "no-slash"},
        "Flannel": {"endpoint": API, "port": 8472},
        "InterruptionQueue": {"tags": {"aws:x": "y"}},
        "KubeletCsrApprover": {"endpoint": API, "node_cidrs": ()},
        "LinuxControlPlane": control_plane(slots=2),
        "LinuxInstanceGroup": {"name": "g", "target": join_target(), "subnet_ids": SUBNETS, "min_size": 9},
        "NodeTaints": {"nodes": ()},
        "SampleWorkloads": {"releases": ("95",)},
        "SelfManagedAddons": {"cluster_name": "c", "kubernetes_version": "1.36", "region": "eu-central-1",
                              "addons": [winkube.SelfManagedAddon(name="notepad")]},
        "WindowsAdmission": {"kubernetes_version": "1.36", "mode": "refuse"},
        "WindowsInstanceGroup": {"name": "g", "target": join_target(), "subnet_ids": SUBNETS, "min_size": 9},
        "WindowsKubeProxy": {"endpoint": API, "port": 8472},
        "WindowsLogs": {"cluster_name": "c", "region": "eu-central-1", "log_retention_days": 100},
        "WindowsNodeImage": {"target": join_target(), "windows": "2019"},
        "WorkerSecurityGroup": {"group": "g", "system": "windows", "target": join_target(), "tags": {"aws:x": "y"}},
    }  # fmt: skip
    seen: list[str] = []

    def build() -> None:
        try:
            getattr(winkube, kind)("it", args(**wrong[kind]))
        except winkube.WinkubeError as error:
            seen.append(str(error))

    plan = evaluate_function(build)
    assert plan.resources == []
    assert seen
    assert seen[0].startswith(f'{kind} "it" cannot be built from these arguments:\n  {kind}(it).')


def named_words() -> set[str]:
    """The words of tests, examples and stack files, but for snapshots and for what goes over all arguments anyway."""
    sweeping = {"snapshots", "test_mirrors.py", "test_kubeadm_mirrors.py", "schema.json"}
    files = [path for folder in ("tests", "examples") for path in (ROOT / folder).rglob("*")
             if path.suffix in (".py", ".yaml", ".ts") and not sweeping & set(path.parts)]  # fmt: skip
    files += ROOT.glob("Pulumi.*.yaml")
    return {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


def test_every_argument_is_tried_somewhere() -> None:
    """A new argument that no test, example or stack file names has nothing to show what it does."""
    words = named_words()
    untried = [
        f"{name}.{field.name}"
        for name in winkube.__all__
        if is_dataclass(kind := getattr(winkube, name))
        for field in fields(kind)
        if not {field.name, to_camel(field.name)} & words
    ]
    assert untried == []
