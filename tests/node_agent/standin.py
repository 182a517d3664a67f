"""Stand-ins for kubeadm, kubectl, etcdctl and etcdutl: the name by which this file is called says which.

They keep one world on disk under a lock and model what real ones do with members of etcd: one learner at a time,
quorum, an unhealthy member that blocks a join, and a dead member whose address comes back (kubeadm then reuses its id
on an empty disk, which breaks etcd for good). Everything that matters is written to a journal.
"""

import base64
import fcntl
import json
import os
import re
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BED = Path(os.environ.get("STANDIN_BED", "."))
AUTHORITIES = {
    "ca": ("ca.key", "ca.crt"), "front-proxy-ca": ("front-proxy-ca.key", "front-proxy-ca.crt"),
    "etcd-ca": ("etcd/ca.key", "etcd/ca.crt"), "sa": ("sa.key", "sa.pub"),
}  # fmt: skip
IDENTITY = "/var/lib/kubelet/pki/kubelet-client-current.pem"
ME = os.environ.get("STANDIN_NODE", "")


class World:
    """All machines and all clusters."""

    def __init__(self, values, bed):
        self.values = values
        self.bed = bed

    @property
    def nodes(self):
        return self.values["nodes"]

    @property
    def clusters(self):
        return self.values["clusters"]

    def note(self, event, **fields):
        with (self.bed / "journal.jsonl").open("a") as file:
            file.write(json.dumps({"event": event, "node": ME, **fields}) + "\n")

    def path(self, node, name):
        return Path(self.nodes[node]["root"]) / name.lstrip("/")

    def data(self, node):
        try:
            return json.loads(self.path(node, "/var/lib/etcd/member.json").read_text())
        except OSError:
            return None

    def member(self, node):
        """Cluster and member of a node whose etcd runs; nothing if it does not."""
        data = self.data(node) if self.nodes[node]["up"] else None
        if not data or data.get("broken") or not self.path(node, "/etc/kubernetes/manifests/etcd.yaml").exists():
            return None, None
        cluster = self.clusters.get(data["cluster"])
        found = [one for one in (cluster or {"members": []})["members"] if one["id"] == data["id"] and one["name"]]
        return (cluster, found[0]) if found else (None, None)

    def alive(self, cluster):
        return [node for node in self.nodes if self.member(node)[0] is cluster]

    def quorum(self, cluster, without=None):
        if cluster is None:
            return False
        voters = [one for one in cluster["members"] if not one["learner"] and one is not without]
        serving = [self.member(node)[1] for node in self.alive(cluster)]
        return sum(1 for one in voters if one in serving) > len(voters) // 2

    def by_address(self, address):
        return next((node for node, one in self.nodes.items() if one["ip"] == address and one["up"]), None)

    def serving(self, node):
        cluster, member = self.member(node)
        return cluster if member and not member["learner"] and self.quorum(cluster) else None

    def api(self, node):
        """``ready``, ``unready`` or ``silent``."""
        if not self.nodes[node]["up"] or not self.path(node, "/etc/kubernetes/manifests/apiserver.yaml").exists():
            return "silent"
        return "ready" if self.serving(node) else "unready"

    def behind_endpoint(self):
        states = {self.api(node) for node in self.nodes}
        return next((state for state in ("ready", "unready") if state in states), "silent")

    def served(self):
        return next((self.serving(node) for node in self.nodes if self.api(node) == "ready"), None)


@contextmanager
def world(bed=BED) -> Iterator[World]:
    with (bed / "world.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = bed / "world.json"
        it = World(json.loads(path.read_text()), bed)
        yield it
        new = path.with_suffix(".new")
        new.write_text(json.dumps(it.values))
        new.replace(path)


def fail(message):
    sys.stderr.write(message + "\n")
    sys.exit(1)


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def point(name):
    """A point at which a test may let the whole machine lose this command and the agent."""
    if os.environ.get("STANDIN_DIE") == name:
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    if os.environ.get("STANDIN_HANG") == name:
        time.sleep(1)
    time.sleep(0.01)


def option(name, default=""):
    return next((one.split("=", 1)[1] for one in sys.argv if one.startswith(f"--{name}=")), default)


def kubeadm(arguments):
    command = arguments[0]
    if command == "kubeconfig":
        administrator()
    elif command == "init" and arguments[1] == "phase":
        phase(arguments)
    elif command == "init":
        init()
    elif command == "join":
        join(Path(option("config")).read_text())
    elif command == "reset":
        reset()
    elif command == "token":
        token()


def init():
    with world() as it:
        if it.path(ME, "/etc/kubernetes/manifests/etcd.yaml").exists():
            fail("[ERROR FileAvailable--etc-kubernetes-manifests]: already exists")
        if it.data(ME) and "DirAvailable" not in option("ignore-preflight-errors"):
            fail("[ERROR DirAvailable--var-lib-etcd]: /var/lib/etcd is not empty")
        if not it.path(ME, "/etc/kubernetes/pki/ca.key").exists():
            fail("no certificate authority")
        it.note("init-start", authority=it.path(ME, "/etc/kubernetes/pki/ca.key").read_text())
        put(it.path(ME, "/etc/kubernetes/admin.conf"), "admin")
    point("init:certs")
    with world() as it:
        put(it.path(ME, "/etc/kubernetes/pki/etcd/healthcheck-client.key"))
        put(it.path(ME, "/etc/kubernetes/pki/etcd/healthcheck-client.crt"))
        put(it.path(ME, "/etc/kubernetes/manifests/etcd.yaml"))
        put(it.path(ME, "/etc/kubernetes/manifests/apiserver.yaml"))
    point("init:manifests")
    with world() as it:
        data = it.data(ME) or {"keys": 1, "revision": 1}
        cluster = {"id": uuid.uuid4().hex, "keys": data["keys"], "revision": data["revision"], "config": False,
                   "tokens": {}, "binding": True, "nodes": [], "marked": [], "restored": "restored" in data,
                   "members": [{"id": it.values["next"], "name": ME, "ip": it.nodes[ME]["ip"], "learner": False}],
                   "leader": it.values["next"],
                   "authority": it.path(ME, "/etc/kubernetes/pki/ca.key").read_text()}  # fmt: skip
        it.clusters[cluster["id"]] = cluster
        put(it.path(ME, "/var/lib/etcd/member.json"), json.dumps({"cluster": cluster["id"], "id": it.values["next"]}))
        it.values["next"] += 1
        put(it.path(ME, "/etc/kubernetes/kubelet.conf"))
        it.note("init-serves", cluster=cluster["id"], restored=cluster["restored"])
    point("init:serves")
    with world() as it:
        it.serving(ME)["config"] = True
        it.serving(ME)["nodes"].append(ME)
        it.serving(ME)["marked"].append(ME)
        it.note("init-done", cluster=it.serving(ME)["id"])
    sys.stdout.write("kubeadm join --token aaaaaa.bbbbbbbbbbbbbbbb --discovery-token-ca-cert-hash sha256:0\n")


def phase(arguments):
    with world() as it:
        if arguments[2] == "certs" and arguments[3] in AUTHORITIES:
            authority(it, *AUTHORITIES[arguments[3]])
        elif arguments[2] == "certs":
            put(it.path(ME, "/etc/kubernetes/pki/etcd/healthcheck-client.key"))
            put(it.path(ME, "/etc/kubernetes/pki/etcd/healthcheck-client.crt"))
        elif arguments[2] == "kubeconfig":
            put(Path(option("kubeconfig-dir")) / "admin.conf", "admin")
        elif arguments[2] == "upload-config":
            cluster = it.serving(ME) or fail("etcdserver: no leader")
            cluster["config"] = True
        elif arguments[2] == "bootstrap-token" and it.serving(ME):
            it.serving(ME)["binding"] = True
        elif arguments[2] == "mark-control-plane":
            (it.serving(ME) or fail("etcdserver: no leader"))["marked"].append(ME)


def authority(it, key, public):
    """Like kubeadm: the key first, and what is there in full stays."""
    key, public = (it.path(ME, f"/etc/kubernetes/pki/{name}") for name in (key, public))
    if key.exists() != public.exists():
        fail(f"failure loading {public.name} certificate authority: the other half does not exist")
    if not key.exists():
        it.note("authority", name=public.name)
        put(key, f"-----BEGIN EC PRIVATE KEY-----\n{uuid.uuid4().hex}\n-----END EC PRIVATE KEY-----\n")
        point(f"certs:{public.name}")
        put(public, (BED / "api.crt").read_text())


def administrator():
    with world() as it:
        key = it.path(ME, "/etc/kubernetes/pki/ca.key").read_text()
        certificate = base64.b64encode((BED / "api.crt").read_bytes()).decode()
        user = {"name": option("client-name"), "org": option("org"), "validity": option("validity-period")}
        it.note("administrator", **user)
        data = base64.b64encode(key.encode()).decode()
        sys.stdout.write(f"    client-certificate-data: {certificate}\n    client-key-data: {data}\n")


def join(document):
    discovery = re.search(r"kubeConfigPath: (\S+)", document)[1]
    with world() as it:
        given = re.search(r"token: (\S+)", it.path(ME, discovery).read_text())[1]
        cluster = it.served() or fail("connection refused")
        if cluster["tokens"].get(given, 0) < time.time():
            it.note("join-unauthorized")
            fail(f"Unauthorized: the token {given} is not valid")
        if not cluster["config"]:
            fail('configmaps "kubeadm-config" not found')
        for name in ("bootstrap-kubelet.conf", "kubelet.conf"):
            if it.path(ME, f"/etc/kubernetes/{name}").exists():
                fail(f"[ERROR FileAvailable--etc-kubernetes-{name}]: /etc/kubernetes/{name} already exists")
        put(it.path(ME, "/etc/kubernetes/bootstrap-kubelet.conf"), "bootstrap")
    point("join:preflight")
    if "controlPlane" in document:
        join_etcd()
    with world() as it:
        put(it.path(ME, "/etc/kubernetes/kubelet.conf"), "kubelet")
    point("join:kubeconfig")
    with world() as it:
        put(it.path(ME, IDENTITY), "kubelet")
        it.served()["nodes"].append(ME)
    point("join:kubelet")
    with world() as it:
        it.path(ME, "/etc/kubernetes/bootstrap-kubelet.conf").unlink(missing_ok=True)
        if "controlPlane" in document:
            it.served()["marked"].append(ME)
        it.note("join-done")


def join_etcd():
    address = None
    with world() as it:
        if it.path(ME, "/etc/kubernetes/manifests/etcd.yaml").exists() or it.data(ME):
            fail("[ERROR DirAvailable--var-lib-etcd]: /var/lib/etcd is not empty")
        if not it.path(ME, "/etc/kubernetes/pki/ca.key").exists():
            fail("failure loading certificate authority")
        cluster, address = it.served(), it.nodes[ME]["ip"]
        own = it.path(ME, "/etc/kubernetes/pki/ca.key").read_text()
        if own != cluster.get("authority", own):
            it.note("foreign-authority")
            fail("x509: certificate signed by unknown authority")
        same = [one for one in cluster["members"] if one["ip"] == address]
        if same:  # bootstrap-experiments: "was already promoted", then "panic: tocommit is out of range"
            put(it.path(ME, "/var/lib/etcd/member.json"),
                json.dumps({"cluster": cluster["id"], "id": same[0]["id"], "broken": True}))  # fmt: skip
            put(it.path(ME, "/etc/kubernetes/manifests/etcd.yaml"))
            it.note("reused-dead-member", member=same[0])
            fail("failed while waiting for TLS bootstrap")
        serving = [it.member(node)[1] for node in it.alive(cluster)]
        if any(one not in serving for one in cluster["members"] if not one["learner"]):
            fail("error creating local etcd static pod manifest file: etcdserver: unhealthy cluster")
        if any(one["learner"] for one in cluster["members"]):
            it.note("too-many-learners")
            fail("etcdserver: too many learner members in cluster")
        number = it.values["next"]
        it.values["next"] += 1
        cluster["members"].append({"id": number, "name": "", "ip": address, "learner": True})
        it.note("member-add", id=number)
    point("join:learner")
    with world() as it:
        cluster = it.served()
        own = next((one for one in cluster["members"] if one["id"] == number), None) or fail("member was removed")
        own["name"] = ME
        put(it.path(ME, "/etc/kubernetes/manifests/etcd.yaml"))
        put(it.path(ME, "/etc/kubernetes/manifests/apiserver.yaml"))
        put(it.path(ME, "/var/lib/etcd/member.json"), json.dumps({"cluster": cluster["id"], "id": number}))
    point("join:started")
    with world() as it:
        own = next((one for one in it.served()["members"] if one["id"] == number), None) or fail("member was removed")
        own["learner"] = False
        put(it.path(ME, "/etc/kubernetes/admin.conf"), "admin")
        put(it.path(ME, "/etc/kubernetes/pki/etcd/healthcheck-client.key"))
        it.note("promoted", id=number)
    point("join:promoted")


def reset():
    with world() as it:
        it.note("reset", serving=bool(it.serving(ME)))
        for name in ("manifests/etcd.yaml", "manifests/apiserver.yaml", "admin.conf", "kubelet.conf",
                     "bootstrap-kubelet.conf"):  # fmt: skip
            it.path(ME, f"/etc/kubernetes/{name}").unlink(missing_ok=True)
        it.path(ME, IDENTITY).unlink(missing_ok=True)
        for file in sorted(it.path(ME, "/etc/kubernetes/pki").rglob("*")):
            if file.is_file():
                file.unlink()


def token():
    with world() as it:
        cluster = it.serving(ME) if it.api(ME) == "ready" else None
        if cluster is None:
            fail("connection refused")
        new = f"{uuid.uuid4().hex[:6]}.{uuid.uuid4().hex[:16]}"
        cluster["tokens"][new] = time.time() + float(option("ttl").rstrip("s"))
        it.note("token", by=ME)
        sys.stdout.write(f"W1121 a warning\n{new}\n")


def etcdctl(arguments):
    addresses = [re.sub(r"^https://|:2379$", "", one) for one in option("endpoints").split(",")]
    words = [one for one in arguments if not one.startswith("--")]
    with world() as it:
        if not Path(option("key")).exists():
            fail("open healthcheck-client.key: no such file")
        node = next((one for one in map(it.by_address, addresses) if one and it.member(one)[0]), None)
        if node is None:
            fail("context deadline exceeded")
        cluster, member = it.member(node)
        if words[:2] == ["endpoint", "status"]:
            status = {"header": {"member_id": member["id"]}, "leader": cluster["leader"], "version": "3.6.8",
                      "dbSize": 4096, "revision": cluster["revision"]}  # fmt: skip
            sys.stdout.write(json.dumps([{"Endpoint": addresses[0], "Status": status}]))
            return
        if not it.quorum(cluster) or member["learner"]:
            fail("etcdserver: rpc not supported for learner" if member["learner"] else "etcdserver: no leader")
        if words[:2] == ["member", "list"]:
            found = [{"ID": one["id"], "name": one["name"], "peerURLs": [f"https://{one['ip']}:2380"],
                      "clientURLs": [], **({"isLearner": True} if one["learner"] else {})}
                     for one in cluster["members"]]  # fmt: skip
            sys.stdout.write(json.dumps({"header": {}, "members": found}))
        elif words[:2] == ["member", "remove"]:
            remove(it, cluster, int(words[2], 16))
        elif words[0] == "move-leader":
            cluster["leader"] = int(words[1], 16)
            it.note("move-leader", to=words[1])
        elif words[:2] == ["snapshot", "save"]:
            put(Path(words[2]), json.dumps({"keys": cluster["keys"], "revision": cluster["revision"]}))


def remove(it, cluster, number):
    target = next((one for one in cluster["members"] if one["id"] == number), None) or fail("member not found")
    if not it.quorum(cluster, without=target):
        fail("etcdserver: re-configuration failed due to not enough started members")
    owner = next((node for node, one in it.nodes.items() if node == target["name"]), None)
    owner = owner or it.by_address(target["ip"])
    it.note("member-remove", id=number, name=target["name"], owner=owner, own=owner == ME,
            running=bool(owner and it.nodes[owner]["up"]),
            serving=bool(owner and it.member(owner)[1] is target))  # fmt: skip
    cluster["members"].remove(target)
    if cluster["leader"] == number:
        cluster["leader"] = next(one["id"] for one in cluster["members"] if not one["learner"])


def etcdutl(arguments):
    words = [one for one in arguments if not one.startswith("--")]
    try:
        content = json.loads(Path(words[2]).read_text())
    except ValueError:
        fail("snapshot file integrity check failed")
    if words[1] == "status":
        sys.stdout.write(json.dumps({"revision": content["revision"], "totalKey": content["keys"], "totalSize": 1}))
    elif words[1] == "restore":
        data = {"keys": content["keys"], "revision": content["revision"] + int(option("bump-revision")), "restored": 1}
        put(Path(option("data-dir")) / "member.json", json.dumps({**data, "cluster": "", "id": 0}))
        with world() as it:
            it.note("restore", keys=content["keys"])


def kubectl(arguments):
    words = [one for one in arguments if not one.startswith("--")]
    with world() as it:
        cluster = it.served() or fail("connection refused")
        if words[:2] == ["delete", "node"]:
            cluster["nodes"] = [one for one in cluster["nodes"] if one != words[2]]
            it.note("node-delete", name=words[2], running=it.nodes.get(words[2], {}).get("up", False))
        elif words[:2] == ["delete", "rolebinding"]:
            cluster["binding"] = False


def systemctl(_arguments):
    """No services here."""


if __name__ == "__main__":
    globals()[Path(sys.argv[0]).name](sys.argv[1:])
