"""The allowed values of settings for the JSON schema, from the tables with which the components check them."""

from winkube.addons.self_managed_table import SELF_MANAGED_ADDONS
from winkube.admission.admission_manifests import MODES
from winkube.control_plane.control_plane_rules import EXPOSURES, HEALTH_CHECKS, LINUX, PKI, PUBLISHERS, RUNTIMES
from winkube.ec2.instance_rules import CAPACITY_TYPES
from winkube.instance_groups.images import IMAGES
from winkube.tables.releases import SELF_MANAGED_MINORS, SELF_MANAGED_RELEASES
from winkube.tables.windows import EDITIONS

from ..config.choices import Choices
from . import cluster_settings, group_settings, object_settings

CHOICES: Choices = {
    (cluster_settings.KubeadmClusterSettings, "kubernetes_version"): SELF_MANAGED_MINORS,
    (cluster_settings.KubeadmClusterSettings, "linux"): tuple(LINUX),
    (cluster_settings.KubeadmClusterSettings, "runtime"): tuple(RUNTIMES),
    (cluster_settings.KubeadmClusterSettings, "api_exposure"): EXPOSURES,
    (cluster_settings.KubeadmClusterSettings, "health_check"): HEALTH_CHECKS,
    (cluster_settings.KubeadmClusterSettings, "pki"): PKI,
    (cluster_settings.IrsaSettings, "publish"): PUBLISHERS,
    (group_settings.KubeadmGroupSettings, "linux"): tuple(
        image.name for image in IMAGES.values() if image.system == "linux"
    ),
    (group_settings.KubeadmGroupSettings, "windows"): SELF_MANAGED_RELEASES[SELF_MANAGED_MINORS[-1]].windows,
    (group_settings.KubeadmGroupSettings, "edition"): tuple(EDITIONS),
    (group_settings.KubeadmGroupSettings, "runtime"): tuple(RUNTIMES),
    (group_settings.KubeadmGroupSettings, "capacity_type"): tuple(CAPACITY_TYPES),
    (object_settings.SelfManagedAddonSettings, "name"): tuple(SELF_MANAGED_ADDONS),
    (object_settings.WindowsAdmissionSettings, "mode"): tuple(MODES),
    (object_settings.WindowsAdmissionSettings, "failure_policy"): ("Fail", "Ignore"),
}
