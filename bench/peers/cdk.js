// The shape of the stack `dev` in AWS CDK, with as many node groups as asked: a VPC, a cluster, groups, a zone, a bucket.
// `node cdk.js <groups> <folder>`; CDK_VALIDATION=false turns its validation off. Nothing is asked of AWS: the zones are
// given.
const cdk = require('aws-cdk-lib');
const ec2 = require('aws-cdk-lib/aws-ec2');
const eks = require('aws-cdk-lib/aws-eks-v2');
const iam = require('aws-cdk-lib/aws-iam');
const route53 = require('aws-cdk-lib/aws-route53');
const s3 = require('aws-cdk-lib/aws-s3');

const groups = Number(process.argv[2] ?? 2);
const perStack = 280; // CloudFormation takes 500 resources a stack, and a group is a role beside itself in no more
const env = { account: '111122223333', region: 'eu-central-1' };
const zones = ['eu-central-1a', 'eu-central-1b'];
const app = new cdk.App({
  outdir: process.argv[3],
  context: { [`availability-zones:account=${env.account}:region=${env.region}`]: zones },
});
const stack = new cdk.Stack(app, 'bench', { env });
const vpc = new ec2.Vpc(stack, 'vpc', { availabilityZones: zones, natGateways: 1 });
const cluster = new eks.Cluster(stack, 'cluster', {
  vpc, version: eks.KubernetesVersion.of('1.34'), defaultCapacityType: eks.DefaultCapacityType.NODEGROUP,
  defaultCapacity: 0, coreDnsComputeType: eks.CoreDnsComputeType.EC2,
});
new route53.PrivateHostedZone(stack, 'zone', { zoneName: 'dev.example.com', vpc });
new s3.Bucket(stack, 'state', { versioned: true, encryption: s3.BucketEncryption.KMS, enforceSSL: true });
const role = new iam.Role(stack, 'role', { assumedBy: new iam.ServicePrincipal('ec2.amazonaws.com') });
for (let index = 0; index < groups; index++) {
  const holder = index < perStack ? stack : app.node.tryFindChild(`bench${Math.floor(index / perStack)}`)
    ?? new cdk.Stack(app, `bench${Math.floor(index / perStack)}`, { env });
  new eks.Nodegroup(holder, `group${index}`, {
    cluster, nodeRole: iam.Role.fromRoleArn(holder, `role${index}`, 'arn:aws:iam::111122223333:role/node'),
    amiType: index ? eks.NodegroupAmiType.WINDOWS_CORE_2022_X86_64 : eks.NodegroupAmiType.AL2023_X86_64_STANDARD,
    instanceTypes: [new ec2.InstanceType('m6i.xlarge')], minSize: 1, maxSize: 4,
    taints: index ? [{ effect: eks.TaintEffect.NO_SCHEDULE, key: 'os', value: 'windows' }] : [],
  });
}
app.synth();
