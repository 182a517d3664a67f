"""The program: reads what an environment says, checks it, and only then builds.

The SDKs are imported by the flavour's module, after the settings were found right: a wrong setting is reported
without paying for them.
"""

import pulumi
from pulumi.runtime import config as runtime

from .config.flavours import module_of
from .config.reading import for_the_file, read_settings


def deploy() -> None:
    """Build the stack that the configuration describes.

    :raises WinkubeError: when it cannot be built, with every mistake in the stack file.
    """
    settings = read_settings(*_configuration())
    for advice in module_of(settings.flavour, "checks").advise_settings(settings):
        pulumi.log.warn(for_the_file(type(settings), advice).text())
    module_of(settings.flavour, "program").build(settings)


def _configuration() -> tuple[dict[str, str], str, frozenset[str]]:
    """All configured values, the name of the stack, and the keys of secrets.

    ``pulumi.Config`` gives single keys only; unknown keys can be told to the user only by one who sees them all.
    """
    values: dict[str, str] = {**runtime.get_config_env(), **runtime.CONFIG.get()}
    secrets = frozenset(key for key in values if runtime.is_config_secret(key))
    return values, pulumi.get_stack(), secrets | frozenset(runtime.get_config_secret_keys_env())
