"""Cases of the rules in ``rules/identity/secrets.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import SECRET, SECRET_ROTATION, SSM_PARAMETER

from ..base import Case, one, planned, urn

CASES = {
    "secrets-rotated": Case(
        [[planned(SECRET, {}), planned(SECRET_ROTATION, {"secretId": UNKNOWN}, secretId=urn(SECRET, "x"))]],
        [[planned(SECRET, {})]],
        [[planned(SECRET, {}), planned(SECRET_ROTATION, {"secretId": UNKNOWN})]],
        "never rotated",
        {"when": "always"},
    ),
    "secret-recoverable": one(
        SECRET,
        [{}, {"recoveryWindowInDays": 7}],
        [{"recoveryWindowInDays": 0}],
        [{"recoveryWindowInDays": UNKNOWN}],
        "gone at once",
        stack="prod",
    ),
    "parameter-secure": one(
        SSM_PARAMETER,
        [{"name": "/app/password", "type": "SecureString"}, {"name": "/passwords/url", "type": "String"}],
        [{"name": "/app/db-password", "type": "String"}],
        [{"name": "/app/token", "type": UNKNOWN}, {"name": UNKNOWN}],
        "in clear text",
    ),
}
