"""The control plane of a self-managed cluster on Linux: kubeadm, stacked etcd, fixed slots.

- the certificate authorities, and their files in the part of the state bucket that the control plane alone can read;
  or, on wish, what the nodes need to make them there themselves;
- security groups from the port matrix, load balancers, the record of the API;
- the role of the nodes, the join token's parameter and its key;
- what the nodes are told, and the code that they run: objects of the state bucket, by digest;
- a launch template and an Auto Scaling group of one machine per slot, which counts as made when the load balancer finds
  the API of its machine healthy;
- on wish the issuer by which ServiceAccounts get IAM roles.

A change of a launch template replaces no machine: ``winkube cluster roll`` does, one slot at a time.
"""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.order import ordered_after
from ..core.tags import cluster_tag, named
from ..ec2.launch_template import Volume, block_device_mappings, metadata_options, tag_specifications
from ..instance_groups.access import mirror_access
from ..instance_groups.boot_code import KEPT, BootCode, BootCodeArgs, object_tags
from ..instance_groups.join_target import JoinTarget
from ..kubeadm.kubeconfig import admin_kubeconfig
from ..kubeadm.rendering import render
from ..roles.policy_documents import account_key, document, rendered
from ..roles.role import ControlPlaneRole
from ..state_bucket.layout import ClusterLayout
from .args import LinuxControlPlaneArgs, check_control_plane_args, role_args
from .authorities import ClusterAuthorities, ClusterAuthoritiesArgs
from .balancer import ApiBalancer, ApiBalancerArgs
from .control_plane_policies import (
    BUCKET_TAG,
    CLUSTER_NAME_TAG,
    INCARNATION_TAG,
    SLOT_TAG,
    cloud_controller,
    cluster_state,
    join_token_writer,
    leaving,
    secrets_key_user,
)
from .control_plane_rules import advise_control_plane
from .issuer import ServiceAccountIssuer, ServiceAccountIssuerArgs
from .security_groups import ClusterSecurityGroups, ClusterSecurityGroupsArgs
from .slot_documents import (
    AUTHORITY_FILES,
    PUBLISHED_CERTIFICATE,
    PUBLISHED_KUBECONFIG,
    ClusterFacts,
    encryption_file,
    encryption_text,
    image_parameter,
    node_document,
    pki_files,
    root_device,
    user_data,
)
from .slots import GROUP, Slot, plan_slots

__all__ = ["LinuxControlPlane", "LinuxControlPlaneArgs"]

NO_TOKEN = "none"  # noqa: S105 (no token: the first node writes one)
ETCD_DEVICE = "/dev/sdf"
CAPACITY_TIMEOUT = "25m"
"""Boot, kubeadm and the load balancer's three to five minutes, one slot after the other."""
LEAVE_SECONDS = 300
"""What a node has to move etcd's leadership, leave etcd and delete its Node."""
KEY_DELETION_DAYS = 30


class LinuxControlPlane(Component):
    """A highly available control plane on EC2. It is ready when its API is healthy behind the load balancer.

    :raises WinkubeError: ``WK-CP``, ``WK-KAD``, ``WK-ART``, ``WK-DNS``, ``WK-NET``, ``WK-IAM``, ``WK-TAG``.
    """

    boot_code: BootCode
    """The boot code of all nodes, for the ``boot_code`` of instance groups: they then share it."""
    target: JoinTarget
    """The join target for instance groups. They wait for the API record and the token parameter, not for its nodes."""
    endpoint: str
    """Its API as ``host:port``."""
    kubeconfig: pulumi.Output[str]
    """The administrator's kubeconfig, known when the API is healthy: a secret, valid for a day by default."""
    certificate_authority: pulumi.Output[str]
    """The certificate authority as PEM; if the nodes create it, known when the API is healthy."""
    role_arn: pulumi.Output[str]
    """ARN of the role of its nodes."""
    role_name: pulumi.Output[str]
    """Name of that role, to attach further policies to."""
    kms_key_arn: pulumi.Output[str]
    """ARN of the cluster's KMS key, which encrypts the join token and the certificate authorities."""
    api_security_group_id: pulumi.Output[str]
    """The security group of the load balancers."""
    control_plane_security_group_id: pulumi.Output[str]
    """The security group of its nodes."""
    linux_security_group_id: pulumi.Output[str]
    """The security group for Linux workers."""
    windows_security_group_id: pulumi.Output[str]
    """The security group for Windows workers."""
    oidc_issuer: pulumi.Output[str] | None
    """The issuer of service account tokens, if IRSA is on."""
    oidc_provider_arn: pulumi.Output[str] | None
    """ARN of the IAM OIDC provider, if IRSA is on."""
    autoscaling_group_names: Sequence[pulumi.Output[str]]
    """Names of the slots' Auto Scaling groups, in the order of the slots."""

    def __init__(self, name: str, args: LinuxControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_control_plane_args(args))
        self.advise(advise_control_plane(args))
        self._name, self._args, self._opts = name, args, opts
        self._layout = ClusterLayout(args.cluster_name)
        self._slots = plan_slots(args.slots, args.zones)
        self.endpoint = args.endpoint
        self._authorities = self._create_authorities() if args.pki == "deployment" else None
        self._groups = self._create_security_groups()
        self._balancers = self._create_balancers()
        self._issuer = self._create_issuer()
        self.kms_key_arn = self._key()
        self._parameter = self._create_parameter()
        self._role = self._create_role()
        self.role_arn, self.role_name = self._role.role_arn, self._role.role_name
        self.boot_code = self._create_boot_code()
        secrets = self._create_secret_objects()
        groups = [self._create_slot(slot, secrets) for slot in self._slots]
        self.autoscaling_group_names = [group.name for group in groups]
        self.certificate_authority = self._certificate_authority(groups)
        self.kubeconfig = self._kubeconfig(groups)
        self.target = self._target()
        self._register()

    def _register(self) -> None:
        groups, issuer = self._groups, self._issuer
        self.api_security_group_id = groups.api_load_balancer_id
        self.control_plane_security_group_id = groups.control_plane_id
        self.linux_security_group_id, self.windows_security_group_id = groups.linux_id, groups.windows_id
        self.oidc_issuer = issuer.issuer if issuer else None
        self.oidc_provider_arn = issuer.oidc_provider_arn if issuer else None
        self.register_outputs({
            "endpoint": self.endpoint,
            "kubeconfig": self.kubeconfig,
            "certificateAuthority": self.certificate_authority,
            "roleArn": self.role_arn,
            "roleName": self.role_name,
            "kmsKeyArn": self.kms_key_arn,
            "tokenParameter": self._args.token_parameter,
            "apiSecurityGroupId": self.api_security_group_id,
            "controlPlaneSecurityGroupId": self.control_plane_security_group_id,
            "linuxSecurityGroupId": self.linux_security_group_id,
            "windowsSecurityGroupId": self.windows_security_group_id,
            "oidcIssuer": self.oidc_issuer,
            "oidcProviderArn": self.oidc_provider_arn,
            "autoscalingGroupNames": list(self.autoscaling_group_names),
        })  # fmt: skip

    # -- before the nodes -------------------------------------------------------------------------------------

    def _create_authorities(self) -> ClusterAuthorities:
        args = self._args
        settings = ClusterAuthoritiesArgs(
            encryption_algorithm=args.encryption_algorithm,
            admin_certificate_hours=args.admin_certificate_hours,
            deletion_protection=args.deletion_protection,
        )
        return ClusterAuthorities(f"{self._name}-pki", settings, self.child())

    def _create_security_groups(self) -> ClusterSecurityGroups:
        args = self._args
        settings = ClusterSecurityGroupsArgs(
            cluster_name=args.cluster_name,
            vpc_id=args.vpc_id,
            api_allowed_cidrs=args.api_allowed_cidrs,
            tags=args.tags,
        )
        return ClusterSecurityGroups(f"{self._name}-sg", settings, self.child())

    def _create_balancers(self) -> list[ApiBalancer]:
        """The internal one, and the public one where it is wanted; each in its own zones."""
        args = self._args
        public = args.api_exposure == "public"
        inside = {word: zone for word, zone in args.zone_ids.items() if not public or word == "private"}
        made = [self._create_balancer("api", args.api_subnet_ids or args.subnet_ids, inside, internal=True)]
        if public:
            outside = {word: zone for word, zone in args.zone_ids.items() if word == "public"}
            made.append(self._create_balancer("public-api", args.public_subnet_ids, outside, internal=False))
        return made

    def _create_balancer(
        self, word: str, subnet_ids: Sequence[pulumi.Input[str]], zone_ids: Any, *, internal: bool
    ) -> ApiBalancer:
        args = self._args
        settings = ApiBalancerArgs(
            cluster_name=args.cluster_name,
            domain=args.domain,
            vpc_id=args.vpc_id,
            subnet_ids=subnet_ids,
            security_group_id=self._groups.api_load_balancer_id,
            zone_ids=zone_ids,
            internal=internal,
            health_check=args.health_check,
            deletion_protection=args.deletion_protection,
            tags=args.tags,
        )
        return ApiBalancer(f"{self._name}-{word}", settings, self.child())

    def _create_issuer(self) -> ServiceAccountIssuer | None:
        args, made = self._args, self._authorities
        if args.irsa is None or made is None:
            return None
        settings = ServiceAccountIssuerArgs(
            cluster_name=args.cluster_name,
            region=args.region,
            public_key=made.service_account_public_key,
            settings=args.irsa,
            tags=args.tags,
        )
        return ServiceAccountIssuer(f"{self._name}-issuer", settings, self.child())

    def _key(self) -> pulumi.Output[str]:
        args = self._args
        if args.kms_key_arn is not None:
            return pulumi.Output.from_input(args.kms_key_arn)
        key = aws.kms.Key(
            f"{self._name}-key",
            description=f"Join token and secrets of the Kubernetes cluster {args.cluster_name}",
            enable_key_rotation=True,
            deletion_window_in_days=KEY_DELETION_DAYS,
            tags=named(args.tags, f"{self._name}-key"),
            opts=self.child(protect=args.deletion_protection or None),
        )
        aws.kms.KeyPolicy(
            f"{self._name}-key",
            key_id=key.key_id,
            policy=key.arn.apply(lambda arn: rendered(document(account_key(arn)))),
            opts=self.child(),
        )
        return key.arn

    def _create_parameter(self) -> aws.ssm.Parameter:
        # Made here, so that it goes with the cluster and nobody else can make one of its name; the value is the nodes'.
        return aws.ssm.Parameter(
            f"{self._name}-join-token",
            name=self._args.token_parameter,
            description="The join token, kept fresh by the control plane",
            type="SecureString",
            key_id=self.kms_key_arn,
            value=pulumi.Output.secret(NO_TOKEN),
            tags=named(self._args.tags, f"{self._name}-join-token"),
            opts=self.child(ignore_changes=["value"]),
        )

    def _create_role(self) -> ControlPlaneRole:
        args = self._args
        facts = pulumi.Output.all(args.bucket_arn, args.bucket_key_arn, self.kms_key_arn)
        documents: dict[str, pulumi.Input[str]] = {
            "cloud-controller": rendered(cloud_controller(args.cluster_name, args.region, args.partition)),
            "leaving": rendered(leaving(args.cluster_name, args.region, args.partition)),
            "state": facts.apply(
                lambda known: rendered(
                    cluster_state(
                        self._layout,
                        str(known[0]),
                        known[1],
                        key_arn=str(known[2]),
                        incarnation=args.incarnation,
                        group=GROUP,
                        pki=args.pki,
                    )
                )
            ),
            "join-token": pulumi.Output.all(self._parameter.arn, self.kms_key_arn).apply(
                lambda known: rendered(join_token_writer(str(known[0]), str(known[1])))
            ),
        }
        if mirror := mirror_access(args):
            documents["mirror"] = rendered(document(*mirror))
        if args.secrets_encryption == "kms":
            documents["secrets-key"] = self._secrets_key().apply(lambda arn: rendered(secrets_key_user(arn)))
        return ControlPlaneRole(f"{self._name}-nodes", role_args(args, documents), self.child())

    def _secrets_key(self) -> pulumi.Output[str]:
        given = self._args.secrets_kms_key_arn
        return self.kms_key_arn if given is None else pulumi.Output.from_input(given)

    # -- objects of the bucket ----------------------------------------------------------------------------------

    def _create_object(self, word: str, key: pulumi.Input[str], *, kept: bool, **content: Any) -> aws.s3.BucketObjectv2:
        return aws.s3.BucketObjectv2(
            f"{self._name}-{word}",
            bucket=self._args.bucket,
            key=key,
            **content,
            tags=object_tags(self._args.tags, f"{self._name}-{word}"),
            opts=self.child(**(KEPT if kept else {})),
        )

    def _create_boot_code(self) -> BootCode:
        args = self._args
        settings = BootCodeArgs(cluster_name=args.cluster_name, bucket=args.bucket, tags=args.tags)
        return BootCode(f"{self._name}-boot", settings, self.child())

    def _create_secret_objects(self) -> list[aws.s3.BucketObjectv2]:
        """The authorities' files, and the key of the Kubernetes secrets, where the nodes find them."""
        args, made = self._args, self._authorities
        encryption = [encryption_file()] if args.secrets_encryption == "secretbox" else []
        self._secret_files = [*pki_files(AUTHORITY_FILES), *encryption]
        if made is None:
            return []
        contents = dict(zip(pki_files(list(made.files)), made.files.values(), strict=True))
        for file in encryption:
            contents[file] = made.secretbox_key.apply(lambda key: encryption_text(args, key))
        return [
            self._create_object(
                f"pki-{secret.file}",
                self._layout.pki(secret.file, args.incarnation),
                kept=False,
                # Not the bucket's own key, which workers use for their boot files.
                server_side_encryption="aws:kms",
                kms_key_id=self.kms_key_arn,
                # All of them as secrets: a reader of the plan need not tell which is which.
                content=pulumi.Output.secret(content),
            )
            for secret, content in contents.items()
        ]

    # -- the nodes ------------------------------------------------------------------------------------------------

    def _create_slot(self, slot: Slot, secrets: Sequence[pulumi.Resource]) -> aws.autoscaling.Group:
        args = self._args
        names = [each.name for each in self._slots]
        text = self._facts().apply(
            lambda facts: node_document(args, facts, slot.name, names, self._secret_files).text()
        )
        told = self._create_object(
            slot.name,
            text.apply(lambda it: self._layout.node_document(GROUP, sha256(it.encode()).hexdigest())),
            kept=True,
            content=text,
            content_type="application/json",
        )
        template = self._create_template(slot, told)
        return aws.autoscaling.Group(
            f"{self._name}-{slot.name}",
            min_size=1,
            max_size=1,
            desired_capacity=1,
            vpc_zone_identifiers=[args.subnet_ids[slot.index]],
            target_group_arns=[balancer.target_group_arn for balancer in self._balancers],
            mixed_instances_policy=self._instances(template),
            # EC2's own view alone: a slow API server must not have its etcd member thrown away.
            health_check_type="EC2",
            wait_for_elb_capacity=1,
            wait_for_capacity_timeout=CAPACITY_TIMEOUT,
            initial_lifecycle_hooks=[
                {
                    "name": "leave-cluster",
                    "lifecycle_transition": "autoscaling:EC2_INSTANCE_TERMINATING",
                    "heartbeat_timeout": LEAVE_SECONDS,
                    "default_result": "CONTINUE",
                }
            ],
            tags=self._group_tags(slot),
            opts=self.child(
                depends_on=ordered_after(self._opts, *self._before(), *secrets, told),
                custom_timeouts=pulumi.CustomTimeouts(delete="20m"),
            ),
        )

    def _before(self) -> list[pulumi.Resource]:
        """What a node meets when it starts: rights, open ports, the API's name, its code, the token's parameter."""
        rules = list(self._groups.rules)
        records = [balancer.record for balancer in self._balancers]
        return [self._role, *rules, *records, self.boot_code, self._parameter]

    def _instances(self, template: aws.ec2.LaunchTemplate) -> Any:
        return {
            "launch_template": {
                "launch_template_specification": {
                    "launch_template_id": template.id,
                    "version": template.latest_version.apply(str),
                },
                "overrides": [{"instance_type": name} for name in self._args.instance_types],
            },
            "instances_distribution": {
                "on_demand_percentage_above_base_capacity": 100,
                "on_demand_allocation_strategy": "prioritized",
            },
        }

    def _group_tags(self, slot: Slot) -> list[Any]:
        tags = self._slot_tags(slot)
        launched = [{"key": key, "value": value, "propagate_at_launch": True} for key, value in tags.items()]
        # By these ``winkube cluster`` finds what the agents say.
        own = {BUCKET_TAG: self._args.bucket, INCARNATION_TAG: str(self._args.incarnation)}
        return [*launched, *({"key": key, "value": value, "propagate_at_launch": False} for key, value in own.items())]

    def _slot_tags(self, slot: Slot) -> dict[str, str]:
        args = self._args
        own = {SLOT_TAG: slot.name, CLUSTER_NAME_TAG: args.cluster_name, **cluster_tag(args.cluster_name)}
        return named(args.tags, f"{self._name}-{slot.name}", **own)

    def _create_template(self, slot: Slot, told: aws.s3.BucketObjectv2) -> aws.ec2.LaunchTemplate:
        args = self._args
        volumes = [Volume(root_device(args.linux), args.root_volume_size_gib)]
        if args.etcd_volume_size_gib is not None:
            volumes.append(Volume(ETCD_DEVICE, args.etcd_volume_size_gib))
        keys = pulumi.Output.all(args.bucket, self.boot_code.keys["linux"], told.key)
        # The cluster's tag comes from the group: an instance has it once, and disks are none of the controller's.
        tags = named(args.tags, f"{self._name}-{slot.name}", **{CLUSTER_NAME_TAG: args.cluster_name})
        return aws.ec2.LaunchTemplate(
            f"{self._name}-{slot.name}",
            description=f"Slot {slot.name} of the control plane of {args.cluster_name}",
            update_default_version=True,
            image_id=self._image_id(),
            iam_instance_profile={"name": self._role.instance_profile_name},
            vpc_security_group_ids=[self._groups.control_plane_id],
            # The cloud controller writes this name into the node, and the kubelet's serving certificate bears it.
            private_dns_name_options={"hostname_type": "resource-name", "enable_resource_name_dns_a_record": True},
            # Instance metadata does not show tags: one with a slash in its key would stop every launch.
            metadata_options=metadata_options(),
            block_device_mappings=block_device_mappings(volumes, args.volume_kms_key_arn),
            user_data=keys.apply(lambda known: _encoded(user_data(args, *map(str, known)))),
            tag_specifications=tag_specifications(tags),
            tags=named(args.tags, f"{self._name}-{slot.name}"),
            opts=self.child(),
        )

    def _image_id(self) -> pulumi.Input[str]:
        args = self._args
        if args.image_id is not None:
            return args.image_id
        options = pulumi.InvokeOutputOptions(parent=self)
        return aws.ssm.get_parameter_output(name=image_parameter(args), opts=options).insecure_value

    def _facts(self) -> pulumi.Output[ClusterFacts]:
        names = [balancer.dns_name for balancer in self._balancers]
        issuer = self._issuer.issuer if self._issuer else None
        authority = self._authorities.certificate_authority if self._authorities else None
        known = pulumi.Output.all(self._args.bucket, authority, self.kms_key_arn, self._secrets_key(), issuer, *names)
        return known.apply(
            lambda it: ClusterFacts(
                bucket=str(it[0]),
                certificate_authority=None if it[1] is None else str(it[1]),
                token_key_arn=str(it[2]),
                secrets_kms_key_arn=str(it[3]),
                issuer=None if it[4] is None else str(it[4]),
                api_names=[str(name) for name in it[5:]],
            )
        )

    # -- what others get --------------------------------------------------------------------------------------------

    def _certificate_authority(self, groups: Sequence[aws.autoscaling.Group]) -> pulumi.Output[str]:
        made = self._authorities
        return made.certificate_authority if made else self._published(PUBLISHED_CERTIFICATE, groups)

    def _published(self, file: str, groups: Sequence[aws.autoscaling.Group]) -> pulumi.Output[str]:
        """What the nodes put into the bucket; it is there when the API of every slot is healthy."""
        path = self._layout.pki(file, self._args.incarnation)
        # Their ARNs, which a preview does not know of new groups: it then asks for no object that is not there yet.
        key = pulumi.Output.all(*(group.arn for group in groups)).apply(lambda _: path)
        options = pulumi.InvokeOutputOptions(parent=self)
        return aws.s3.get_object_output(bucket=self._args.bucket, key=key, opts=options).body

    def _kubeconfig(self, groups: Sequence[aws.autoscaling.Group]) -> pulumi.Output[str]:
        """Known when the API of every slot is healthy: a Kubernetes provider made from it never meets an absent one."""
        args, made = self._args, self._authorities
        if made is None:
            return pulumi.Output.secret(self._published(PUBLISHED_KUBECONFIG, groups))
        parts = (made.certificate_authority, made.admin_certificate, made.admin_key)
        known = pulumi.Output.all(*parts, *(group.arn for group in groups))
        text = known.apply(
            lambda it: render(admin_kubeconfig(args.cluster_name, args.endpoint, str(it[0]), str(it[1]), str(it[2])))
        )
        return pulumi.Output.secret(text)

    def _target(self) -> JoinTarget:
        args, groups = self._args, self._groups
        # The parameter's name is plain, so that it can be judged; whoever reads the CA waits for the parameter and for
        # the record, without which a worker would learn that there is no such name, and remember it.
        ready = [*(balancer.record for balancer in self._balancers), self._parameter]
        return JoinTarget(
            cluster_name=args.cluster_name,
            kubernetes_version=args.kubernetes_version,
            region=args.region,
            endpoint=args.endpoint,
            token_parameter=args.token_parameter,
            certificate_authority=_after(self.certificate_authority, ready),
            vpc_id=args.vpc_id,
            bucket=args.bucket,
            bucket_arn=args.bucket_arn,
            bucket_key_arn=args.bucket_key_arn,
            token_key_arn=self.kms_key_arn,
            pod_cidr=args.pod_cidr,
            service_cidr=args.service_cidr,
            cluster_domain=args.cluster_domain,
            node_cidr_mask=args.node_cidr_mask,
            incarnation=args.incarnation,
            control_plane_security_group_ids=[groups.control_plane_id],
            node_security_group_ids=[groups.control_plane_id, groups.linux_id, groups.windows_id],
            api_security_group_ids=[groups.api_load_balancer_id],
            linux_security_group_ids=[groups.linux_id],
            windows_security_group_ids=[groups.windows_id],
            mirror=args.mirror,
            registry_mirrors=args.registry_mirrors,
            artefact_digests=args.artefact_digests,
            image_repository=args.image_repository,
            proxy=args.proxy,
        )


def _after(value: pulumi.Output[str], resources: Sequence[pulumi.Resource]) -> pulumi.Output[str]:
    """The value, known when the resources are there."""
    return pulumi.Output.all(value, *(resource.urn for resource in resources)).apply(lambda known: str(known[0]))


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()
