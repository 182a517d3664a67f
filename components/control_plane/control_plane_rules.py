"""What must hold for a control plane: slots, zones, sizes, networks, exposure, certificates, backups. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..ec2.proxy import Proxy, check_proxy
from ..instance_groups.images import LINUX, check_image_id
from ..instance_groups.target_rules import check_image_repository
from ..kubeadm.configuration_rules import ALGORITHMS, check_cluster_config
from ..network.cidrs import check_cidr, check_disjoint
from ..state_bucket.bucket_rules import check_bucket_name
from ..tables.artefacts import NodeKind, check_artefacts, mirror_manifest
from ..tables.instance_types import architecture as architecture_of
from ..tables.instance_types import instance_type, instance_type_names
from ..tables.regions import REGIONS, all_zones, check_region, zones
from ..tables.releases import SELF_MANAGED_RELEASES
from ..zone.names import check_cluster_name, check_domain
from .cluster import ClusterLike, cluster_config
from .slots import SLOT_COUNTS

KUBEADM_HA = "https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/high-availability/"
KUBEADM_INSTALL = "https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm/"
NLB = "https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-target-groups.html"

CONTROLLER_MANAGER = "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/"
ANONYMOUS_REQUESTS = "https://kubernetes.io/docs/reference/access-authn-authz/authentication/#anonymous-requests"
ETCD_BACKUPS = "https://kubernetes.io/docs/tasks/administer-cluster/configure-upgrade-etcd/#backing-up-an-etcd-cluster"

SLOT_COUNT = Rule("WK-CP-001", "A control plane has 1, 3 or 5 nodes.", "https://etcd.io/docs/v3.6/faq/")
SLOT_ZONES = Rule(
    "WK-CP-002", "Each control-plane zone must be in the Region and needs a slot and a subnet.", KUBEADM_HA
)
TYPE_KNOWN = Rule(
    "WK-CP-003",
    "Instance types must exist and share one CPU architecture.",
    "https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-types.html",
)
TYPE_SIZE = Rule("WK-CP-004", "A control-plane node needs at least 2 vCPUs and 2 GiB of memory.", KUBEADM_INSTALL)
LINUX_KNOWN = Rule("WK-CP-005", "The Linux distribution of the nodes must be one that winkube can boot.")
RUNTIME_KNOWN = Rule("WK-CP-006", "The container runtime is containerd or CRI-O.",
                     "https://kubernetes.io/docs/setup/production-environment/container-runtimes/")  # fmt: skip
NODE_COUNT_LIMIT = Rule(
    "WK-CP-007", "The node limit must leave room for the control plane and at least one worker.", CONTROLLER_MANAGER
)
EXPOSURE = Rule("WK-CP-008", "A public API needs a list of allowed CIDRs, and a private address for nodes.", NLB)
HEALTH_CHECK = Rule(
    "WK-CP-009", "The load balancer's health check must be one that the API server answers.", ANONYMOUS_REQUESTS
)
PKI_KNOWN = Rule(
    "WK-CP-010",
    "Certificate authorities are created by the deployment or by a node, with keys that kubeadm supports.",
    "https://kubernetes.io/docs/setup/best-practices/certificates/",
)
ADMIN_HOURS = Rule("WK-CP-011", "The administrator's certificate must be valid for 1 hour to 1 year.")
VOLUME_SIZE = Rule(
    "WK-CP-012",
    "A volume must have a type that EBS offers and enough space for its content.",
    "https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html",
)
BACKUPS = Rule("WK-CP-013", "A backup must be made at least once a day, and at least one must be kept.", ETCD_BACKUPS)
INCARNATION = Rule("WK-CP-014", "Incarnation numbers start at 1.")
ENCRYPTION = Rule(
    "WK-CP-015",
    "A KMS plug-in image is used only with KMS encryption.",
    "https://kubernetes.io/docs/tasks/administer-cluster/kms-provider/",
)
ISSUER = Rule(
    "WK-CP-016",
    "Service account keys are published through CloudFront or S3.",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_create_oidc.html",
)
ISSUER_KEYS = Rule(
    "WK-CP-017",
    "An issuer needs the service account keys before the first node starts.",
    "https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/",
)
OWN_KEY = Rule(
    "WK-CP-018",
    "The cluster needs a KMS key other than the bucket's, because workers use that one.",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html",
)
LEAST_VCPUS, LEAST_MEMORY_MIB = 2, 2048
RUNTIMES = ("containerd", "cri-o")
REFUSED_RUNTIMES: Mapping[str, str] = {
    "docker": "Kubernetes has no code for Docker since 1.24 (dockershim was removed)",
    "dockershim": "dockershim was removed with Kubernetes 1.24",
    "cri-dockerd": "cri-dockerd puts Docker back between kubelet and containerd, and has no part in kubeadm's tests",
    "rkt": "rkt was archived in 2020 and never spoke CRI v1",
}
"""Runtimes that people ask for, and why they are refused."""
EXPOSURES = ("internal", "public")
HEALTH_CHECKS = ("readyz", "tcp")
PKI = ("deployment", "node")
PUBLISHERS = ("cloudfront", "s3")
LONGEST_HOURS = 8760
LARGEST_VOLUME_GIB = 16384
RENAMED: Mapping[Path, Path] = {("kms", "image"): ("kms_plugin_image",)}
"""Where kubeadm's room and this one have two words for one thing."""
EVERY_KIND = (
    NodeKind(os="windows"),
    *(NodeKind(architecture=architecture, runtime=runtime) for architecture in ("x86_64", "arm64")
      for runtime in RUNTIMES),
)  # fmt: skip
"""All kinds of workers: the files that other groups of the cluster may download."""
OPTIONAL = ("kubectl", "kubeadm", "kube-log-runner", "ecr-credential-provider")


class ControlPlaneLike(ClusterLike, Protocol):
    """What a control plane is judged by, in the arguments and in the settings."""

    @property
    def domain(self) -> str: ...  # noqa: D102
    @property
    def vpc_cidrs(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def zones(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def subnet_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def zone_ids(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def incarnation(self) -> int: ...  # noqa: D102
    @property
    def slots(self) -> int: ...  # noqa: D102
    @property
    def instance_types(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def linux(self) -> str: ...  # noqa: D102
    @property
    def image_id(self) -> Any: ...  # noqa: D102
    @property
    def runtime(self) -> str: ...  # noqa: D102
    @property
    def root_volume_size_gib(self) -> int: ...  # noqa: D102
    @property
    def etcd_volume_size_gib(self) -> int | None: ...  # noqa: D102
    @property
    def node_count_limit(self) -> int: ...  # noqa: D102
    @property
    def api_exposure(self) -> str: ...  # noqa: D102
    @property
    def api_allowed_cidrs(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def public_subnet_ids(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def health_check(self) -> str: ...  # noqa: D102
    @property
    def pki(self) -> str: ...  # noqa: D102
    @property
    def admin_certificate_hours(self) -> int: ...  # noqa: D102
    @property
    def irsa(self) -> Any: ...  # noqa: D102
    @property
    def backup_interval_minutes(self) -> int: ...  # noqa: D102
    @property
    def backup_retention(self) -> Any: ...  # noqa: D102
    @property
    def mirror(self) -> str | None: ...  # noqa: D102
    @property
    def registry_mirrors(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def artefact_digests(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def proxy(self) -> Proxy | None: ...  # noqa: D102


def check_control_plane(plane: ControlPlaneLike) -> Mistakes:
    """Everything that is wrong with the wish for a control plane (``WK-CP-001`` to ``WK-CP-017``, ``WK-DNS``,
    ``WK-NET``, ``WK-KAD``, ``WK-IG``, ``WK-ART``).
    """
    found = check_region(plane.region)
    found.take(check_domain(plane.domain, ("domain",)))
    found.take(check_cluster_name(plane.cluster_name, plane.domain))
    found.take(check_slots(plane.slots, plane.zones, plane.region, len(plane.subnet_ids)))
    found.take(check_types(plane.instance_types))
    _word(found, LINUX_KNOWN, "linux", plane.linux, LINUX, "the nodes' Linux is")
    found.take(check_image_id(plane.image_id))
    found.take(check_runtime(plane.runtime))
    found.take(check_image_repository(plane.image_repository))
    found.take(check_cluster(plane))
    found.take(check_exposure(plane))
    _word(found, PKI_KNOWN, "pki", plane.pki, PKI, "the certificate authorities are made by")
    _range(found, ADMIN_HOURS, "admin_certificate_hours", plane.admin_certificate_hours, 1, LONGEST_HOURS)
    _range(found, VOLUME_SIZE, "root_volume_size_gib", plane.root_volume_size_gib, 20, LARGEST_VOLUME_GIB)
    if plane.etcd_volume_size_gib is not None:
        _range(found, VOLUME_SIZE, "etcd_volume_size_gib", plane.etcd_volume_size_gib, 10, LARGEST_VOLUME_GIB)
    if plane.incarnation < 1:
        found.add(INCARNATION, ("incarnation",), "incarnation numbers start at 1", "set incarnation to 1, or one more "
                  "than the last", plane.incarnation)  # fmt: skip
    found.take(check_backups(plane.backup_interval_minutes, plane.backup_retention))
    if plane.secrets_encryption != "kms" and plane.kms_plugin_image is not None:
        found.add(ENCRYPTION, ("kms_plugin_image",), "has no effect without encryption by KMS",
                  'remove it, or set secrets_encryption to "kms"', plane.kms_plugin_image)  # fmt: skip
    if plane.irsa is not None:
        found.take(check_issuer(plane.irsa), "irsa")
        if plane.pki == "node":
            found.add(ISSUER_KEYS, ("irsa",), "needs the service account key, which the first node creates only "
                      "when it starts", 'set pki to "deployment", or remove irsa', plane.pki)  # fmt: skip
    found.take(check_downloads(plane))
    if plane.proxy is not None:
        found.take(check_proxy(plane.proxy))
    return found


def advise_control_plane(plane: ControlPlaneLike) -> Mistakes:
    """What is allowed and may not be meant."""
    found = Mistakes()
    spread = len(set(plane.zones))
    if plane.slots in SLOT_COUNTS[1:] and spread < 3:
        found.add(SLOT_ZONES, ("zones",), f"with {plane.slots} slots in {spread} zones, the loss of one can stop "
                  "the cluster", "use three zones, if the Region has them", list(plane.zones))  # fmt: skip
    burst = [name for name in plane.instance_types if (facts := instance_type(name)) and facts.family.startswith("t")]
    for name in burst if plane.slots > 1 else ():
        found.add(TYPE_SIZE, ("instance_types",), "runs on CPU credits: etcd loses its leader when they are used up",
                  'write a type of the families m, c or r, such as "m7i.large"', name)  # fmt: skip
    return found


def check_slots(count: int, named_zones: Sequence[str], region: str, subnets: int) -> Mistakes:
    """Whether the slots are an odd number, and each zone has one, a subnet, and lies in the region."""
    found = Mistakes()
    path: Path = ("slots",)
    if count not in SLOT_COUNTS:
        better = min(SLOT_COUNTS, key=lambda allowed: (abs(allowed - count), -allowed))
        why = (
            f"{count} etcd members tolerate no more failures than {count - 1}"
            if count > 0 and count % 2 == 0
            else "etcd needs an odd number of members, and more than 5 make it slower"
        )
        found.add(SLOT_COUNT, path, f"a control plane has {one_of(SLOT_COUNTS)} slots: {why}", f"set slots to {better}",
                  count)  # fmt: skip
    if not named_zones:
        usual = list(zones(region)[: min(count, 3)]) if region in REGIONS else ["<region>a"]
        found.add(SLOT_ZONES, ("zones",), "no zone is given", f"name zones, such as {usual}", [])
    elif count in SLOT_COUNTS and len(named_zones) > count:
        found.add(SLOT_ZONES, ("zones",), f"{count} slots need at most {count} zones", f"name {count} of them, or "
                  f"set slots to {min((n for n in SLOT_COUNTS if n >= len(named_zones)), default=5)}",
                  list(named_zones))  # fmt: skip
    if subnets != len(named_zones):
        found.add(SLOT_ZONES, ("subnet_ids",), f"each of the {len(named_zones)} zones needs exactly one subnet",
                  "give one subnet per zone, in the same order", subnets)  # fmt: skip
    for index, zone in enumerate(named_zones):
        if zone in named_zones[:index]:
            found.add(
                SLOT_ZONES, ("zones", index), "is named twice", "list each zone once; slots use the zones in turn", zone
            )
        elif region in REGIONS and zone not in all_zones(region):
            near = nearest(zone, sorted(all_zones(region)))
            found.add(SLOT_ZONES, ("zones", index), f"is not a zone of {region}",
                      f"write {one_of([near] if near else zones(region))}", zone)  # fmt: skip
    return found


def check_types(types: Sequence[str], path: Path = ("instance_types",)) -> Mistakes:
    """Whether the types are known, of one architecture, and large enough for a control plane."""
    found = Mistakes()
    if not types:
        found.add(TYPE_KNOWN, path, "at least one instance type is needed", 'write "m7i.large"', [])
    known = {name: facts for name in types if (facts := instance_type(name)) is not None}
    for index, name in enumerate(types):
        place: Path = (*path, index)
        facts = known.get(name)
        if facts is None:
            near = nearest(name, instance_type_names())
            found.add(TYPE_KNOWN, place, "is not an instance type of EC2", f'write "{near or "m7i.large"}"', name)
            continue
        vcpus, memory = facts.vcpus or LEAST_VCPUS, facts.memory_mib or LEAST_MEMORY_MIB
        if vcpus < LEAST_VCPUS or memory < LEAST_MEMORY_MIB:
            found.add(TYPE_SIZE, place, f"has {vcpus} vCPUs and {memory / 1024:g} GiB; a control-plane node needs "
                      f"{LEAST_VCPUS} vCPUs and {LEAST_MEMORY_MIB // 1024} GiB",
                      f'write "{facts.family}.large" or larger', name)  # fmt: skip
    architectures = list(dict.fromkeys(facts.architecture for facts in known.values()))
    if len(architectures) > 1:
        found.add(TYPE_KNOWN, path, f"mixes {one_of(architectures)}: the nodes share one image",
                  "use types of one architecture", list(types))  # fmt: skip
    return found


def check_runtime(runtime: str, path: Path = ("runtime",)) -> Mistakes:
    """Whether the runtime is one that nodes are given; what is refused says why."""
    found = Mistakes()
    if runtime in RUNTIMES:
        return found
    reason = REFUSED_RUNTIMES.get(runtime.lower())
    message = f"the runtime is {one_of(RUNTIMES)}" + (f"; {reason}" if reason else "")
    near = nearest(runtime, RUNTIMES) if reason is None else None
    found.add(RUNTIME_KNOWN, path, message, f'set runtime to "{near or RUNTIMES[0]}"', runtime)
    return found


def check_cluster(plane: ControlPlaneLike) -> Mistakes:
    """Whether kubeadm, API server and kubelets can be told all this, and the networks lie apart (``WK-KAD``)."""
    found = Mistakes()
    limit = plane.node_count_limit
    if limit <= plane.slots:
        found.add(NODE_COUNT_LIMIT, ("node_count_limit",), f"the control plane alone has {plane.slots} nodes",
                  f"set node_count_limit to {plane.slots + 1} or more", limit)  # fmt: skip
    for mistake in check_cluster_config(cluster_config(plane), node_count=max(limit, plane.slots)):
        # The endpoint is made from the cluster's name, which is judged as such.
        if mistake.path[0] != "endpoint":
            found.append(replace(mistake, path=RENAMED.get(mistake.path, mistake.path)))
    known = {(mistake.rule, mistake.path) for mistake in found}
    vpc = {f"vpc_cidrs.{index}": cidr for index, cidr in enumerate(plane.vpc_cidrs)}
    apart = check_disjoint({**vpc, "pod_cidr": plane.pod_cidr, "service_cidr": plane.service_cidr})
    found.take(mistake for mistake in apart if (mistake.rule, mistake.path) not in known)
    for index, cidr in enumerate(plane.vpc_cidrs):
        found.take(check_cidr(cidr, ("vpc_cidrs", index)))
    return found


def check_exposure(plane: ControlPlaneLike) -> Mistakes:
    """Whether who may reach the API is said where it must be, and the load balancer may ask what it asks."""
    found = Mistakes()
    _word(found, EXPOSURE, "api_exposure", plane.api_exposure, EXPOSURES, "the API is")
    public = plane.api_exposure == "public"
    if public and not plane.api_allowed_cidrs:
        found.add(EXPOSURE, ("api_allowed_cidrs",), "without CIDRs, nobody could reach the public API",
                  'name networks such as ["203.0.113.0/24"], or set api_exposure to "internal"', [])  # fmt: skip
    if public and not plane.public_subnet_ids:
        found.add(EXPOSURE, ("public_subnet_ids",), "the public load balancer needs subnets",
                  "give public subnets, one per zone", [])  # fmt: skip
    if not public and plane.public_subnet_ids:
        found.add(EXPOSURE, ("public_subnet_ids",), "these subnets have no effect while the API is internal",
                  'remove them, or set api_exposure to "public"', len(plane.public_subnet_ids))  # fmt: skip
    wanted = ("private", "public") if public else ()
    for visibility in wanted:
        if visibility not in plane.zone_ids:
            found.add(
                EXPOSURE,
                ("zone_ids",),
                f"has no {visibility} zone: nodes use the private record of a public API, all others the public record",
                'create the ClusterZone with visibility "both"',
                sorted(plane.zone_ids),
            )
    if not plane.zone_ids:
        found.add(EXPOSURE, ("zone_ids",), "the API record needs a zone", "set it to zone_ids of a "
                  "ClusterZone", [])  # fmt: skip
    for index, cidr in enumerate(plane.api_allowed_cidrs):
        found.take(check_cidr(cidr, ("api_allowed_cidrs", index)))
    _word(found, HEALTH_CHECK, "health_check", plane.health_check, HEALTH_CHECKS, "the health check is")
    if plane.health_check == "readyz" and plane.anonymous_access == "none":
        found.add(HEALTH_CHECK, ("health_check",), "the load balancer has no credentials for /readyz",
                  'set health_check to "tcp", or anonymous_access to "health"', plane.health_check)  # fmt: skip
    return found


def check_authorities(encryption_algorithm: str, admin_certificate_hours: int) -> Mistakes:
    """Whether keys are of a kind that kubeadm knows, and the administrator's certificate is short-lived."""
    found = Mistakes()
    _word(found, PKI_KNOWN, "encryption_algorithm", encryption_algorithm, ALGORITHMS, "keys are")
    _range(found, ADMIN_HOURS, "admin_certificate_hours", admin_certificate_hours, 1, LONGEST_HOURS)
    return found


def check_own_key(kms_key_arn: Any, bucket_key_arn: Any) -> Mistakes:
    """Whether the cluster's key is another one than its bucket's, where both are known (``WK-CP-018``)."""
    found = Mistakes()
    if isinstance(kms_key_arn, str) and kms_key_arn == bucket_key_arn:
        found.add(OWN_KEY, ("kms_key_arn",), "is the key of the bucket, which workers use for their boot files; "
                  "the certificate authorities need another key", "use another key, or leave it out to create one",
                  kms_key_arn)  # fmt: skip
    return found


def check_backups(interval_minutes: int, retention: Any) -> Mistakes:
    """Whether backups are made often enough, and some are kept."""
    found = Mistakes()
    _range(found, BACKUPS, "backup_interval_minutes", interval_minutes, 1, 1440)
    for name, least in (("keep_last", 1), ("keep_hourly", 0), ("keep_daily", 0)):
        value = getattr(retention, name)
        if value < least:
            found.add(
                BACKUPS, ("backup_retention", name), f"must be {least} or more", f"set {name} to {least} or more", value
            )
    return found


def check_issuer(issuer: Any) -> Mistakes:
    """Whether the key set of the ServiceAccounts is published where it can be."""
    found = Mistakes()
    _word(found, ISSUER, "publish", issuer.publish, PUBLISHERS, "the key set is published by")
    if issuer.bucket_name is not None:
        found.take(check_bucket_name(issuer.bucket_name))
    return found


def check_downloads(plane: ControlPlaneLike) -> Mistakes:
    """Whether everything that the nodes download has a digest, and mirrors have their form (``WK-ART``)."""
    architecture = next((word for name in plane.instance_types if (word := architecture_of(name))), "x86_64")
    if plane.runtime not in RUNTIMES or plane.kubernetes_version not in SELF_MANAGED_RELEASES:
        return Mistakes()
    kind = NodeKind(architecture=architecture, runtime=plane.runtime, role="control_plane")
    own = _keys(plane.kubernetes_version, [kind])
    # Digests of what other groups download are theirs to judge.
    others = _keys(plane.kubernetes_version, EVERY_KIND) - own
    digests = {key: digest for key, digest in plane.artefact_digests.items() if key not in others}
    return check_artefacts(
        plane.kubernetes_version, [kind], mirror=plane.mirror, artefact_digests=digests,
        registry_mirrors=plane.registry_mirrors,
    )  # fmt: skip


def _keys(minor: str, kinds: Sequence[NodeKind]) -> set[str]:
    rows = mirror_manifest([minor], kinds, optional=OPTIONAL)
    return {str(row["name"]) for row in rows}


def _word(found: Mistakes, rule: Rule, field: str, value: str, allowed: Sequence[str], what: str) -> None:
    if value not in allowed:
        near = nearest(value, allowed)
        remedy = f'set {field} to "{near}"' if near else f"set {field} to {one_of(allowed)}"
        found.add(rule, (field,), f"{what} {one_of(allowed)}", remedy, value)


def _range(found: Mistakes, rule: Rule, field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        found.add(rule, (field,), f"must be {least} to {most}", f"set {field} to {min(max(value, least), most)}", value)
