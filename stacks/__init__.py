"""The program: reads the settings of an environment, checks them, and only then creates resources.

The module of the flavour imports the SDKs, after the checks: a wrong setting is reported without importing them.
"""

import pulumi
from pulumi.runtime import config as runtime

from .config.flavours import module_of
from .config.reading import for_the_file, read_settings


def deploy() -> None:
    """Create the resources of the stack that the configuration describes.

    :raises WinkubeError: the settings are wrong; with every mistake in the stack file.
    """
    settings = read_settings(*_configuration())
    for advice in module_of(settings.flavour, "checks").advise_settings(settings):
        pulumi.log.warn(for_the_file(type(settings), advice).text())
    module_of(settings.flavour, "program").build(settings)


def _configuration() -> tuple[dict[str, str], str, frozenset[str]]:
    """All configured values, the name of the stack, and the keys of secrets.

    ``pulumi.Config`` returns single keys only, but unknown keys can be reported only if all keys are seen.
    """
    values: dict[str, str] = {**runtime.get_config_env(), **runtime.CONFIG.get()}
    secrets = frozenset(key for key in values if runtime.is_config_secret(key))
    return values, pulumi.get_stack(), secrets | frozenset(runtime.get_config_secret_keys_env())
