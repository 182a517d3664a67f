"""The proxy through which nodes reach the internet: its form, and the commands that set it on a node.

Everything on the machine gets it, before anything is downloaded: on Windows by machine variables, on Amazon Linux 2023
by drop-ins of the units that join the node, and by ``/etc/environment``. What is reached directly is completed on the
node: only the metadata service knows all ranges of the VPC, later ones included.
Sources: EKS user guide, "Customize managed nodes with launch templates"; awslabs/amazon-eks-ami, units of nodeadm.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.mistakes import Mistakes, Path, Rule, shown
from ..tables.regions import REGIONS

PROXY = Rule(
    "WK-EKS-088",
    "A proxy is an http or https URL with a host; its exceptions are names or networks.",
    "https://docs.aws.amazon.com/systems-manager/latest/userguide/configure-proxy-ssm-agent.html",
)

METADATA = "169.254.169.254"
DIRECT = (
    "localhost",
    "127.0.0.1",
    METADATA,
    ".internal",
    ".svc",
    ".cluster.local",
    *sorted({f".eks.{region.dns_suffix}" for region in REGIONS.values()}),
)
"""What a node never reaches through a proxy, beside service range and VPC. Clusters' endpoints end in the last."""

UNITS = ("containerd", "kubelet", "nodeadm-config", "nodeadm-run")
"""The units of Amazon Linux 2023 that reach out while a node joins."""
ENVIRONMENT_FILE = "/etc/proxy.env"

# Neither shell, PowerShell nor systemd reads anything into these.
_ADDRESS = re.compile(r"https?://[\w.~:@%!*+=\[\]-]+/?")
_DIRECT = re.compile(r"[\w.*:/\[\]-]+")
_POWERSHELL_QUOTES = re.compile("(['‘’‚‛])")


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """The proxy through which nodes reach the internet."""

    https: str
    """The proxy for HTTPS, such as ``http://proxy.example.com:3128``."""
    http: str | None = None
    """The proxy for HTTP; the same one by default."""
    no_proxy: Sequence[str] = ()
    """Names and networks that bypass the proxy, in addition to the VPC, the Services and the cluster's own names."""


def check_proxy(proxy: Proxy, path: Path = ("proxy",)) -> Mistakes:
    """Whether the values mean the same in every file that they are written into."""
    found = Mistakes()
    for field, address in (("https", proxy.https), ("http", proxy.http)):
        if address is not None and not _ADDRESS.fullmatch(address):
            host = address.rpartition("://")[2].strip(" \"'/")
            guess = f"http://{host}" if _ADDRESS.fullmatch(f"http://{host}") else "http://proxy.example.com:3128"
            found.add(PROXY, (*path, field), "a proxy is written as http://host:port", f"write {shown(guess)}",
                      address)  # fmt: skip
    for index, name in enumerate(proxy.no_proxy):
        if not _DIRECT.fullmatch(name):
            found.add(PROXY, (*path, "no_proxy", index), "each entry must be one name, address or network",
                      'write entries such as ".example.com" or "10.0.0.0/8", one per entry', name)  # fmt: skip
    return found


def powershell_quoted(text: str) -> str:
    """A PowerShell string that means exactly ``text``; typographic quotes count as quotes there.

    >>> print(powershell_quoted("it's $x"))
    'it''s $x'
    """
    return "'" + _POWERSHELL_QUOTES.sub(r"\1\1", text) + "'"


def proxy_commands(proxy: Proxy, service_cidr: str) -> list[str]:
    """PowerShell that sets the proxy for the machine, and for the bootstrap that follows in the same process."""
    commands = [
        f"$metadata = 'http://{METADATA}/latest'",
        "$ask = @{'X-aws-ec2-metadata-token-ttl-seconds' = '300'}",
        '$token = Invoke-RestMethod -Method Put -Uri "$metadata/api/token" -Headers $ask',
        "$session = @{'X-aws-ec2-metadata-token' = $token}",
        '$mac = Invoke-RestMethod -Uri "$metadata/meta-data/mac" -Headers $session',
        '$blocks = "$metadata/meta-data/network/interfaces/macs/$mac/vpc-ipv4-cidr-blocks"',
        "$ranges = Invoke-RestMethod -Uri $blocks -Headers $session",
    ]
    direct = powershell_quoted(",".join([*DIRECT, service_cidr, *proxy.no_proxy]))
    values = {
        "HTTP_PROXY": powershell_quoted(proxy.http or proxy.https),
        "HTTPS_PROXY": powershell_quoted(proxy.https),
        "NO_PROXY": f"((@({direct}) + @(\"$ranges\" -split '\\s+' -ne '')) -join ',')",
    }
    for name, value in values.items():
        commands.append(f"$env:{name} = {value}")
        commands.append(f"[Environment]::SetEnvironmentVariable('{name}', $env:{name}, 'Machine')")
    return commands


def proxy_script(proxy: Proxy, service_cidr: str) -> list[str]:
    """Shell that sets the proxy on Amazon Linux 2023, and for the commands that follow in the same script.

    The first half of nodeadm runs before any user data. Where it needed the proxy it has failed by then, and the second
    half with it: both are started again.
    """
    direct = ",".join([*DIRECT, service_cidr, *proxy.no_proxy])
    return [
        f"metadata=http://{METADATA}/latest",
        "token=$(curl -sSf --retry 5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' \"$metadata/api/token\")",
        'look_up() { curl -sSf --retry 5 -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/$1"; }',
        "mac=$(look_up mac)",
        'ranges=$(look_up "network/interfaces/macs/$mac/vpc-ipv4-cidr-blocks" | paste -sd, -)',
        f"export HTTP_PROXY='{proxy.http or proxy.https}' HTTPS_PROXY='{proxy.https}'",
        f"export NO_PROXY='{direct}',\"$ranges\"",
        'export http_proxy="$HTTP_PROXY" https_proxy="$HTTPS_PROXY" no_proxy="$NO_PROXY"',
        "for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy; do",
        '  printf \'%s="%s"\\n\' "$name" "${!name}"',
        f"done | tee {ENVIRONMENT_FILE} >> /etc/environment",
        f"for unit in {' '.join(UNITS)}; do",
        '  mkdir -p "/etc/systemd/system/$unit.service.d"',
        f"  echo -e '[Service]\\nEnvironmentFile={ENVIRONMENT_FILE}' > /etc/systemd/system/$unit.service.d/proxy.conf",
        "done",
        "systemctl daemon-reload",
        "systemctl try-restart containerd.service",
        "if systemctl --quiet is-failed nodeadm-config.service; then",
        "  systemctl start nodeadm-config.service",
        "  systemctl --no-block start nodeadm-run.service",
        "fi",
    ]
