// An EKS cluster with two Linux nodes and one Windows node, in a network of its own.
import * as pulumi from "@pulumi/pulumi";
import * as winkube from "@pulumi/winkube";

const region = new pulumi.Config("aws").require("region");
const kubernetesVersion = "1.36";

const network = new winkube.Network("demo-network", { region, nat: "single", clusterNames: ["demo"] });
// The list is written out: how many subnets there are is known before the deployment, their ids are not.
const subnetIds = [network.privateSubnetIds[0], network.privateSubnetIds[1]];
const eks = new winkube.EksCluster("demo", { clusterName: "demo", region, kubernetesVersion, subnetIds });
// What decides which nodes can join is plain; what the cloud computes may be an output.
const cluster = { name: eks.clusterName, kubernetesVersion };

const ipam = new winkube.WindowsIpam("demo-ipam", { cluster });
const proxy = new winkube.EksAddon("demo-proxy", { cluster, addonName: "kube-proxy" });
const linux = new winkube.EksLinuxNodeGroup(
    "demo-system",
    { name: "system", cluster, subnetIds },
    { dependsOn: [ipam, proxy] },
);
const dns = new winkube.EksAddon("demo-dns", { cluster, addonName: "coredns" }, { dependsOn: [linux] });
new winkube.EksWindowsNodeGroup(
    "demo-windows",
    { name: "windows", cluster, subnetIds, windows: "2022" },
    { dependsOn: [ipam, dns] },
);

export const kubeconfig = eks.kubeconfig;
