"""The loader of Linux nodes: read by cloud-init and shellcheck, and run against a stand-in of S3 and the metadata."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from winkube.node_agent import loader
from winkube.node_agent.loader import (
    LOADER_KEY,
    LOADER_VALUE,
    PROXY_PASSWORD,
    USER_DATA_SIZE,
    LoaderSettings,
    NodeProxy,
    check_loader,
    user_data,
)

from . import web as standin

AGENT = b"the agent " * 1000
DOCUMENT = b'{"version":1}\n'
SCRIPT = Path(loader.__file__).with_name("loader.sh")
BUCKET = "state-example-com"


def digest(data):
    return hashlib.sha256(data).hexdigest()


def settings(**more):
    """What a node of a cluster with a long name is told."""
    prefix = "clusterconfigs/production.clusters.example.com"
    known = {
        "region": "eu-central-1", "bucket": BUCKET, "agent_key": f"{prefix}/boot/{digest(AGENT)}",
        "document_key": f"{prefix}/nodes/general-purpose-workers/{digest(DOCUMENT)}.json",
    }  # fmt: skip
    return LoaderSettings(**{**known, **more})


PROXY = NodeProxy(
    https="http://proxy.corp.example.com:3128", no_proxy=(".corp.example.com", "10.0.0.0/8", "172.16.0.0/12")
)


@pytest.mark.parametrize(
    "more", [{}, {"proxy": PROXY, "s3_endpoint": "https://vpce-1.s3.eu-central-1.vpce.amazonaws.com"}]
)
def test_user_data_is_small_and_says_everything_in_three_files(more):
    text = user_data(settings(**more))
    assert len(text.encode()) <= loader.MAXIMUM_BYTES
    whole = yaml.safe_load(text)
    files = {one["path"]: one["content"] for one in whole["write_files"]}
    assert list(files) == [
        "/opt/winkube/loader.sh",
        "/etc/winkube/loader.env",
        "/etc/systemd/system/winkube-agent.service",
    ]
    assert files["/opt/winkube/loader.sh"] == loader.script()
    assert whole["runcmd"][-1] == ["systemctl", "enable", "--now", "--no-block", "winkube-agent.service"]
    environment = dict(line.split("=", 1) for line in files["/etc/winkube/loader.env"].splitlines())
    assert environment["AGENT"].endswith(f"/boot/{digest(AGENT)}")
    assert ("https_proxy" in environment) == ("proxy" in more)


def test_user_data_holds_no_secret():
    """It can be read by every process, so there is nothing in it that looks like a credential."""
    text = user_data(settings(proxy=PROXY))
    assert not re.search(r"(?i)password|BEGIN|\b[a-z0-9]{6}\.[a-z0-9]{16}\b|AKIA|ASIA", text)


def test_the_proxy_never_stands_before_the_metadata_service_and_the_api():
    text = user_data(settings(proxy=PROXY, api_host="api.prod.example.com"))
    past = re.search(r"no_proxy=(.*)", text)[1].split(",")
    assert past[:3] == ["169.254.169.254", "localhost", "127.0.0.1"]
    assert past[-1] == "api.prod.example.com"


@pytest.mark.parametrize(
    ("region", "endpoint"),
    [
        ("eu-central-1", "https://s3.eu-central-1.amazonaws.com"),
        ("cn-north-1", "https://s3.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_the_endpoint_follows_the_partition(region, endpoint):
    assert f"S3_ENDPOINT={endpoint}\n" in user_data(settings(region=region))


@pytest.mark.parametrize(
    ("field", "value"),
    [("agent_key", "boot/abc"), ("agent_key", f"boot/{'0' * 64}.json"), ("document_key", f"nodes/{'0' * 64}"),
     ("document_key", f"nodes/{'0' * 64}.json; rm"), ("agent_key", "")],
)  # fmt: skip
def test_a_key_without_digest_is_refused(field, value):
    found = check_loader(settings(**{field: value}))
    assert (found[0].rule, found[0].path, found[0].got) == (LOADER_KEY, (field,), value)
    with pytest.raises(ValueError, match="WK-ART-012"):
        user_data(settings(**{field: value}))


@pytest.mark.parametrize("value", ["a b", "a$(reboot)", "a'b", "", "a\nb", "a`b`"])
def test_a_value_that_a_shell_or_systemd_would_read_differently_is_refused(value):
    found = check_loader(settings(bucket=value))
    assert [(one.rule, one.path, one.got) for one in found] == [(LOADER_VALUE, ("bucket",), value)]


def test_a_proxy_with_a_password_is_refused_and_the_password_not_shown():
    found = check_loader(settings(proxy=NodeProxy(https="http://user:hunter2@proxy:3128", http="http://u@proxy:3128")))
    assert [(one.rule, one.path) for one in found] == [
        (PROXY_PASSWORD, ("proxy", "https")),
        (PROXY_PASSWORD, ("proxy", "http")),
    ]
    assert found[0].got == "…@proxy:3128"
    assert "hunter2" not in found[0].text()


def test_user_data_that_is_too_long_is_refused_with_both_sizes():
    found = check_loader(
        settings(proxy=NodeProxy(https="http://p:1", no_proxy=[f"host{n}.example.com" for n in range(99)]))
    )
    assert [one.rule for one in found] == [USER_DATA_SIZE]
    assert re.search(r"has \d{4} bytes, and 4096 are allowed", found[0].message)


SHELLCHECK = str(Path(sys.executable).with_name("shellcheck"))


def test_shellcheck_finds_nothing(tmp_path):
    """In the source, and in what is left of it on a node."""
    (tmp_path / "loader.sh").write_text(loader.script())
    for path in (SCRIPT, tmp_path / "loader.sh"):
        done = subprocess.run([SHELLCHECK, "--severity=style", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.proof
def test_cloud_init_reads_the_user_data(tmp_path):
    """By its own schema, warnings included."""
    if not shutil.which("cloud-init"):
        pytest.skip("needs cloud-init (Debian package cloud-init)")
    path = tmp_path / "user-data"
    path.write_text(user_data(settings(proxy=PROXY)))
    done = subprocess.run(["cloud-init", "schema", "-c", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Valid" in done.stdout
    assert "deprecated" not in done.stdout + done.stderr


@pytest.fixture
def web():
    with standin.serving() as server:
        one = settings()
        server.files = {f"/{BUCKET}/{one.agent_key}": AGENT, f"/{BUCKET}/{one.document_key}": DOCUMENT}
        yield server


class Node:
    """A machine on which the loader runs as the service would run it."""

    def __init__(self, web, root, shell="sh", cli=None, **more):
        folder = root / "bin"
        folder.mkdir(parents=True, exist_ok=True)
        names = ("sh", "curl", "sha256sum", "cut", "tr", "sed", "rm", "mv", "mkdir", "od", shell)
        tools = {name: shutil.which(name) for name in names}
        for name, path in tools.items():
            if not (folder / name).exists():
                (folder / name).symlink_to(path)
        (folder / "sleep").write_text('#!/bin/sh\necho "$@" >> ' + str(root / "slept") + "\n")
        (folder / "sleep").chmod(0o755)
        if cli:
            (folder / "aws").write_text(cli)
            (folder / "aws").chmod(0o755)
        self.script = root / "loader.sh"
        self.script.write_text(loader.script())
        one = settings(s3_endpoint=web.url, **more)
        self.agent, self.document = root / "home/agent.pyz", root / "etc/node.json"
        self.slept = root / "slept"
        self.call = [str(folder / shell), str(self.script)]
        self.environment = {
            **loader._environment(one), "PATH": str(folder), "AWS_EC2_METADATA_SERVICE_ENDPOINT": web.url,
            "HOME_DIRECTORY": str(root / "home"), "CONFIGURATION_DIRECTORY": str(root / "etc"),
        }  # fmt: skip

    def run(self, seconds=30):
        return subprocess.run(
            self.call, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )

    def complete(self):
        """Whether both files are what they must be."""
        return self.agent.read_bytes() == AGENT and self.document.read_bytes() == DOCUMENT


SHELLS = [one for one in ("dash", "bash") if shutil.which(one)]


@pytest.mark.parametrize("shell", SHELLS)
def test_curl_brings_both_files_with_the_roles_credentials(web, tmp_path, shell):
    """As on Ubuntu, where there is no AWS CLI."""
    node = Node(web, tmp_path, shell)
    done = node.run()
    assert done.returncode == 0, done.stderr
    assert node.complete()
    assert node.agent.stat().st_mode & 0o077 == 0
    assert not node.slept.exists()
    for secret in ("se/cr+et", "to/ken==", "ASIAEXAMPLE", "metadata-token"):
        assert secret not in done.stdout + done.stderr


def test_curl_signs_as_s3_asks_for(web, tmp_path):
    """The signature of the request is calculated again by botocore, from the headers that were signed."""
    Node(web, tmp_path).run()
    method, path, headers = next(one for one in web.asked if one[1].startswith(f"/{BUCKET}/"))
    low = {name.lower(): value for name, value in headers.items()}
    credential, signed, signature = re.search(
        r"Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)", low["authorization"]
    ).groups()
    assert credential == f"ASIAEXAMPLE/{low['x-amz-date'][:8]}/eu-central-1/s3/aws4_request"
    names = signed.split(";")
    assert {"host", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"} <= set(names)
    auth = S3SigV4Auth(Credentials("ASIAEXAMPLE", "se/cr+et", "to/ken=="), "s3", "eu-central-1")
    request = AWSRequest(method, f"http://{low['host']}{path}", headers={name: low[name] for name in names})
    request.context["timestamp"] = low["x-amz-date"]
    request.context["payload_signing_enabled"] = False
    assert low["x-amz-security-token"] == "to/ken=="
    canonical = "\n".join(
        [method, path, "", *(f"{name}:{low[name].strip()}" for name in names), "", signed, low["x-amz-content-sha256"]]
    )
    text = "\n".join(["AWS4-HMAC-SHA256", low["x-amz-date"], credential.partition("/")[2], digest(canonical.encode())])
    assert auth.signature(text, request) == signature


def test_the_keys_are_no_argument_of_curl(web, tmp_path):
    """Arguments can be read by every process of the machine."""
    node = Node(web, tmp_path)
    curl = tmp_path / "bin/curl"
    real = curl.resolve()
    curl.unlink()
    curl.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/arguments\nexec {real} "$@"\n')
    curl.chmod(0o755)
    assert node.run().returncode == 0
    arguments = (tmp_path / "arguments").read_text()
    assert BUCKET in arguments
    assert not [secret for secret in ("se/cr+et", "to/ken==", "ASIAEXAMPLE") if secret in arguments]


def test_nothing_is_fetched_twice(web, tmp_path):
    node = Node(web, tmp_path)
    node.run()
    asked = len(web.asked)
    assert node.run().returncode == 0
    assert len(web.asked) == asked
    node.agent.write_bytes(b"half")
    node.run()
    assert node.complete()


def test_a_file_with_another_digest_is_deleted_and_asked_for_again(web, tmp_path):
    good = dict(web.files)
    web.files = dict.fromkeys(web.files, b"something else")
    node = Node(web, tmp_path)
    process = subprocess.Popen(node.call, env=node.environment, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert f"has the SHA-256 {digest(b'something else')}: deleted" in line
    assert not node.agent.exists()
    web.files = good
    assert process.wait(30) == 0
    assert node.complete()
    assert sorted(one.name for one in (tmp_path / "home").iterdir()) == ["agent.pyz"]


def test_trouble_is_met_by_longer_and_longer_waits_without_end(web, tmp_path):
    web.broken = ["500"] * 4 + ["close"] * 5
    node = Node(web, tmp_path)
    assert node.run().returncode == 0
    assert node.complete()
    waits = [int(line) for line in node.slept.read_text().splitlines()]
    assert len(waits) == 9
    assert all(base <= wait <= base + 2 for base, wait in zip([1, 2, 4, 8, 16, 32, 60, 60, 60], waits, strict=True))


def test_a_kill_in_the_middle_leaves_nothing_that_would_be_run(web, tmp_path):
    web.broken = ["500"] * 1000
    node = Node(web, tmp_path)
    process = subprocess.Popen(node.call, env=node.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not node.slept.exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    assert not node.agent.exists()
    (tmp_path / "home/agent.pyz.new").write_bytes(b"half")
    web.broken = []
    node.run()
    assert node.complete()


CLI = """#!/bin/sh
[ "$1 $2" = "s3api get-object" ] || exit 9
echo "$@" >> {log}
while [ $# -gt 1 ]; do
  case "$1" in --endpoint-url) url=$2 ;; --bucket) bucket=$2 ;; --key) key=$2 ;; esac
  shift
done
exec curl -fsS -o "$1" "$url/$bucket/$key"
"""


def test_the_aws_cli_is_preferred_where_the_image_has_it(web, tmp_path):
    """As on Amazon Linux 2023; credentials are the CLI's own business."""
    node = Node(web, tmp_path, cli=CLI.format(log=tmp_path / "log"))
    assert node.run().returncode == 0
    assert node.complete()
    one = settings()
    line = (tmp_path / "log").read_text().splitlines()[0]
    expected = f"--region eu-central-1 --endpoint-url {web.url} --bucket {BUCKET} --key {one.agent_key}"
    assert expected in line
    assert not [path for _, path, _ in web.asked if path.startswith("/latest/")]


def test_curl_stands_in_for_a_cli_that_fails(web, tmp_path):
    node = Node(web, tmp_path, cli="#!/bin/sh\nexit 255\n")
    assert node.run().returncode == 0
    assert node.complete()


@pytest.mark.proof
def test_the_real_aws_cli_understands_the_call(moto, tmp_path):
    """Against an S3 that is emulated as a whole."""
    real = shutil.which("aws")
    if not real:
        pytest.skip("needs the AWS CLI (Debian package awscli)")
    import boto3

    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = boto3.client("s3", endpoint_url=moto, region_name="eu-central-1", **keys)
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    one = settings()
    client.put_object(Bucket=BUCKET, Key=one.agent_key, Body=AGENT)
    client.put_object(Bucket=BUCKET, Key=one.document_key, Body=DOCUMENT)
    with standin.serving() as web:
        forward = f'#!/bin/sh\nPATH={os.environ["PATH"]} exec {real} "$@"\n'
        node = Node(web, tmp_path, cli=forward)
        node.environment |= {"S3_ENDPOINT": moto, "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
        (tmp_path / "bin/curl").unlink()
        done = node.run(120)
    assert done.returncode == 0, done.stderr
    assert node.complete()


def test_curl_reads_an_emulated_s3(moto, tmp_path):
    """The other way, against the same."""
    import boto3

    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = boto3.client("s3", endpoint_url=moto, region_name="us-east-1", **keys)
    client.create_bucket(Bucket="state2")
    one = settings()
    client.put_object(Bucket="state2", Key=one.agent_key, Body=AGENT)
    client.put_object(Bucket="state2", Key=one.document_key, Body=DOCUMENT)
    with standin.serving() as web:
        node = Node(web, tmp_path)
        node.environment |= {"S3_ENDPOINT": moto, "BUCKET": "state2", "REGION": "us-east-1"}
        assert node.run().returncode == 0
    assert node.complete()
