"""The zipapp: the same bytes everywhere, small, complete, and it runs on the Pythons of the nodes."""

import ast
import hashlib
import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import botocore.loaders
import botocore.model
import pytest
from winkube.node_agent import vendoring
from winkube.node_agent.vendoring import OPERATIONS, PINS, SHA256, VENDOR, checked, pack, trimmed
from winkube.node_agent.zipapp import AGENT, MAXIMUM_BYTES, VendorMissingError, zipapp, zipapp_sha256

FOLDER = Path(vendoring.__file__).parent
SOURCES = [*sorted((FOLDER / AGENT).rglob("*.py")), FOLDER / "zip_main.py"]


def entries(data=None):
    return zipfile.ZipFile(BytesIO(data or zipapp()))


def pythons():
    """The Pythons of the nodes that this machine has, and the one that runs the tests."""
    found = {sys.executable}
    for minor in ("3.9", "3.12"):
        path = shutil.which(f"python{minor}")
        if path and subprocess.run([path, "-V"], capture_output=True, check=False).returncode == 0:
            found.add(path)
        found.update(str(one) for one in Path.home().glob(f".pyenv/versions/{minor}.*/bin/python"))
    return sorted(found)


def test_the_vendored_part_is_the_reviewed_one():
    """And so are the pins: a change of either is a change of the digest in the source."""
    assert hashlib.sha256(VENDOR.read_bytes()).hexdigest() == SHA256
    assert PINS["botocore"] == "1.42.97"
    with pytest.raises(ValueError, match=SHA256):
        checked(b"something else")


def test_the_same_content_is_the_same_bytes_in_any_order_and_with_any_times():
    one = pack({"b": b"2", "a": b"1"})
    assert one == pack({"a": b"1", "b": b"2"})
    info = entries(one).infolist()
    assert [entry.filename for entry in info] == ["a", "b"]
    assert all(entry.date_time == (1980, 1, 1, 0, 0, 0) and entry.compress_type == zipfile.ZIP_STORED for entry in info)
    assert all(stat.S_IMODE(entry.external_attr >> 16) == 0o644 for entry in info)


def test_the_zipapp_is_made_of_the_agent_the_entry_and_the_vendored_part():
    names = entries().namelist()
    assert names == sorted(set(names))
    agent = {path.relative_to(FOLDER).as_posix() for path in (FOLDER / AGENT).rglob("*.py")}
    assert {"__main__.py", *agent} <= set(names)
    assert {name for name in names if name.startswith(f"{AGENT}/")} == agent
    assert not [name for name in names if name.startswith("/") or ".." in name or "__pycache__" in name]
    assert not [name for name in names if name.endswith((".pem", ".so", ".gz"))]


def test_the_zipapp_is_small_and_known_by_its_digest():
    assert len(zipapp()) <= MAXIMUM_BYTES
    assert zipapp_sha256() == hashlib.sha256(zipapp()).hexdigest()


def test_licences_of_what_is_shipped_are_shipped():
    names = entries().namelist()
    for name in PINS:
        assert [one for one in names if one.startswith(f"licences/{name}/")], name


def test_a_checkout_that_was_not_installed_says_what_to_do(monkeypatch):
    monkeypatch.setattr("winkube.node_agent.zipapp.read", lambda: None)
    with pytest.raises(VendorMissingError, match="pip install"):
        zipapp.__wrapped__()


def test_a_second_working_tree_finds_what_the_first_one_left(tmp_path):
    """By its digest alone; a broken copy is no copy, and is mended by the next install."""
    first, second, cache = tmp_path / "first.zip", tmp_path / "second.zip", tmp_path / "cache"
    first.write_bytes(VENDOR.read_bytes())
    vendoring.ensure(tmp_path, first, cache)
    assert vendoring.read(second, cache) == VENDOR.read_bytes()
    (cache / f"{SHA256}.zip").write_bytes(b"broken")
    assert vendoring.read(second, cache) is None
    with pytest.raises(ValueError, match=r"is not installed in"):
        vendoring.ensure(tmp_path, second, cache)
    vendoring.ensure(tmp_path, first, cache)
    vendoring.ensure(tmp_path, second, cache)
    assert second.read_bytes() == VENDOR.read_bytes()


def snake_to_operation(name, operations):
    """The operation that botocore offers under this name."""
    plain = name.replace("_", "")
    return next((one for one in operations if one.lower() == plain), None)


def test_every_call_of_the_agent_has_its_model():
    """Calls are found in the source: ``ask("s3", "get_object"`` and ``client("s3").get_object``."""
    text = "\n".join(path.read_text() for path in (FOLDER / AGENT).rglob("*.py"))
    calls = re.findall(r'ask\(\s*"(\w+)",\s*"(\w+)"', text) + re.findall(r'client\("(\w+)"\)\.(\w+)\(', text)
    assert {service for service, _ in calls} >= {"s3", "ec2"}
    for service, call in calls:
        assert snake_to_operation(call, OPERATIONS[service]), f"{service}.{call} is not in vendoring.OPERATIONS"


@pytest.mark.parametrize("service", OPERATIONS)
def test_a_trimmed_model_has_every_shape_that_its_operations_need(service):
    """botocore's own model classes walk all of it."""
    archive = entries()
    name = next(
        one for one in archive.namelist() if re.fullmatch(rf"botocore/data/{service}/[^/]+/service-2.json", one)
    )
    model = json.loads(archive.read(name))
    assert sorted(model["operations"]) == sorted(OPERATIONS[service])
    service_model = botocore.model.ServiceModel(model, service)
    seen = set()

    def walk(shape):
        if shape is None or shape.name in seen:
            return
        seen.add(shape.name)
        for part in [*getattr(shape, "members", {}).values(), getattr(shape, "member", None),
                     getattr(shape, "key", None), getattr(shape, "value", None)]:  # fmt: skip
            walk(part)

    for operation in service_model.operation_names:
        one = service_model.operation_model(operation)
        for shape in (one.input_shape, one.output_shape, *one.error_shapes):
            walk(shape)
    assert '"documentation"' not in json.dumps(model["operations"])


def test_trimming_keeps_what_is_asked_for_and_nothing_else():
    string = {"type": "string", "documentation": "x"}
    model = {
        "metadata": {}, "documentation": "x",
        "operations": {"A": {"input": {"shape": "In"}, "documentation": "x"}, "B": {"input": {"shape": "Other"}}},
        "shapes": {
            "In": {"type": "structure", "members": {"documentation": {"shape": "Text", "documentation": "x"}}},
            "Text": string, "Other": string,
        },
    }  # fmt: skip
    assert trimmed(model, ["A"]) == {
        "metadata": {},
        "operations": {"A": {"input": {"shape": "In"}}},
        "shapes": {
            "In": {"type": "structure", "members": {"documentation": {"shape": "Text"}}},
            "Text": {"type": "string"},
        },
    }


PROBE = """
import base64, hashlib, os, sys
from botocore.config import Config
from botocore.session import get_session
import botocore
keys = dict(region_name="eu-west-1", endpoint_url=os.environ["MOTO"])
s3 = get_session().create_client("s3", config=Config(s3={"addressing_style": "path"}), **keys)
bucket = sys.argv[1]
checksum = base64.b64encode(hashlib.sha256(b"one").digest()).decode()
s3.put_object(Bucket=bucket, Key="lock", Body=b"one", IfNoneMatch="*", ChecksumSHA256=checksum)
try:
    s3.put_object(Bucket=bucket, Key="lock", Body=b"two", IfNoneMatch="*")
except s3.exceptions.ClientError as error:
    print(error.response["Error"]["Code"])
print(s3.get_object(Bucket=bucket, Key="lock")["Body"].read().decode())
print([one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix="lo")["Contents"]])
s3.delete_object(Bucket=bucket, Key="lock")
ssm = get_session().create_client("ssm", **keys)
ssm.put_parameter(Name="/winkube/" + bucket, Value="v", Type="SecureString", Overwrite=True)
print(ssm.get_parameter(Name="/winkube/" + bucket, WithDecryption=True)["Parameter"]["Value"])
ec2 = get_session().create_client("ec2", **keys)
print(ec2.describe_instances(Filters=[{"Name": "instance-id", "Values": ["i-1"]}])["Reservations"])
auto = get_session().create_client("autoscaling", **keys)
print(auto.describe_auto_scaling_instances(InstanceIds=["i-1"])["AutoScalingInstances"])
print(get_session().create_client("sts", **keys).get_caller_identity()["Account"])
print(botocore.__version__, os.environ["AWS_CA_BUNDLE"] != "")
"""


@pytest.mark.verify
@pytest.mark.parametrize("python", pythons())
def test_the_trimmed_botocore_works_on_the_pythons_of_the_nodes(moto, tmp_path, python):
    """Conditional writes, parameters, instances, groups: against an emulated AWS, from the archive alone."""
    import boto3

    bucket = f"zipapp-{hashlib.sha256(python.encode()).hexdigest()[:8]}"
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    boto3.client("s3", endpoint_url=moto, region_name="us-east-1", **keys).create_bucket(Bucket=bucket)
    content = {name: entries().read(name) for name in entries().namelist() if not name.startswith(f"{AGENT}/")}
    content |= {f"{AGENT}/__init__.py": b"", f"{AGENT}/__main__.py": PROBE.encode()}
    (tmp_path / "probe.pyz").write_bytes(pack(content))
    environment = {
        "PATH": os.environ["PATH"], "MOTO": moto, "WINKUBE_AGENT_LIB": str(tmp_path / "lib"),
        "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "HOME": str(tmp_path),
    }  # fmt: skip
    call = [python, "-I", str(tmp_path / "probe.pyz"), bucket]
    expected = ["PreconditionFailed", "one", "['lock']", "v", "[]", "[]", "123456789012", f"{PINS['botocore']} True"]
    for _ in range(2):  # unpacked by the first start, found by the second
        done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines() == expected, done.stderr
    assert len(list((tmp_path / "lib").iterdir())) == 1


@pytest.mark.parametrize("python", pythons())
def test_the_agent_starts_from_the_zipapp(tmp_path, python):
    """Only its help: what it does is tested elsewhere."""
    (tmp_path / "agent.pyz").write_bytes(zipapp())
    environment = {"PATH": os.environ["PATH"], "WINKUBE_AGENT_LIB": str(tmp_path / "lib")}
    done = subprocess.run(
        [python, "-I", str(tmp_path / "agent.pyz"), "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "winkube agent" in done.stdout


def load_entry():
    spec = importlib.util.spec_from_file_location("zip_main", FOLDER / "zip_main.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_older_version_is_removed_and_a_half_one_is_never_used(tmp_path):
    entry = load_entry()
    archive, lib = tmp_path / "a.pyz", tmp_path / "lib"
    (lib / ".new-half").mkdir(parents=True)
    archive.write_bytes(pack({"a.py": b"1"}))
    first = entry.unpacked(archive, lib)
    archive.write_bytes(pack({"a.py": b"2"}))
    second = entry.unpacked(archive, lib)
    assert first != second
    assert [one.name for one in lib.iterdir()] == [second.name]
    assert (second / "a.py").read_bytes() == b"2"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_what_runs_on_a_node_is_python_3_9(path):
    """Grammar, and the names that came later."""
    text = path.read_text()
    tree = ast.parse(text, feature_version=(3, 9))
    later = {"tomllib", "zoneinfo.reset_tzpath", "itertools.pairwise"}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not imported & later
    keywords = {keyword.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in node.keywords}
    dataclass_options = {"slots", "kw_only"} & keywords
    assert not dataclass_options, "dataclass options of Python 3.10"
    strict = [
        node.lineno for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip"
        and any(keyword.arg == "strict" for keyword in node.keywords)
    ]  # fmt: skip
    assert not strict


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_what_runs_on_a_node_imports_only_what_is_there(path):
    """The standard library, botocore, and the agent itself."""
    tree = ast.parse(path.read_text())
    tops = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    tops |= {
        node.module.split(".")[0] for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level and node.module
    }  # fmt: skip
    assert tops <= set(sys.stdlib_module_names) | {"botocore"}


def test_the_systems_authorities_are_used(monkeypatch, tmp_path):
    """Those that the system names, which hold a company's own; and those that a person names before all."""
    entry = load_entry()
    started = []
    monkeypatch.setattr(entry.runpy, "run_module", lambda *_, **__: started.append(os.environ["AWS_CA_BUNDLE"]))
    monkeypatch.setattr(sys, "path", [*sys.path])
    archive, bundle = tmp_path / "a.pyz", tmp_path / "ca.crt"
    archive.write_bytes(pack({"a.py": b""}))
    bundle.write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    monkeypatch.setenv("AWS_CA_BUNDLE", "mine")
    entry.main(archive, str(tmp_path / "lib"))
    monkeypatch.delenv("AWS_CA_BUNDLE")
    entry.main(archive, str(tmp_path / "lib"))
    monkeypatch.delenv("AWS_CA_BUNDLE")
    assert started == ["mine", str(bundle)]
