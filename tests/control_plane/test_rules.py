"""What is refused before anything is made: each rule with code, path, value and what to write instead."""

from dataclasses import fields
from typing import Any

import pytest
from winkube.control_plane.args import BackupRetention, IrsaIssuer, LinuxControlPlaneArgs, check_control_plane_args
from winkube.control_plane.authorities import ClusterAuthoritiesArgs, check_authorities_args
from winkube.control_plane.cluster import ClusterLike
from winkube.control_plane.control_plane_rules import ControlPlaneLike, advise_control_plane
from winkube.core.mistakes import Mistake
from winkube.kubeadm.config import ExtraArguments

from .planes import BUCKET_KEY, control_plane_args


def found(**changes: Any) -> list[Mistake]:
    return list(check_control_plane_args(control_plane_args(**changes)))


def only(code: str, **changes: Any) -> Mistake:
    (mistake,) = found(**changes)
    assert mistake.rule.code == code, mistake.text()
    return mistake


def test_the_usual_arguments_are_right() -> None:
    assert found() == []


def test_the_arguments_have_what_is_judged() -> None:
    judged = {
        name for cls in (ControlPlaneLike, ClusterLike) for name, it in vars(cls).items() if isinstance(it, property)
    }
    assert judged <= {field.name for field in fields(LinuxControlPlaneArgs)}


@pytest.mark.parametrize(("count", "better"), [(2, 3), (4, 5), (0, 1), (7, 5), (-1, 1)])
def test_slots_are_one_three_or_five(count: int, better: int) -> None:
    """WK-CP-001: two survive no failure more than one does."""
    zone = {"zones": ("eu-central-1a",), "subnet_ids": ("subnet-0a",)}
    mistake = only("WK-CP-001", slots=count, **zone)
    assert (mistake.path, mistake.got) == (("slots",), count)
    assert "1, 3 or 5" in mistake.message
    assert mistake.remedy == f"set slots to {better}"


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"zones": (), "subnet_ids": ()}, ("zones",), "name zones, such as ['eu-central-1a'"),
        ({"slots": 1}, ("zones",), "name 1 of them, or set slots to 3"),
        ({"subnet_ids": ("subnet-0a",)}, ("subnet_ids",), "one subnet per zone"),
        ({"zones": ("eu-central-1a", "eu-central-1b", "eu-central-1a")}, ("zones", 2), "list each zone once"),
        ({"zones": ("eu-central-1a", "eu-central-1b", "eu-central-1z")}, ("zones", 2), 'write "eu-central-1'),
    ],
)
def test_each_zone_has_a_slot_and_a_subnet(changes: dict[str, Any], path: tuple[Any, ...], words: str) -> None:
    """WK-CP-002."""
    mistake = only("WK-CP-002", **changes)
    assert mistake.path == path
    assert words in mistake.remedy


@pytest.mark.parametrize(
    ("types", "path", "words"),
    [
        (("m7i.lrge",), ("instance_types", 0), 'write "m7i.large"'),
        ((), ("instance_types",), 'write "m7i.large"'),
        (("m7i.large", "m7g.large"), ("instance_types",), "use types of one architecture"),
    ],
)
def test_instance_types_are_known_and_of_one_architecture(types: Any, path: Any, words: str) -> None:
    """WK-CP-003."""
    mistake = only("WK-CP-003", instance_types=types)
    assert mistake.path == path
    assert words in mistake.remedy


def test_arm_is_a_control_plane_too() -> None:
    assert found(instance_types=("m7g.large", "m6g.large")) == []


def test_a_control_plane_node_has_two_cpus_and_two_gibibytes() -> None:
    """WK-CP-004."""
    mistake = only("WK-CP-004", instance_types=("t3.micro",))
    assert (mistake.path, mistake.got) == (("instance_types", 0), "t3.micro")
    assert "has 2 vCPUs and 1 GiB" in mistake.message
    assert 'write "t3.large" or larger' in mistake.remedy


def test_the_linux_is_one_of_the_table() -> None:
    """WK-CP-005."""
    mistake = only("WK-CP-005", linux="ubuntu2204")
    assert (mistake.path, mistake.got) == (("linux",), "ubuntu2204")
    assert 'set linux to "ubuntu2404"' in mistake.remedy


@pytest.mark.parametrize(
    ("runtime", "reason", "write"),
    [
        ("docker", "dockershim was removed", "containerd"),
        ("crio", "the runtime is", "cri-o"),
        ("rkt", "archived", "containerd"),
    ],
)
def test_docker_is_refused_with_the_reason(runtime: str, reason: str, write: str) -> None:
    """WK-CP-006."""
    mistake = only("WK-CP-006", runtime=runtime)
    assert (mistake.path, mistake.got) == (("runtime",), runtime)
    assert reason in mistake.message
    assert mistake.remedy == f'set runtime to "{write}"'


def test_there_is_room_for_a_worker() -> None:
    """WK-CP-007."""
    mistake = only("WK-CP-007", node_count_limit=3)
    assert mistake.path == ("node_count_limit",)
    assert "set node_count_limit to 4" in mistake.remedy


def test_the_pod_network_has_a_part_for_each_node() -> None:
    """Refused by kubeadm's own rule, under the name that stands here."""
    mistake = only("WK-KAD-004", pod_cidr="10.244.0.0/20")
    assert (mistake.path, mistake.got) == (("pod_cidr",), "10.244.0.0/20")
    assert "100" in mistake.message


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"pod_cidr": "10.0.0.0/17"}, ("pod_cidr",)),
        ({"service_cidr": "10.0.128.0/20"}, ("service_cidr",)),
        ({"vpc_cidrs": ("10.0.0.0/16", "10.244.0.0/16")}, ("pod_cidr",)),
        ({"pod_cidr": "10.100.0.0/16"}, ("service_cidr",)),
    ],
)
def test_networks_lie_apart(changes: dict[str, Any], path: tuple[str, ...]) -> None:
    """Each pair once, with the other network in the message."""
    mistake = only("WK-NET-015", **changes)
    assert mistake.path == path
    assert "overlaps" in mistake.message


def test_a_public_api_says_who_may_reach_it_and_from_where() -> None:
    """WK-CP-008, all at once."""
    mistakes = found(api_exposure="public")
    assert {mistake.rule.code for mistake in mistakes} == {"WK-CP-008"}
    assert [mistake.path for mistake in mistakes] == [("api_allowed_cidrs",), ("public_subnet_ids",), ("zone_ids",)]
    assert 'visibility "both"' in mistakes[-1].remedy
    assert only("WK-CP-008", zone_ids={}).path == ("zone_ids",)
    assert only("WK-CP-008", public_subnet_ids=("subnet-9",)).path == ("public_subnet_ids",)
    assert only("WK-CP-008", api_exposure="publik").remedy == 'set api_exposure to "public"'


def test_a_balancer_without_credentials_asks_nothing_that_needs_some() -> None:
    """WK-CP-009."""
    mistake = only("WK-CP-009", anonymous_access="none")
    assert (mistake.path, mistake.got) == (("health_check",), "readyz")
    assert 'set health_check to "tcp"' in mistake.remedy
    assert found(anonymous_access="none", health_check="tcp") == []
    assert only("WK-CP-009", health_check="http").got == "http"


def test_authorities_are_made_by_deployment_or_node() -> None:
    """WK-CP-010."""
    assert only("WK-CP-010", pki="vault").path == ("pki",)
    assert found(pki="node") == []
    (mistake,) = check_authorities_args(ClusterAuthoritiesArgs(encryption_algorithm="ED25519"))
    assert (mistake.rule.code, mistake.got) == ("WK-CP-010", "ED25519")


@pytest.mark.parametrize(("hours", "better"), [(0, 1), (9000, 8760)])
def test_an_administrator_s_certificate_is_short_lived(hours: int, better: int) -> None:
    """WK-CP-011."""
    mistake = only("WK-CP-011", admin_certificate_hours=hours)
    assert mistake.got == hours
    assert mistake.remedy == f"set admin_certificate_hours to {better}"


@pytest.mark.parametrize(
    ("field", "size", "better"), [("root_volume_size_gib", 8, 20), ("etcd_volume_size_gib", 1, 10)]
)
def test_volumes_have_room(field: str, size: int, better: int) -> None:
    """WK-CP-012."""
    mistake = only("WK-CP-012", **{field: size})
    assert (mistake.path, mistake.got) == ((field,), size)
    assert mistake.remedy == f"set {field} to {better}"


def test_backups_are_made_daily_and_one_is_kept() -> None:
    """WK-CP-013."""
    mistakes = found(backup_interval_minutes=2000, backup_retention=BackupRetention(keep_last=0))
    assert [(mistake.rule.code, mistake.path) for mistake in mistakes] == [
        ("WK-CP-013", ("backup_interval_minutes",)), ("WK-CP-013", ("backup_retention", "keep_last")),
    ]  # fmt: skip
    assert "set backup_interval_minutes to 1440" in mistakes[0].remedy


def test_incarnations_are_counted_from_one() -> None:
    """WK-CP-014."""
    assert only("WK-CP-014", incarnation=0).got == 0


def test_a_plug_in_is_for_encryption_by_kms() -> None:
    """WK-CP-015; without an image by digest kubeadm's room refuses the encryption."""
    image = f"registry.example.com/aws-encryption-provider@sha256:{'0' * 64}"
    assert only("WK-CP-015", kms_plugin_image=image).path == ("kms_plugin_image",)
    assert only("WK-KAD-021", secrets_encryption="kms").path == ("kms_plugin_image",)
    assert found(secrets_encryption="kms", kms_plugin_image=image) == []


def test_a_key_set_is_published_where_it_can_be() -> None:
    """WK-CP-016."""
    mistake = only("WK-CP-016", irsa=IrsaIssuer(publish="cloudfrnt"))
    assert mistake.path == ("irsa", "publish")
    assert mistake.remedy == 'set publish to "cloudfront"'


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("WK-KAD-001", {"kubernetes_version": "1.34"}),
        ("WK-KAD-010", {"extra_arguments": ExtraArguments(api_server={"cloud-provider": "external"})}),
        ("WK-KAD-014", {"feature_gates": {"NoSuchGate": True}}),
        ("WK-KAD-024", {"api_server_names": ("under_score",)}),
        ("WK-DNS-002", {"cluster_name": f"{'a' * 64}.example.com"}),
        ("WK-DNS-007", {"cluster_name": "prod.example.org"}),
        ("WK-NET-001", {"region": "eu-centrall-1"}),
        ("WK-ART-002", {"artefact_digests": {"kubelet-1.36.4-linux-amd64": "md5:0"}}),
        ("WK-IAM-020", {"role_path": "team"}),
        ("WK-TAG-002", {"tags": {"aws:x": "y"}}),
    ],
)
def test_other_rooms_refuse_what_is_theirs(code: str, changes: dict[str, Any]) -> None:
    assert code in {mistake.rule.code for mistake in found(**changes)}


@pytest.mark.parametrize(
    ("image_id", "words"),
    [("al2023", 'set linux to "al2023"'), ("2022", 'set windows to "2022"'), ("ami-12", "write the ID of an AMI")],
)
def test_an_image_is_named_by_its_id(image_id: str, words: str) -> None:
    """WK-IG-029, as of instance groups: a name that linux takes would come back from EC2 as a malformed id."""
    mistake = only("WK-IG-029", image_id=image_id)
    assert (mistake.path, mistake.got) == (("image_id",), image_id)
    assert words in mistake.remedy


def test_an_image_that_another_resource_makes_is_left_alone() -> None:
    assert found(image_id=object()) == []


def test_a_repository_of_images_has_no_scheme() -> None:
    """WK-IG-008, as of targets: container runtimes would look for a host named https."""
    mistake = only("WK-IG-008", image_repository="https://registry.k8s.io")
    assert (mistake.path, mistake.remedy) == (("image_repository",), 'write "registry.k8s.io"')


def test_the_cluster_s_key_is_not_the_bucket_s() -> None:
    """WK-CP-018: workers decrypt boot files with the bucket's."""
    mistake = only("WK-CP-018", kms_key_arn=BUCKET_KEY)
    assert (mistake.path, mistake.got) == (("kms_key_arn",), BUCKET_KEY)
    assert "leave it out" in mistake.remedy


def test_an_artefact_without_a_digest_is_refused_with_how_to_get_it() -> None:
    """WK-ART-001, for what these nodes download: the digest of this release could be looked up nowhere."""
    name = "cri-o-1.37.0-linux-arm64"
    wanted = {"kubernetes_version": "1.37", "runtime": "cri-o", "instance_types": ("m7g.large",)}
    mistake = only("WK-ART-001", **wanted)
    assert mistake.path == ("artefact_digests", name)
    assert f'add "{name}": "sha256:<digest>"; get it with: curl' in mistake.remedy
    assert found(**wanted, artefact_digests={name: f"sha256:{'0' * 64}"}) == []


def test_a_digest_of_another_group_s_file_is_its_own_to_judge() -> None:
    """The same mapping serves all groups of a cluster."""
    digest = f"sha256:{'0' * 64}"
    assert found(artefact_digests={"kubelet-1.36.4-windows-amd64": digest}) == []
    assert [m.rule.code for m in found(artefact_digests={"kubelt-1.36.4-linux-amd64": digest})] == ["WK-ART-003"]


def test_all_mistakes_are_told_at_once() -> None:
    mistakes = found(slots=2, runtime="docker", linux="gentoo", incarnation=0, kubernetes_version="1.20")
    assert {mistake.rule.code for mistake in mistakes} >= {
        "WK-CP-001",
        "WK-CP-005",
        "WK-CP-006",
        "WK-CP-014",
        "WK-KAD-001",
    }


def test_one_zone_for_three_slots_is_advised_against() -> None:
    advice = advise_control_plane(control_plane_args(zones=("eu-central-1a",), subnet_ids=("subnet-0a",)))
    assert [mistake.path for mistake in advice] == [("zones",)]
    (burst,) = advise_control_plane(control_plane_args(instance_types=("t3.large",)))
    assert "CPU credits" in burst.message
    assert not advise_control_plane(control_plane_args())
