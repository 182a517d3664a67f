"""What a secret looks like in a text, and what a secret is called."""

import re

SECRET_NAME = re.compile(r"(?i)passw|secret|token|api_?key|private_?key|credential")
"""In the name of a variable or a parameter."""

# Whole tokens: an access key id, the head of a private key, and what kubeadm joins with.
ACCESS_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b")
PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")
BOOTSTRAP_TOKEN = re.compile(r"--token[= ]+[\"']?[a-z0-9]{6}\.[a-z0-9]{16}\b")
CERTIFICATE_KEY = re.compile(r"--certificate-key[= ]+[\"']?[0-9a-f]{64}\b")
PASSWORD = re.compile(r"(?i)(?:^|[\s;\-$])(?:\w*password|\w*passwd)\s*[=:]\s*[\"'][^\"'$\s{(<][^\"']{5,}[\"']")
SECRETS = {
    "an AWS access key": ACCESS_KEY,
    "a private key": PRIVATE_KEY,
    "a bootstrap token": BOOTSTRAP_TOKEN,
    "a certificate key": CERTIFICATE_KEY,
    "a password": PASSWORD,
}
"""The patterns by what they find."""


def holds_client_key(text: str) -> bool:
    """Whether a text holds a private key, by itself or in a kubeconfig."""
    return "client-key-data:" in text or bool(PRIVATE_KEY.search(text))
