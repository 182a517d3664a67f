"""Type tokens of the resources that rules look at."""

from collections.abc import Iterable
from typing import Any, cast

ACCESS_ENTRY = "aws:eks/accessEntry:AccessEntry"
ACCESS_KEY = "aws:iam/accessKey:AccessKey"
ACCOUNT_PUBLIC_ACCESS_BLOCK = "aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock"
ACCESS_POLICY_ASSOCIATION = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
ADDON = "aws:eks/addon:Addon"
AUTO_SCALING_GROUP = "aws:autoscaling/group:Group"
CLASSIC_LOAD_BALANCER = "aws:elb/loadBalancer:LoadBalancer"
CLUSTER = "aws:eks/cluster:Cluster"
DEFAULT_SECURITY_GROUP = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
DETECTOR = "aws:guardduty/detector:Detector"
DETECTOR_FEATURE = "aws:guardduty/detectorFeature:DetectorFeature"
EBS_VOLUME = "aws:ebs/volume:Volume"
EBS_DEFAULT_ENCRYPTION = "aws:ebs/encryptionByDefault:EncryptionByDefault"
ECR_LIFECYCLE = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
ECR_POLICY = "aws:ecr/repositoryPolicy:RepositoryPolicy"
ECR_REPOSITORY = "aws:ecr/repository:Repository"
EFS_FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
EKS_POD_IDENTITY = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
FARGATE_PROFILE = "aws:eks/fargateProfile:FargateProfile"
FLOW_LOG = "aws:ec2/flowLog:FlowLog"
FSX_WINDOWS = "aws:fsx/windowsFileSystem:WindowsFileSystem"
GROUP_POLICY = "aws:iam/groupPolicy:GroupPolicy"
GROUP_POLICY_ATTACHMENT = "aws:iam/groupPolicyAttachment:GroupPolicyAttachment"
IAM_POLICY = "aws:iam/policy:Policy"
IDENTITY_PROVIDER_CONFIG = "aws:eks/identityProviderConfig:IdentityProviderConfig"
INSTANCE = "aws:ec2/instance:Instance"
INSTANCE_PROFILE = "aws:iam/instanceProfile:InstanceProfile"
INTERNET_GATEWAY = "aws:ec2/internetGateway:InternetGateway"
KMS_KEY = "aws:kms/key:Key"
KMS_KEY_POLICY = "aws:kms/keyPolicy:KeyPolicy"
LAUNCH_CONFIGURATION = "aws:ec2/launchConfiguration:LaunchConfiguration"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
NETWORK_ACL = "aws:ec2/networkAcl:NetworkAcl"
NETWORK_ACL_RULE = "aws:ec2/networkAclRule:NetworkAclRule"
NETWORK_INTERFACE = "aws:ec2/networkInterface:NetworkInterface"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
POLICY_ATTACHMENT = "aws:iam/policyAttachment:PolicyAttachment"
ROLE = "aws:iam/role:Role"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
ROLE_POLICY_ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
ROUTE = "aws:ec2/route:Route"
ROUTE_TABLE = "aws:ec2/routeTable:RouteTable"
ROUTE_TABLE_ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
SECRET = "aws:secretsmanager/secret:Secret"  # noqa: S105 (a type)
SECRET_POLICY = "aws:secretsmanager/secretPolicy:SecretPolicy"  # noqa: S105
SECRET_ROTATION = "aws:secretsmanager/secretRotation:SecretRotation"  # noqa: S105
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
SECURITY_GROUP_INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
SECURITY_GROUP_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
SSM_DOCUMENT = "aws:ssm/document:Document"
SSM_PARAMETER = "aws:ssm/parameter:Parameter"
SUBNET = "aws:ec2/subnet:Subnet"
TRAIL = "aws:cloudtrail/trail:Trail"
USER_POLICY = "aws:iam/userPolicy:UserPolicy"
USER_POLICY_ATTACHMENT = "aws:iam/userPolicyAttachment:UserPolicyAttachment"
VPC = "aws:ec2/vpc:Vpc"
VPC_BLOCK_PUBLIC_ACCESS = "aws:ec2/vpcBlockPublicAccessOptions:VpcBlockPublicAccessOptions"
VPC_ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
VPC_MORE_CIDR = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"

# The same resources under two names: the provider kept the older ones.
LISTENERS = frozenset(["aws:lb/listener:Listener", "aws:alb/listener:Listener"])
LOAD_BALANCERS = frozenset(["aws:lb/loadBalancer:LoadBalancer", "aws:alb/loadBalancer:LoadBalancer"])
BUCKETS = frozenset(["aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2"])
BUCKET_ACLS = frozenset(["aws:s3/bucketAcl:BucketAcl", "aws:s3/bucketAclV2:BucketAclV2"])
BUCKET_LIFECYCLES = frozenset([
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2",
])  # fmt: skip
BUCKET_LOGGINGS = frozenset(["aws:s3/bucketLogging:BucketLogging", "aws:s3/bucketLoggingV2:BucketLoggingV2"])
BUCKET_OBJECTS = frozenset(["aws:s3/bucketObject:BucketObject", "aws:s3/bucketObjectv2:BucketObjectv2"])
BUCKET_OWNERSHIP = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
BUCKET_POLICY = "aws:s3/bucketPolicy:BucketPolicy"
BUCKET_PUBLIC_ACCESS_BLOCK = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
BUCKET_VERSIONINGS = frozenset([
    "aws:s3/bucketVersioning:BucketVersioning",
    "aws:s3/bucketVersioningV2:BucketVersioningV2",
])  # fmt: skip

IDENTITY_POLICIES = frozenset([IAM_POLICY, ROLE_POLICY, GROUP_POLICY, USER_POLICY, ROLE])
"""What says what an identity may do."""
LAUNCHED = frozenset([LAUNCH_TEMPLATE, LAUNCH_CONFIGURATION, INSTANCE])
"""What starts instances, or says how they are started."""

CLUSTER_ROLE = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
CLUSTER_ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
CONFIG_MAP_PATCH = "kubernetes:core/v1:ConfigMapPatch"
CRON_JOB = "kubernetes:batch/v1:CronJob"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
INGRESS = "kubernetes:networking.k8s.io/v1:Ingress"
JOB = "kubernetes:batch/v1:Job"
KUBERNETES_PROVIDER = "pulumi:providers:kubernetes"
KUBERNETES_ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
NAMESPACE = "kubernetes:core/v1:Namespace"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
POD = "kubernetes:core/v1:Pod"
POD_TEMPLATE_OWNERS = {
    POD: (),
    "kubernetes:core/v1:ReplicationController": ("template",),
    DEPLOYMENT: ("template",),
    "kubernetes:apps/v1:ReplicaSet": ("template",),
    "kubernetes:apps/v1:StatefulSet": ("template",),
    DAEMON_SET: ("template",),
    JOB: ("template",),
    CRON_JOB: ("jobTemplate", "spec", "template"),
}
"""Everything that makes pods, with the way from its ``spec`` to the template; a pod is its own."""
INSTALLERS = frozenset([
    "kubernetes:helm.sh/v3:Chart", "kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v4:Chart",
    "kubernetes:operator.tigera.io/v1:Installation",
])  # fmt: skip
"""What brings other programs into a cluster. No rule judges them: their names tell what is installed."""
WORKLOADS = frozenset(POD_TEMPLATE_OWNERS)
PVC = "kubernetes:core/v1:PersistentVolumeClaim"
ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
RUNTIME_CLASS = "kubernetes:node.k8s.io/v1:RuntimeClass"
SECURITY_GROUP_POLICY = "kubernetes:vpcresources.k8s.aws/v1beta1:SecurityGroupPolicy"
SERVICE = "kubernetes:core/v1:Service"
STATEFUL_SET = "kubernetes:apps/v1:StatefulSet"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"


def _known_types() -> frozenset[str]:
    values: list[Any] = [value for name, value in globals().items() if name.isupper()]
    groups = [cast(Iterable[str], [value] if isinstance(value, str) else value) for value in values]
    return frozenset(kind for group in groups for kind in group)


KNOWN_TYPES = _known_types()
"""Every type above: what stack rules are given."""
