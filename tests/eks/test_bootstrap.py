"""User data of nodes that start the bootstrap themselves."""

import json
import re
import tomllib
from dataclasses import replace
from email import message_from_string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.ec2.proxy import Proxy
from winkube.eks.bootstrap import (
    OWNED_FLAGS,
    USER_DATA_LIMIT,
    Bootstrap,
    al2023_user_data,
    bottlerocket_user_data,
    check_commands,
    check_kubelet_arguments,
    check_user_data,
    encoded,
    kubelet_arguments,
    powershell_quoted,
    windows_user_data,
)
from winkube.eks.density import windows_reservations
from winkube.scheduling.labels import WINDOWS_TAINT, Taint

NODE = Bootstrap(
    cluster_name="dev",
    endpoint="https://ABC.gr7.eu-central-1.eks.amazonaws.com",
    certificate_authority="Q0E=",
    service_cidr="10.100.0.0/16",
    dns_cluster_ip="10.100.0.10",
    labels={"team": "web"},
    taints=(WINDOWS_TAINT,),
)
QUOTES = "'\u2018\u2019\u201a\u201b"


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


def unquoted(text: str) -> str:
    """What PowerShell reads from a quoted string: of two quotes in a row one is left."""
    assert text[0] == text[-1] == "'"
    return re.sub(f"([{QUOTES}])[{QUOTES}]", r"\1", text[1:-1])


def test_the_whole_text_of_a_windows_node():
    """The text as it stands, for a reader and for whoever changes it."""
    assert windows_user_data(NODE, windows_reservations(["m6i.large"])) == (
        "<powershell>\n"
        '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"\n'
        "& $EKSBootstrapScriptFile `\n"
        "  -EKSClusterName 'dev' `\n"
        "  -APIServerEndpoint 'https://ABC.gr7.eu-central-1.eks.amazonaws.com' `\n"
        "  -Base64ClusterCA 'Q0E=' `\n"
        "  -ServiceCIDR '10.100.0.0/16' `\n"
        "  -DNSClusterIP '10.100.0.10' `\n"
        "  -KubeletExtraArgs '--eviction-hard=memory.available<200Mi,nodefs.available<10% "
        "--kube-reserved=memory=512Mi,ephemeral-storage=1Gi --node-labels=team=web "
        "--register-with-taints=os=windows:NoSchedule "
        "--system-reserved=memory=1536Mi,ephemeral-storage=1Gi' 3>&1 4>&1 5>&1 6>&1\n"
        "</powershell>\n"
    )


@given(st.text(alphabet=st.sampled_from(list('ab $`"();|&\n') + list(QUOTES)), max_size=40))
def test_quoting_keeps_any_text(text: str):
    """Whatever stands in it, the string means itself: typographic quotes end a string in PowerShell too."""
    quoted = powershell_quoted(text)
    assert unquoted(quoted) == text
    inner = quoted[1:-1]
    assert all(len(run) % 2 == 0 for run in re.findall(f"[{QUOTES}]+", inner))


def test_the_group_s_own_flags_win_over_the_reservations():
    """A reservation of one's own replaces the default; labels and taints come from the group alone."""
    node = replace(NODE, kubelet_arguments={"system-reserved": "memory=3Gi"}, max_pods=50)
    text = kubelet_arguments(node, windows_reservations(["m6i.large"]))
    assert "--system-reserved=memory=3Gi" in text
    assert "memory=1536Mi" not in text
    assert "--max-pods=50" in text


def test_excluded_networks_and_proxy():
    """Networks are joined by commas; the proxy is set for the machine and for this process, before the bootstrap."""
    node = replace(
        NODE,
        excluded_snat_cidrs=("10.1.0.0/16", "10.2.0.0/16"),
        proxy=Proxy(https="http://p:3128", no_proxy=("10.0.0.0/8",)),
    )
    text = windows_user_data(node, {})
    assert "-ExcludedSnatCIDRs '10.1.0.0/16,10.2.0.0/16'" in text
    process = text.index("$env:HTTPS_PROXY = 'http://p:3128'")
    machine = text.index("SetEnvironmentVariable('HTTPS_PROXY', $env:HTTPS_PROXY, 'Machine')")
    assert process < machine < text.index("-EKSClusterName")
    assert "$env:HTTP_PROXY = 'http://p:3128'" in text


def test_al2023_gets_a_node_config():
    """A MIME text whose NodeConfig is read by nodeadm; commands are a shell part before it."""
    message = message_from_string(al2023_user_data(replace(NODE, before=("echo one",), taints=()), {}))
    shell, config = message.get_payload()
    assert shell.get_content_type() == "text/x-shellscript"
    assert "echo one" in shell.get_payload()
    assert config.get_content_type() == "application/node.eks.aws"
    document = json.loads(config.get_payload())
    assert document["apiVersion"] == "node.eks.aws/v1alpha1"
    assert document["spec"]["cluster"] == {
        "name": "dev", "apiServerEndpoint": NODE.endpoint, "certificateAuthority": "Q0E=", "cidr": "10.100.0.0/16",
    }  # fmt: skip
    assert document["spec"]["kubelet"]["flags"] == ["--node-labels=team=web"]


def test_bottlerocket_gets_settings():
    """TOML that a parser reads back; several effects of one taint key stand in one list."""
    taints = (Taint(key="gpu", value="a", effect="NoSchedule"), Taint(key="gpu", value="a", effect="NoExecute"))
    settings = tomllib.loads(bottlerocket_user_data(replace(NODE, taints=taints, max_pods=20), {}))["settings"][
        "kubernetes"
    ]
    assert settings["cluster-name"] == "dev"
    assert settings["max-pods"] == 20
    assert settings["cluster-dns-ip"] == "10.100.0.10"
    assert settings["node-labels"] == {"team": "web"}
    assert settings["node-taints"] == {"gpu": ["a:NoSchedule", "a:NoExecute"]}


def test_user_data_has_a_limit():
    """WK-EKS-070 gives limit and size; what slips through is stopped before it is encoded."""
    text = "x" * (USER_DATA_LIMIT + 1)
    mistake = only(check_user_data(text, ("commands_before",)))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-070", ("commands_before",), USER_DATA_LIMIT + 1)
    assert str(USER_DATA_LIMIT) in mistake.message
    assert not check_user_data("x" * USER_DATA_LIMIT, ("commands_before",))
    with pytest.raises(ValueError, match="16385 bytes"):
        encoded(text)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"--v": "4"}, "WK-EKS-071"),
        ({"v": ""}, "WK-EKS-071"),
        ({"v": "4 --x"}, "WK-EKS-071"),
        ({"v": "it's"}, "WK-EKS-071"),
        ({"v": "\u2019"}, "WK-EKS-071"),
        ({"max-pods": "9"}, "WK-EKS-073"),
        ({"node-labels": "a=b"}, "WK-EKS-073"),
    ],
)
def test_kubelet_arguments_survive_the_way(arguments: dict[str, str], code: str):
    """WK-EKS-071 for what the script would tear apart, WK-EKS-073 for flags that other fields write."""
    mistake = only(check_kubelet_arguments(arguments))
    (flag,) = arguments
    assert (mistake.rule.code, mistake.path) == (code, ("kubelet_arguments", flag))
    if code == "WK-EKS-073":
        assert OWNED_FLAGS[flag] in mistake.remedy


@pytest.mark.parametrize(
    "command", ["<powershell>x</powershell>", "<PERSIST>true</PERSIST>", "& .\\Start-EKSBootstrap.ps1"]
)
def test_commands_stand_between_the_tags(command: str):
    """WK-EKS-072 for tags, and for a second call of the bootstrap."""
    mistake = only(check_commands(["Write-Host x", command], ("commands_before",)))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-072", ("commands_before", 1), command)


@pytest.mark.parametrize("value", ["HyperVContainer=true", "NodeLogQuery=true,HyperVContainer=false"])
def test_kubelets_know_no_gate_for_hyper_v(value: str):
    """WK-EKS-087: with either value the kubelet does not start. Other gates pass."""
    mistake = only(check_kubelet_arguments({"feature-gates": value}))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-087", ("kubelet_arguments", "feature-gates"))
    assert mistake.got == value
    assert "remove HyperVContainer" in mistake.remedy
    assert not check_kubelet_arguments({"feature-gates": "NodeLogQuery=true"})
