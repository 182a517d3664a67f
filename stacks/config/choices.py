"""The allowed values of settings for the JSON schema, from the tables with which the components check them.

These are the settings of all flavours. Each flavour adds its own in its module ``choices``.
"""

from collections.abc import Mapping, Sequence

from winkube.ec2.warm_pool import POOL_STATES
from winkube.network.endpoints import GATEWAY_SERVICES, INTERFACE_SERVICES
from winkube.network.plan import NAT_MODES
from winkube.scheduling.labels import EKS_EFFECTS
from winkube.tables.regions import REGIONS
from winkube.zone.names import VISIBILITIES

from . import settings, shared_sections
from .flavours import FLAVOURS
from .introspection import Model

Choices = Mapping[tuple[type[Model], str], Sequence[str]]

CHOICES: Choices = {
    (settings.Settings, "flavour"): FLAVOURS,
    (settings.Settings, "region"): tuple(REGIONS),
    (settings.NetworkSettings, "nat"): NAT_MODES,
    (settings.NetworkSettings, "gateway_endpoints"): GATEWAY_SERVICES,
    (settings.NetworkSettings, "interface_endpoints"): INTERFACE_SERVICES,
    (settings.ZoneSettings, "visibility"): VISIBILITIES,
    (shared_sections.TaintSettings, "effect"): tuple(EKS_EFFECTS),
    (shared_sections.WarmPoolSettings, "state"): tuple(POOL_STATES),
}
