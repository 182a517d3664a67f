"""Text that must not be there: values that were not there yet, and secrets."""

import base64
import gzip
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from winkube.preview.checks.forbidden_text import looks_secret
from winkube.preview.checks.plan import check_plan
from winkube.preview.model import (
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN_TEXT,
    Finding,
    Options,
    Plan,
    Resource,
    Severity,
)

BOOTSTRAP_TOKEN = "abcdef.0123456789abcdef"
KEY_ID = "AKIA" + "QWERTZUIOPASDFGH"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"


def findings(inputs: dict[str, Any], name: str = "it", outputs: dict[str, Any] | None = None) -> list[Finding]:
    struct = Struct()
    struct.update(inputs)
    resource = Resource("urn:pulumi:dev::p::x:y:Z::it", "x:y:Z", name, "", True, struct, Options())
    return check_plan(Plan("p", "dev", "preview", "", [resource], outputs or {}, []))


def only(inputs: dict[str, Any], name: str = "it") -> Finding:
    found = findings(inputs, name)
    assert len(found) == 1, found
    return found[0]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(value: Any) -> dict[str, Any]:
    return {SIGNATURE_KEY: SECRET_SIGNATURE, "value": value}


# -- text of a value that was not there ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "path"),
    [
        ({"vpcId": "None"}, "vpcId"),
        ({"tags": {"Name": "None"}}, "tags.Name"),
        ({"list": [{"arn": "arn:aws:iam::None:role/x"}]}, "list[0].arn"),
        ({"name": "None-nodes"}, "name"),
        ({"name": "cluster-None-nodes"}, "name"),
        ({"key": "s3/None"}, "key"),
        ({"tags": {"kubernetes.io/cluster/None": "owned"}}, "tags.kubernetes.io/cluster/None"),
        ({"policy": '{"Statement": [{"Resource": ["arn:aws:s3:::None/*"]}]}'}, "policy"),
        ({"policy": '{"Statement": [{"Resource": "None"}]}'}, "policy"),
        ({"userData": encoded("#!/bin/sh\naws s3 cp s3://None/agent /opt")}, "userData"),
    ],
)
def test_the_text_none_is_found_where_a_value_should_be(inputs: dict[str, Any], path: str) -> None:
    found = only(inputs)
    assert (found.code, found.severity, found.path) == ("check/text-leak", Severity.WARNING, path)
    assert "None" in found.message


@pytest.mark.parametrize(
    "inputs",
    [
        {"description": "None of these ports is open"},
        {"name": "NoneSuch"},
        {"clusterIP": "None"},
        {"spec": {"dnsPolicy": "None", "sessionAffinity": "None"}},
        {"webhooks": [{"sideEffects": "None"}]},
        {"cookies": "none"},
        {"userData": encoded("<powershell>\nif ($x -eq 'None') { [IO.FileShare]::None }\n</powershell>")},
        {"code": "def handler(event, context=None):\n    return None\n"},
    ],
)
def test_none_as_a_word_or_as_a_value_of_its_own_is_not_reported(inputs: dict[str, Any]) -> None:
    assert findings(inputs) == []


@pytest.mark.parametrize(
    "text",
    [
        "<pulumi.output.Output object at 0x7f3b5c0d1a90>",
        "arn:aws:s3:::<pulumi.output.Output object at 0x7f3b5c0d1a90>/*",
        "Calling __str__ on an Output[T] is not supported.\n\nTo get the value of an Output[T] as an Output[str]",
    ],
)
def test_the_text_of_an_output_is_found(text: str) -> None:
    for inputs in ({"bucket": text}, {"tags": {"Name": text}}, {"tags": {text: "x"}}, {"userData": encoded(text)}):
        found = only(inputs)
        assert (found.code, found.severity) == ("check/text-leak", Severity.ERROR)
        assert "pulumi.Output.concat" in found.remedy


def test_the_logical_name_is_looked_at() -> None:
    assert only({}, "None-nodes").message.startswith("the logical name contains the text")


# -- secrets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "path", "what"),
    [
        ({"password": "hunter2"}, "password", "named like a secret"),
        ({"masterUserPassword": "hunter2"}, "masterUserPassword", "named like a secret"),
        ({"a": [{"clientSecret": "hunter2"}]}, "a[0].clientSecret", "named like a secret"),
        ({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}, "env[0].value", "named like a secret"),
        ({"containerDefinitions": '[{"environment": [{"name": "API_KEY", "value": "hunter2"}]}]'},
         "containerDefinitions[0].environment[0].value", "named like a secret"),
        ({"name": "/prod/db", "type": "SecureString", "value": "hunter2"}, "value", "is a SecureString"),
        ({"content": PEM}, "content", "a private key"),
        ({"kubeconfig": f"client-key-data: {encoded(PEM)}"}, "kubeconfig", "a private key"),
        ({"description": f"key {KEY_ID}"}, "description", "an AWS access key"),
        ({"env": f"AWS_SECRET_ACCESS_KEY={'wJalrXUtnFEMI/K7' * 2 + 'abcdefgh'}"}, "env", "an AWS secret access key"),
        ({"data": {"kubeconfig": f"token: {JWT}"}}, "data.kubeconfig", "a JSON web token"),
        ({"args": ["kubeadm", "join", "--token", "k3j4h5.x8z7y6w5v4u3t2s1"]}, "args[3]", "a kubeadm bootstrap token"),
        ({"userData": encoded(f"#!/bin/sh\nkubeadm join --token {BOOTSTRAP_TOKEN}")}, "userData",
         "a kubeadm bootstrap token"),
        ({"userData": "<powershell>\n$p = ConvertTo-SecureString 'Passw0rd!' -AsPlainText -Force\n</powershell>"},
         "userData", "a password in a script"),
        ({"userData": base64.b64encode(gzip.compress(PEM.encode(), mtime=0)).decode()}, "userData", "a private key"),
        ({"tags": {"owner": KEY_ID}}, "tags.owner", "an AWS access key"),
    ],
)  # fmt: skip
def test_a_secret_in_plain_text_is_found_and_never_printed(inputs: dict[str, Any], path: str, what: str) -> None:
    found = only(inputs)
    assert (found.code, found.severity, found.path) == ("check/plain-secret", Severity.ERROR, path)
    assert what in found.message
    for hidden in ("hunter2", "MIIEpAIB", KEY_ID, "wJalr", JWT, "x8z7y6", BOOTSTRAP_TOKEN, "Passw0rd"):
        assert hidden not in str(found)


def test_a_part_of_a_mime_archive_is_read() -> None:
    mime = (
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/x-shellscript\n"
        f"Content-Transfer-Encoding: base64\n\n{encoded(f'kubeadm join --token {BOOTSTRAP_TOKEN}')}\n--b--\n"
    )
    assert "bootstrap token" in only({"userData": encoded(mime)}).message


@pytest.mark.parametrize(
    "inputs",
    [
        {"password": UNKNOWN_TEXT},
        {"password": secret("hunter2")},
        {"password": ""},
        {"password": {"name": "db"}},
        {"secretArn": "arn:aws:secretsmanager:eu-west-1:1:secret:x", "tokenKeyId": "x", "secretName": "x"},
        {"password": "{{resolve:secretsmanager:x}}"},
        {"credentials": "arn:aws:iam::123456789012:role/x"},
        {"clientRequestToken": "request-1", "nextToken": "page-2"},
        {"httpTokens": "required"},
        {"tokenValidityUnits": {"idToken": "minutes"}},
        {"image": "registry.k8s.io/pause:3.10", "digest": "sha256:0123456789abcdef"},
        {"key": "worker.0123456789abcdef", "name": "winkube.kubernetesservice"},
        {"data": {"ca.crt": "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----"}},
        {"keyId": "AKIAIOSFODNN7" + "EXAMPLE"},
        {"policy": '{"Action": ["secretsmanager:GetSecretValue"], "Condition": {"aws:SecureTransport": "1"}}'},
        {"userData": encoded("<powershell>\n$p = ConvertTo-SecureString $env:P -AsPlainText\n</powershell>")},
    ],
)
def test_what_is_no_secret_in_plain_text_is_not_reported(inputs: dict[str, Any]) -> None:
    assert findings(inputs) == []


@pytest.mark.parametrize(
    ("inputs", "place"),
    [
        ({"tags": {"join": secret("x")}}, "tags"),
        ({"tagSpecifications": [{"tags": {"join": secret("x")}}]}, "tags"),
        ({"tags": [{"key": "join", "value": secret("x")}]}, "tags"),
        ({"tags": secret({"join": "x"})}, "tags"),
        ({"userData": secret("#!/bin/sh")}, "user data"),
        ({"userData": secret(UNKNOWN_TEXT)}, "user data"),
        ({"userDataBase64": secret("IyEvYmluL3No")}, "user data"),
        ({"metadata": {"annotations": {"a": secret("x")}}}, "annotations"),
    ],
)
def test_a_secret_that_ends_in_tags_or_user_data_is_found(inputs: dict[str, Any], place: str) -> None:
    found = only(inputs)
    assert (found.code, found.severity) == ("check/exposed-secret", Severity.ERROR)
    assert f"is in {place}" in found.message


def test_the_outputs_of_the_stack_are_looked_at() -> None:
    assert [found.path for found in findings({}, outputs={"kubeconfig": f"token: {JWT}"})] == ["outputs.kubeconfig"]


def test_names_and_values_say_that_they_are_secret() -> None:
    assert looks_secret("hunter2", ["password"])
    assert looks_secret(PEM)
    assert not looks_secret("t3.large", ["instanceType"])
