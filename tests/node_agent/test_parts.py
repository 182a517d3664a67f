"""The parts of the agent that need no process: backups, secrets, document, certificates, members, leases."""

import ast
import datetime as dt
import itertools
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.node_agent.bed import AGENT
from tests.node_agent.package import load

backup, certificates, cluster, document, errors, log, node = (
    load(name) for name in ("backup", "certificates", "cluster", "document", "errors", "log", "node")
)
Backup, Retention = backup.Backup, document.Retention
DIGEST = "a" * 64


def made(taken: float, revision: int = 1) -> "Backup":
    return Backup(f"{taken}-{revision}", taken, revision, DIGEST)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 40 * 86400), st.integers(1, 10**6)), min_size=1, max_size=60, unique=True),
    st.integers(1, 5), st.integers(0, 30), st.integers(0, 30),
)  # fmt: skip
def test_retention_keeps_the_last_good_ones(entries, last: int, hourly: int, daily: int) -> None:
    """Whatever the policy: the newest, and the one with the highest revision, stay; nothing young is deleted first."""
    backups = [made(float(taken), revision) for taken, revision in entries]
    policy = Retention(keep_last=last, keep_hourly=hourly, keep_daily=daily)
    deleted = backup.expired(backups, policy)
    kept = [one for one in backups if one not in deleted]
    assert max(one.taken for one in kept) == max(one.taken for one in backups)
    assert max(one.revision for one in kept) == max(one.revision for one in backups)
    assert len(kept) >= min(len(backups), last)
    assert len(kept) <= last + hourly + daily + 1
    assert backup.expired(kept, policy) == [], "a second round deletes nothing more"


def test_retention_keeps_hours_and_days() -> None:
    """One backup every quarter of an hour for 40 days: the last day in full, a week of hours, a month of days."""
    backups = [made(number * 900.0, number) for number in range(40 * 96)]
    deleted = backup.expired(backups, Retention(keep_last=96, keep_hourly=168, keep_daily=30))
    kept = sorted(one.taken for one in backups if one not in deleted)
    assert len(kept) == 96 + (168 - 24) + (30 - 7)
    assert kept[-1] == backups[-1].taken


def test_backup_names_say_everything() -> None:
    """A key gives back time, revision and digest; another file in the folder is none of ours."""
    name = backup.backup_name(1_800_000_000.0, 42, DIGEST)
    assert backup.backup_of(f"clusterconfigs/x/backups/etcd/1/cp-0/{name}")[1:] == (1_800_000_000.0, 42, DIGEST)
    assert backup.backup_of("clusterconfigs/x/backups/etcd/1/cp-0/by-hand.db") is None


@settings(max_examples=100)
@given(st.integers(1, 5), st.floats(0, 10**6))
def test_backups_are_staggered(slots: int, start: float) -> None:
    """Every slot makes one per interval, and no two slots in the same second once they are in step."""
    interval, taken = 900.0, {}
    for slot in range(slots):
        last = None
        for second in itertools.count(int(start), 5):
            if backup.is_due(float(second), last, interval, slot, slots):
                if last is not None:
                    assert interval / 2 <= second - last <= interval + 5
                last = float(second)
            if second > start + 5 * interval:
                break
        taken[slot] = last
    assert all(value is not None for value in taken.values())


def test_staggered_slots_do_not_meet() -> None:
    """Three nodes that start together are apart after two intervals."""
    interval, lasts = 900.0, {}
    for slot in range(3):
        last = None
        for second in range(0, 3600, 5):
            if backup.is_due(float(second), last, interval, slot, 3):
                last = float(second)
        lasts[slot] = last
    assert sorted(lasts.values()) == [2700.0, 3000.0, 3300.0]


SECRETS = [
    "abcdef.0123456789abcdef",
    "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\ncut off",
    f"--certificate-key {'0123456789abcdef' * 4}",
    "certificateKey: 00112233",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_nothing_secret_is_written(secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Tokens, keys and certificate keys are masked in every depth of what is logged."""
    log.log("x", text=f"before {secret} after", deep={"a": [secret]})
    written = json.loads(capsys.readouterr().out)
    text = json.dumps(written)
    for part in ("0123456789abcdef", "MHcCAQEE", "cut off", "00112233"):
        assert part not in text
    assert log.MASK in text


def test_a_registered_secret_is_masked_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """A value that has no known form is masked once it was registered."""
    log.register("correct horse battery staple")
    log.log("x", text="it is correct horse battery staple!")
    assert "horse" not in capsys.readouterr().out


def valid() -> dict:
    return {
        "version": 1, "role": "control_plane", "group": "control-plane", "slot": "cp-0", "slots": ["cp-0"],
        "region": "eu-west-1", "bucket": {"name": "b", "prefix": "clusterconfigs/c/"},
        "cluster": {"name": "c", "kubernetes_version": "1.36.4", "endpoint": "api.c:6443", "incarnation": 1},
        "token": {"parameter": "/winkube/c/join-token", "key_arn": None, "ttl_seconds": 3600, "refresh_seconds": 1800},
        "kubeadm": {"init": "a", "join": "b", "discovery": "c"}, "backup": {"interval_seconds": 900},
    }  # fmt: skip


def change(path: str, value: object) -> dict:
    raw = valid()
    *folders, name = path.split(".")
    part = raw
    for folder in folders:
        part = part[folder]
    part[name] = value
    return raw


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("version", 2, "version must be 1"),
        ("role", "master", "role must be control_plane or worker"),
        ("slot", "cp-9", "slot must be one of slots"),
        ("region", None, "region must be str"),
        ("cluster.incarnation", "1", "cluster.incarnation must be int"),
        ("cluster.endpoint", "https://api.c:6443", 'cluster.endpoint must be "<host>:<port>"'),
        ("bucket.prefix", "clusterconfigs/c", "bucket.prefix must end with a slash"),
        ("token.refresh_seconds", 3000, "token.refresh_seconds must not be more than half"),
        ("kubeadm.join", "${HOSTNAME}", "${HOSTNAME} is not one of the placeholders"),
        ("backup.retention", {"keep_last": 0}, "keep_last must be 1 or more"),
        ("deadlines", {"poll_seconds": "5"}, "deadlines.poll_seconds must be a number"),
    ],
)
def test_a_wrong_document_is_refused(path: str, value: object, message: str) -> None:
    """Each mistake is named with its field, and all are told at once."""
    with pytest.raises(errors.AgentError) as caught:
        document.parse(change(path, value))
    assert message in str(caught.value)
    assert caught.value.rule.code == "WK-AGT-001"
    both = change(path, value)
    both["group"] = 7
    with pytest.raises(errors.AgentError, match=r"group must be str"):
        document.parse(both)


def test_a_right_document_is_read() -> None:
    """Numbers that are not given have their defaults; deadlines that the agent does not know are for others."""
    read = document.parse({**valid(), "deadlines": {"poll_seconds": 1, "download_attempts": 3}})
    assert read.control_plane
    assert read.deadlines.poll_seconds == 1
    assert read.retention.keep_last == 96
    assert document.parse({**valid(), "role": "worker", "slot": None, "slots": None}).backup_seconds is None


def test_only_placeholders_are_filled_in() -> None:
    """A placeholder becomes the fact; a dollar of somebody else's stays."""
    assert document.fill("${INSTANCE_ID} $HOME ${JOIN_TOKEN}", {"INSTANCE_ID": "i-1"}) == "i-1 $HOME ${JOIN_TOKEN}"


def test_members_are_read_with_their_full_ids() -> None:
    """Ids have 64 bits, learners are marked only when they are, and IPv6 addresses stand in brackets."""
    found = cluster.members_of(json.dumps({"members": [
        {"ID": 2**64 - 1, "name": "i-1", "peerURLs": ["https://10.0.0.1:2380"], "clientURLs": []},
        {"ID": 7, "peerURLs": ["https://[fd00::1]:2380"], "isLearner": True},
    ]}))  # fmt: skip
    assert found[0].hex == "f" * 16
    assert found[1] == cluster.Member(7, "", ("fd00::1",), learner=True)


@pytest.mark.parametrize("year", [2030, 2049, 2050, 2120])
def test_the_end_of_a_certificate_is_read(year: int, tmp_path) -> None:
    """Both forms of time in a certificate, before and after 2050; what is no certificate is left out."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])
    end = dt.datetime(year, 5, 6, 7, 8, 9, tzinfo=dt.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(2**80)
        .not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC)).not_valid_after(end)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem = made.public_bytes(serialization.Encoding.PEM).decode()
    assert certificates.ends(pem) == end.timestamp()
    (tmp_path / "ca.crt").write_text(pem)
    (tmp_path / "apiserver.crt").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert certificates.days_left(tmp_path, end.timestamp() - 86400 * 3) == {"ca.crt": 3}


def test_a_command_that_is_missing_or_hangs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing command, one that fails, one that does not end, and one whose lease is lost while it runs."""
    commands = cluster.Commands()
    monkeypatch.setenv("WINKUBE_AGENT_KUBEADM", "no-such-kubeadm")
    with pytest.raises(errors.AgentError) as caught:
        commands.run("kubeadm", "init", seconds=1)
    assert caught.value.rule.code == "WK-AGT-005"
    monkeypatch.setenv("WINKUBE_AGENT_KUBEADM", "sh")
    with pytest.raises(errors.CommandError, match=r"exit code 3") as failed:
        commands.run("kubeadm", "-c", "echo token abcdef.0123456789abcdef >&2; exit 3", seconds=5)
    assert "0123456789abcdef" not in str(failed.value)
    said = r"[preflight] Errors:\n\t[ERROR Port-6443]: Port 6443 is in use\nadvice\nmore\nof it\n"
    checks = f"printf '{said}' >&2; exit 1"
    with pytest.raises(errors.CommandError) as checked:
        commands.run("kubeadm", "-c", checks, seconds=5)
    assert checked.value.got == "[ERROR Port-6443]: Port 6443 is in use"  # not the advice that kubeadm ends with
    with pytest.raises(errors.CommandError, match=r"did not end within"):
        commands.run("kubeadm", "-c", "sleep 30", seconds=0.1)

    def lost() -> None:
        raise errors.LeaseLostError(errors.LEASE_LOST, "lease", "lost", "look again")

    with pytest.raises(errors.LeaseLostError):
        commands.run("kubeadm", "-c", "sleep 30", seconds=30, tick=lost)


@pytest.mark.parametrize("path", sorted((AGENT / "winkube_agent").glob("*.py")), ids=lambda path: path.name)
def test_the_agent_is_python_3_9(path) -> None:
    """The syntax of 3.9, no annotation that 3.9 cannot evaluate, and nothing imported but what is on a node."""
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            found = ast.walk(getattr(node, name, None) or ast.Pass())
            assert not any(isinstance(one, ast.BinOp) for one in found), (path.name, node.lineno)
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        else:
            continue
        for one in names:
            assert one.split(".")[0] in {*sys.stdlib_module_names, "botocore"}, one


def test_the_page_names_codes_that_exist() -> None:
    """Every code on the page of the agent is one of its rules."""
    page = (AGENT.parents[1] / "docs/node-agent.md").read_text()
    codes = {one.code for one in vars(errors).values() if isinstance(one, errors.Rule)}
    named = set(re.findall(r"WK-AGT-\d{3}", page))
    assert named
    assert named <= codes


def test_botocore_is_imported_only_when_it_is_needed() -> None:
    """The agent's own modules load without botocore: the first call to AWS brings it."""
    code = "import sys, winkube_agent.agent; print('botocore' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=AGENT)
    assert done.stdout == "False\n"


def test_a_reset_has_an_end_and_one_that_fails_is_still_to_be_done(tmp_path, monkeypatch):
    """A stuck kubeadm is ended within minutes; what it should have cleaned is left, so that the next look resets."""
    monkeypatch.setenv(node.ROOT, str(tmp_path))
    (tmp_path / "var/lib/etcd/member").mkdir(parents=True)
    calls = []

    class Stuck:
        def run(self, *words, seconds, **_):
            calls.append((words, seconds))
            raise errors.CommandError(errors.COMMAND_FAILED, "kubeadm reset", "did not end", "nothing")

    made = node.Node(SimpleNamespace(deadlines=None), {}, Stuck())
    with pytest.raises(errors.CommandError):
        made.reset()
    [(words, seconds)] = calls
    assert words[:2] == ("kubeadm", "reset")
    assert 0 < seconds <= 300
    assert (tmp_path / "var/lib/etcd/member").exists()
