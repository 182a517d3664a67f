"""Generates ``replacements.json``: the properties whose change makes a provider replace the resource.

There are three sources, and each entry names its own:

``c``
    ``createOnlyProperties`` of the CloudFormation schemas that cfn-lint carries, for AWS types whose name and
    property names can be matched one to one. CloudFormation's handlers are not those of the provider, but what
    they update in place, the provider nearly always updates in place as well.
``d``
    The docstrings of the SDK, where they state it without a condition.
``p``
    The source of a provider, for types whose CloudFormation schema is structured differently.

Run it with the development tools installed: ``python preview/comparison/refresh_replacements.py``. Nothing is imported
from the SDK: its files are read as text.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata, util
from pathlib import Path
from typing import Any

TARGET = Path(__file__).with_name("replacements.json")

# -- what the provider's source says (terraform-provider-aws, internal/service/<service>, read 2026-11) ---------

PROVIDER: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    # Every change but the name's makes a new version of the template.
    "aws:ec2/launchTemplate:LaunchTemplate": {"yes": ("name", "namePrefix"), "no": ("*",)},
    "aws:eks/nodeGroup:NodeGroup": {
        "yes": ("nodeGroupNamePrefix", "launchTemplate.id", "launchTemplate.name"), "no": ("launchTemplate.version",),
    },
    # The group looks its template up by each new instance.
    "aws:autoscaling/group:Group": {
        "yes": ("initialLifecycleHooks",),
        "no": ("launchConfiguration", "launchTemplate", "mixedInstancesPolicy", "instanceRefresh", "minSize", "maxSize",
               "desiredCapacity", "defaultCooldown", "maxInstanceLifetime"),
    },
    "aws:autoscaling/tag:Tag": {"yes": ("autoscalingGroupName", "tag.key"), "no": ("*",)},
    "aws:ec2/flowLog:FlowLog": {
        "yes": ("deliverCrossAccountRole", "destinationOptions", "eniId", "iamRoleArn", "logDestination",
                "logDestinationType", "logFormat", "maxAggregationInterval", "regionalNatGatewayId", "subnetId",
                "trafficType", "transitGatewayAttachmentId", "transitGatewayId", "vpcId"),
    },
    # It is detached from one VPC and attached to the other.
    "aws:ec2/internetGateway:InternetGateway": {"no": ("*",)},
    "aws:iam/rolePolicy:RolePolicy": {"yes": ("name", "namePrefix", "role"), "no": ("*",)},
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": {"yes": ("role", "policyArn")},
    "aws:kms/key:Key": {
        "yes": ("customKeyStoreId", "customerMasterKeySpec", "keyUsage", "multiRegion", "xksKeyId"), "no": ("*",),
    },
    "aws:kms/keyPolicy:KeyPolicy": {"no": ("policy", "bypassPolicyLockoutSafetyCheck")},
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": {"yes": ("bucket",), "no": ("*",)},
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": {
        "yes": ("bucket", "expectedBucketOwner"), "no": ("*",),
    },
    "aws:s3/bucketVersioning:BucketVersioning": {"yes": ("bucket", "expectedBucketOwner"), "no": ("*",)},
}  # fmt: skip
"""Type to properties; ``*`` stands for every property that is not named."""

# -- which CloudFormation type is meant -------------------------------------------------------------------------

SERVICES: Mapping[str, tuple[str, ...]] = {
    "acm": ("certificatemanager",), "alb": ("elasticloadbalancingv2",), "cfg": ("config",),
    "cloudwatch": ("cloudwatch", "logs", "events"), "ebs": ("ec2",), "ec2transitgateway": ("ec2",),
    "elb": ("elasticloadbalancing",), "lb": ("elasticloadbalancingv2",), "sfn": ("stepfunctions",), "vpc": ("ec2",),
}  # fmt: skip
"""Module of the SDK to CloudFormation's service where the names differ."""
TYPES: Mapping[str, str | None] = {
    "aws:autoscaling/group:Group": "AWS::AutoScaling::AutoScalingGroup",
    "aws:autoscaling/policy:Policy": "AWS::AutoScaling::ScalingPolicy",
    "aws:cloudwatch/eventRule:EventRule": "AWS::Events::Rule",
    "aws:cloudwatch/logGroup:LogGroup": "AWS::Logs::LogGroup",
    "aws:cloudwatch/metricAlarm:MetricAlarm": "AWS::CloudWatch::Alarm",
    "aws:ebs/volume:Volume": "AWS::EC2::Volume",
    "aws:ec2/networkAclRule:NetworkAclRule": "AWS::EC2::NetworkAclEntry",
    "aws:ec2/routeTableAssociation:RouteTableAssociation": "AWS::EC2::SubnetRouteTableAssociation",
    "aws:ec2/vpcDhcpOptions:VpcDhcpOptions": "AWS::EC2::DHCPOptions",
    "aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation": "AWS::EC2::VPCDHCPOptionsAssociation",
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": "AWS::EC2::VPCCidrBlock",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": "AWS::IAM::OIDCProvider",
    "aws:iam/policy:Policy": "AWS::IAM::ManagedPolicy",
    "aws:rds/cluster:Cluster": "AWS::RDS::DBCluster",
    "aws:rds/instance:Instance": "AWS::RDS::DBInstance",
    "aws:rds/parameterGroup:ParameterGroup": "AWS::RDS::DBParameterGroup",
    "aws:rds/subnetGroup:SubnetGroup": "AWS::RDS::DBSubnetGroup",
    "aws:route53/record:Record": "AWS::Route53::RecordSet",
    "aws:route53/zone:Zone": "AWS::Route53::HostedZone",
    "aws:s3/bucketV2:BucketV2": "AWS::S3::Bucket",
    "aws:sns/topicSubscription:TopicSubscription": "AWS::SNS::Subscription",
    # The provider's rule is changed in place, CloudFormation's is another object.
    "aws:ec2/launchTemplate:LaunchTemplate": None,
}
"""Types whose CloudFormation name does not follow; None where the schemas must not be taken for each other."""

PROPERTIES: Mapping[str, Mapping[str, str]] = {
    "aws:ec2/securityGroup:SecurityGroup": {"name": "GroupName", "description": "GroupDescription"},
    "aws:eks/cluster:Cluster": {"enabledClusterLogTypes": "Logging", "vpcConfig": "ResourcesVpcConfig"},
    "aws:route53/zone:Zone": {"tags": "HostedZoneTags", "comment": "HostedZoneConfig"},
}
"""Properties whose CloudFormation name does not follow."""

# -- what the Kubernetes provider's source says (pulumi-kubernetes, provider/pkg/provider/diff.go) ---------------

_CONTAINER = ("args", "command", "env", "image", "imagePullPolicy", "lifecycle", "livenessProbe", "ports",
              "readinessProbe", "resources", "securityContext", "stdin", "stdinOnce", "terminationMessagePath",
              "terminationMessagePolicy", "tty", "volumeDevices", "volumeMounts", "workingDir")  # fmt: skip
_POD = ("affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases",
        "hostIPC", "hostNetwork", "hostPID", "hostname", "imagePullSecrets", "nodeName", "nodeSelector", "overhead",
        "preemptionPolicy", "priority", "priorityClassName", "readinessGates", "restartPolicy", "runtimeClassName",
        "schedulerName", "securityContext", "serviceAccount", "serviceAccountName", "shareProcessNamespace",
        "subdomain", "terminationGracePeriodSeconds", "volumes",
        *(f"{group}.{name}" for group in ("containers", "initContainers") for name in _CONTAINER))  # fmt: skip
KINDS: Mapping[str, tuple[str, ...]] = {
    "ClusterRoleBinding": ("roleRef",),
    "ConfigMap": ("binaryData", "data"),
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    "Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "PersistentVolumeClaim": ("spec",),
    "Pod": tuple(f"spec.{name}" for name in _POD),
    "RoleBinding": ("roleRef",),
    "Secret": ("data", "stringData", "type"),
    "Service": ("spec.clusterIP",),
    "StatefulSet": ("spec.podManagementPolicy", "spec.revisionHistoryLimit", "spec.selector", "spec.serviceName",
                    "spec.volumeClaimTemplates"),
    "StorageClass": ("parameters", "provisioner"),
}  # fmt: skip
"""Kubernetes kind to the properties that make the provider replace it, besides ``metadata.name`` and
``metadata.namespace``; every other property of these kinds is changed in place."""

# -- the SDK, as text ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Property:
    """One property of an args class."""

    name: str
    text: str
    """Its docstring, ``""`` where there is none."""
    nested: str
    """Name of the args class that it holds, ``""`` for a plain value."""


@dataclass(slots=True)
class Kind:
    """One resource type of the SDK."""

    token: str
    properties: list[Property]
    nested: Mapping[str, list[Property]]
    """The args classes of its module by their names."""


def sdk_types(folder: Path) -> Iterator[Kind]:
    """Every resource class below ``folder``, with the properties that it takes."""
    for service in sorted(path for path in folder.iterdir() if (path / "__init__.py").is_file()):
        inputs = service / "_inputs.py"
        nested = dict(_args_classes(inputs)) if inputs.is_file() else {}
        for path in sorted(service.glob("*.py")):
            if path.name.startswith("_"):
                continue
            classes = dict(_args_classes(path))
            text = path.read_text(encoding="utf-8")
            for class_name, token in re.findall(r"super\((\w+), __self__\)\.__init__\(\s*'([^']+:[^']+:[^']+)'", text):
                properties = classes.get(f"{class_name}Args") or classes.get(f"{class_name}InitArgs")
                if properties:
                    yield Kind(token, properties, nested)


def _args_classes(path: Path) -> Iterator[tuple[str, list[Property]]]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Args"):
            yield node.name, [_property(item) for item in node.body if _is_getter(item)]


def _is_getter(node: Any) -> bool:
    return isinstance(node, ast.FunctionDef) and any("getter" in ast.dump(mark) for mark in node.decorator_list)


def _property(node: Any) -> Property:
    name = node.name
    for mark in node.decorator_list:
        for keyword in getattr(mark, "keywords", ()):
            if keyword.arg == "name":
                name = keyword.value.value
    held = re.findall(r"'(\w+Args)'", ast.unparse(node.returns)) if node.returns else []
    return Property(name, ast.get_docstring(node) or "", held[0] if held else "")


# -- what a docstring says ------------------------------------------------------------------------------------------

_SAYS = re.compile(
    r"forces? (?:a |the )?(?:new|replacement|re-?creation)|forces? terraform to create|re-?creat(?:e|es|ed|ion)\b"
    r"|trigger(?:s)? (?:a )?(?:resource )?replacement|creates? a new resource|requires creating a new"
    r"|force (?:a |terraform )?.{0,20}new (?:resource|cluster)|cannot be changed after creation",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"^(?:\W*)(?:(?:changing|modifying|updating) (?:this|any|the)(?: (?:value|argument|field|attribute|property))?"
    r" (?:will )?(?:forces?|creates?|re-?creates?|requires?|triggers?|causes?)\b.*"
    r"|forces (?:a )?(?:new resource|replacement)(?: (?:if|when) (?:changed|modified))?"
    r"|cannot be changed after creation)\.?$"
    r"|\((?:required|optional)[^)]*forces new resource\)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:from|to an?|with|unless|except|lower|higher|decreas|between|only|if)\b", re.IGNORECASE)


def docstring_says(text: str) -> str:
    """``yes`` for a plain sentence, ``maybe`` for one with a condition, ``""`` where nothing is said.

    >>> docstring_says("The name. Changing this forces a new resource to be created.")
    'yes'
    >>> docstring_says("The size. When decreased, this will force a recreation of the resource.")
    'maybe'
    """
    answer = ""
    for sentence in re.split(r"(?<=\.)\s+|\n", text):
        if not _SAYS.search(sentence):
            continue
        plain = re.sub(r"(?:if|when) (?:changed|modified)", "", sentence, flags=re.IGNORECASE)
        if _SURE.search(sentence) and not _CONDITION.search(plain):
            return "yes"
        answer = "maybe"
    return answer


# -- CloudFormation ---------------------------------------------------------------------------------------------------


class Schemas:
    """CloudFormation's resource schemas, as cfn-lint installs them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, str] = {}
        for region in sorted((folder / "providers").glob("*.json")):
            self._files = json.loads(region.read_text(encoding="utf-8")) | self._files
        self._by_key = {tuple(name.lower().split("::")[1:]): name for name in self._files if name.count("::") == 2}
        version = json.loads((folder / "version.json").read_text(encoding="utf-8"))
        self.date: str = version["schema_date"][:10]

    def find(self, token: str) -> str | None:
        """The CloudFormation type of a type token."""
        if token in TYPES:
            return TYPES[token]
        _, module, name = token.split(":")
        service = module.split("/")[0]
        for candidate in SERVICES.get(service, (service,)):
            found = self._by_key.get((candidate, name.lower()))
            if found:
                return found
        return None

    def read(self, name: str) -> dict[str, Any]:
        """The schema of a type."""
        return json.loads((self._folder / "resources" / f"{self._files[name]}.json").read_text(encoding="utf-8"))


def core(name: str) -> str:
    """A property's name without what the two worlds spell differently.

    >>> core("subnetIds") == core("Subnets"), core("nodeRoleArn") == core("NodeRole")
    (True, True)
    """
    text = name.lower()
    for ending in ("s", "arn", "id", "identifier", "name", "document", "configuration", "config"):
        text = text.removesuffix(ending) if len(text) > len(ending) + 2 else text
    return text


def match(names: list[str], theirs: list[str], own: str) -> dict[str, str]:
    """Our property names to theirs, each only where exactly one fits; ``own`` is the type's name.

    >>> match(["name", "subnetIds"], ["GroupName", "Subnets", "Id"], "Group")
    {'name': 'GroupName', 'subnetIds': 'Subnets'}
    """
    exact = {name.lower(): name for name in theirs}
    found = {name: exact[name.lower()] for name in names if name.lower() in exact}
    for name in names:
        if name in found:
            continue
        if name == "name":
            options = [other for other in theirs if other.lower() in (f"{own.lower()}name",)]
        else:
            options = [other for other in theirs if core(other) == core(name) and other not in found.values()]
            if len([other for other in names if core(other) == core(name)]) > 1:
                options = []
        if len(options) == 1:
            found[name] = options[0]
    return dict(sorted(found.items()))


# -- the table --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Entry:
    """What is known of one type: property paths to the letters of their sources."""

    yes: dict[str, str] = field(default_factory=dict[str, str])
    maybe: dict[str, str] = field(default_factory=dict[str, str])
    no: dict[str, str] = field(default_factory=dict[str, str])

    def note(self, answer: str, path: str, source: str) -> None:
        """Note what a source says; the answer that replaces more stands."""
        rows = {"yes": self.yes, "maybe": self.maybe, "no": self.no}
        rows[answer][path] = "".join(sorted({*rows[answer].get(path, ""), source}))

    def settle(self) -> dict[str, dict[str, str]]:
        """The answers without contradictions: yes beats maybe beats no."""
        for path in self.yes:
            self.maybe.pop(path, None)
        for path in (*self.yes, *self.maybe):
            self.no.pop(path, None)
        rows = {"yes": self.yes, "maybe": self.maybe, "no": self.no}
        return {name: dict(sorted(row.items())) for name, row in rows.items() if row}


def build(sdk: Path, schemas: Schemas) -> dict[str, Any]:
    """The table of every type of an SDK."""
    types: dict[str, Any] = {}
    for kind in sdk_types(sdk):
        entry = Entry()
        _from_docstrings(kind, entry)
        name = schemas.find(kind.token)
        if name:
            _from_cloudformation(kind, schemas.read(name), name, entry)
        for answer, paths in PROVIDER.get(kind.token, {}).items():
            for path in paths:
                entry.note(answer, path, "p")
                for other in (entry.yes, entry.maybe, entry.no):
                    if "p" not in other.get(path, ""):
                        other.pop(path, None)  # the provider's own word
        if "name" in entry.yes and any(item.name == "namePrefix" for item in kind.properties):
            entry.note("yes", "namePrefix", entry.yes["name"][0])
        rows = entry.settle()
        if rows:
            types[kind.token] = rows
    return dict(sorted(types.items()))


def _from_docstrings(kind: Kind, entry: Entry) -> None:
    def visit(properties: list[Property], path: tuple[str, ...]) -> None:
        for item in properties:
            here = (*path, item.name)
            answer = docstring_says(item.text)
            if answer:
                entry.note(answer, ".".join(here), "d")
            if item.nested in kind.nested and len(here) < 3:
                visit(kind.nested[item.nested], here)

    visit(kind.properties, ())


def _from_cloudformation(kind: Kind, schema: Mapping[str, Any], name: str, entry: Entry) -> None:
    names = match([item.name for item in kind.properties], list(schema["properties"]), name.split("::")[2])
    names |= {own: other for own, other in PROPERTIES.get(kind.token, {}).items() if other in schema["properties"]}
    ours = {other: own for own, other in names.items()}
    told: set[str] = set()
    for answer, key in (("yes", "createOnlyProperties"), ("maybe", "conditionalCreateOnlyProperties")):
        for pointer in schema.get(key) or ():
            parts = pointer.split("/")[2:]
            own = ours.get(parts[0])
            if own is None:
                continue
            told.add(own)
            path = _nested_path(kind, own, parts[1:])
            if path:
                entry.note(answer, path, "c")
    read_only = {pointer.split("/")[2] for pointer in schema.get("readOnlyProperties") or ()}
    for own, other in names.items():
        if other in read_only or schema.get("createOnlyProperties") is None:
            continue
        for path in (own,) if own not in told else _siblings(kind, own, schema, other):
            entry.note("no", path, "c")


def _siblings(kind: Kind, own: str, schema: Mapping[str, Any], other: str) -> Iterator[str]:
    """The properties within one of which only some parts are said to be create-only."""
    pointers = {pointer for key in ("createOnlyProperties", "conditionalCreateOnlyProperties")
                for pointer in schema.get(key) or ()}  # fmt: skip
    if f"/properties/{other}" in pointers:
        return
    reference = schema["properties"][other].get("$ref", "").rpartition("/")[2]
    theirs = schema.get("definitions", {}).get(reference, {}).get("properties", {})
    held = next(item.nested for item in kind.properties if item.name == own)
    for name, found in match([item.name for item in kind.nested.get(held, [])], list(theirs), "").items():
        if not any(pointer.startswith(f"/properties/{other}/{found}") for pointer in pointers):
            yield f"{own}.{name}"


def _nested_path(kind: Kind, first: str, rest: list[str]) -> str:
    """A pointer below a property in our names, ``""`` where a part of it has no one match."""
    path, held = [first], next(item.nested for item in kind.properties if item.name == first)
    for part in rest:
        if part == "*":
            continue
        properties = kind.nested.get(held, [])
        found = match([item.name for item in properties], [part], "")
        if len(found) != 1:
            return ""
        own = next(iter(found))
        path.append(own)
        held = next(item.nested for item in properties if item.name == own)
    return ".".join(path)


def main() -> int:
    """Write the table and say how much it knows."""
    folders = {name: Path(str(util.find_spec(name).origin)).parent for name in ("cfnlint", "pulumi_aws")}  # pyright: ignore[reportOptionalMemberAccess]
    schemas = Schemas(folders["cfnlint"] / "data" / "schemas")
    types = build(folders["pulumi_aws"], schemas)
    sources = {
        "c": f"CloudFormation schemas of {schemas.date} (cfn-lint {metadata.version('cfn-lint')})",
        "d": f"docstring of pulumi-aws {metadata.version('pulumi-aws')}",
        "p": "source of the provider, read 2026-11",
    }
    lines = [f"{json.dumps(token)}: {json.dumps(rows)}" for token, rows in types.items()]
    body = ",\n".join(lines)
    head = f'"sources": {json.dumps(sources)},\n"kubernetes": {json.dumps(KINDS)}'
    TARGET.write_text(f'{{{head},\n"types": {{\n{body}\n}}}}\n', encoding="utf-8")
    for answer in ("yes", "maybe", "no"):
        number = sum(len(rows.get(answer, {})) for rows in types.values())
        print(f"{answer}: {number} properties")
    print(f"{len(types)} types")
    return 0


if __name__ == "__main__":
    sys.exit(main())
