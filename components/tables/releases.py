"""Kubernetes releases that winkube builds itself: the patch, what belongs to it, how long it is maintained.

State of 2026-11-21. Sources: kubernetes.io/releases (dates of each minor); the constants of kubeadm at each patch
(``cmd/kubeadm/app/constants/constants.go``: etcd, CoreDNS, pause); ``RELEASES.md`` of containerd; the tags of
cloud-provider-aws and cri-tools; kubespray's ``checksums.yml`` of 2026-08-21, which decides the patch together with
the releases' own checksum files: a patch stands here only if the digests of its files can be looked up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from .kubernetes import minor_number
from .windows import WINDOWS_RELEASES, nearest_release

RELEASES_PAGE = "https://kubernetes.io/releases/"
WINDOWS_PAGE = "https://kubernetes.io/docs/concepts/windows/intro/"

MINOR_SUPPORTED = Rule(
    "WK-KAD-001", "A self-managed cluster needs a Kubernetes minor that upstream maintains.", RELEASES_PAGE
)
WINDOWS_SUPPORTED = Rule(
    "WK-KAD-002", "Windows nodes of a self-managed cluster run Windows Server 2022 or 2025.", WINDOWS_PAGE
)

STATE_OF = date(2026, 11, 21)
"""The day on which this table was true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfManagedRelease:
    """One Kubernetes minor as winkube installs it."""

    minor: str
    patch: str
    """The patch that is installed, without ``v``: the newest one whose digests can be looked up."""
    patch_released: date
    """The day of the tag."""
    released: date
    """The day of the minor's first release."""
    maintenance_until: date
    """From then on only security fixes."""
    end_of_life: date
    etcd_image_tag: str
    """Of ``registry.k8s.io/etcd``, as kubeadm of this patch runs it."""
    coredns_tag: str
    """Of ``registry.k8s.io/coredns/coredns``."""
    pause_image: str
    """Set in the runtime. 3.10.2 everywhere: older ones have no image for Server 2025."""
    containerd: str
    """2.3 is the long-term line (until 2028-04-30); 2.3.0 to 2.3.3 cannot start pods when pause has a digest."""
    runc: str
    cni_plugins: str
    crictl: str
    cri_o: str | None
    """The patch of CRI-O of the same minor, for groups that choose it; None where none could be looked up."""
    cloud_controller_manager: str
    """An image; may be one minor older than the API server."""
    windows: tuple[str, ...]
    """Releases of Windows Server that nodes may run."""

    @property
    def etcd(self) -> str:
        """etcd's own version, as in the names of its binaries."""
        return self.etcd_image_tag.partition("-")[0]

    @property
    def tag(self) -> str:
        """The patch as images and documents name it."""
        return f"v{self.patch}"


PAUSE_MINIMUM_SERVER_2025 = "3.10.2"
"""The first pause image with an entry for ltsc2025 (kubernetes/kubernetes #138195)."""
CONTAINERD_MINIMUM_PINNED_PAUSE = "2.3.4"
"""The first of the 2.3 line that starts pods with a pause image pinned by digest (containerd #13529)."""

_CLOUD_CONTROLLER_MANAGER = "registry.k8s.io/provider-aws/cloud-controller-manager"
_WINDOWS = ("2022", "2025")  # the documentation of 1.35 dropped 2019 and took in 2025 (kubernetes/website #53724)

_ROWS = (
    SelfManagedRelease(
        minor="1.35",
        patch="1.35.8",
        patch_released=date(2026, 8, 20),
        released=date(2025, 12, 17),
        maintenance_until=date(2026, 12, 28),
        end_of_life=date(2027, 2, 28),
        etcd_image_tag="3.6.6-0",
        coredns_tag="v1.13.1",
        pause_image="registry.k8s.io/pause:3.10.2",
        containerd="2.3.4",
        runc="1.4.3",
        cni_plugins="1.9.1",
        crictl="1.35.0",
        cri_o="1.35.6",
        cloud_controller_manager=f"{_CLOUD_CONTROLLER_MANAGER}:v1.35.2",
        windows=_WINDOWS,
    ),
    SelfManagedRelease(
        minor="1.36",
        patch="1.36.4",
        patch_released=date(2026, 8, 20),
        released=date(2026, 4, 22),
        maintenance_until=date(2027, 4, 28),
        end_of_life=date(2027, 6, 28),
        etcd_image_tag="3.6.8-0",
        coredns_tag="v1.14.2",
        pause_image="registry.k8s.io/pause:3.10.2",
        containerd="2.3.4",
        runc="1.4.3",
        cni_plugins="1.9.1",
        crictl="1.36.0",
        cri_o="1.36.3",
        cloud_controller_manager=f"{_CLOUD_CONTROLLER_MANAGER}:v1.36.1",
        windows=_WINDOWS,
    ),
    SelfManagedRelease(
        minor="1.37",
        patch="1.37.1",
        patch_released=date(2026, 9, 23),
        released=date(2026, 8, 26),
        maintenance_until=date(2027, 8, 28),
        end_of_life=date(2027, 10, 28),
        etcd_image_tag="3.7.0-0",
        coredns_tag="v1.14.6",
        pause_image="registry.k8s.io/pause:3.10.2",
        containerd="2.3.4",
        runc="1.4.3",
        cni_plugins="1.9.1",
        crictl="1.36.0",
        cri_o=None,
        # An image of 1.37 could not be looked up; one minor older than the API server is allowed.
        cloud_controller_manager=f"{_CLOUD_CONTROLLER_MANAGER}:v1.36.1",
        windows=_WINDOWS,
    ),
)

SELF_MANAGED_RELEASES: Mapping[str, SelfManagedRelease] = {row.minor: row for row in _ROWS}
"""Minor to its row, oldest first."""
SELF_MANAGED_MINORS: tuple[str, ...] = tuple(SELF_MANAGED_RELEASES)
"""The minors that winkube builds, oldest first."""

ENDED: Mapping[str, date] = {
    "1.28": date(2024, 10, 28), "1.29": date(2025, 2, 28), "1.30": date(2025, 6, 28), "1.31": date(2025, 10, 28),
    "1.32": date(2026, 2, 28), "1.33": date(2026, 6, 28), "1.34": date(2026, 10, 27),
}  # fmt: skip
"""Minors out of support, with the day on which it ended."""
PLANNED: Mapping[str, date] = {"1.38": date(2026, 12, 16)}
"""Minors that are announced, with the day that is planned for them."""


def release(minor: str) -> SelfManagedRelease:
    """The row of a minor.

    :raises KeyError: for a minor that ``check_minor`` refuses.
    """
    return SELF_MANAGED_RELEASES[minor]


def check_minor(minor: str, path: Path = ("kubernetes_version",)) -> Mistakes:
    """Whether winkube builds this minor: one that ended, is to come, or is misspelt is refused (``WK-KAD-001``)."""
    found = Mistakes()
    if minor in SELF_MANAGED_RELEASES:
        return found
    newest, allowed = SELF_MANAGED_MINORS[-1], one_of(SELF_MANAGED_MINORS)
    if (ended := _ended(minor)) is not None:
        oldest = SELF_MANAGED_RELEASES[SELF_MANAGED_MINORS[0]]
        remedy = (
            f'set {path[-1]} to "{oldest.minor}" (maintained until {oldest.end_of_life}) or newer; a running cluster '
            "can be upgraded by one minor at a time"
        )
        found.add(MINOR_SUPPORTED, path, ended, remedy, minor)
    elif (planned := PLANNED.get(minor)) is not None:
        found.add(
            MINOR_SUPPORTED,
            path,
            f"Kubernetes {minor} is planned for {planned}, and winkube does not support it yet",
            f'set {path[-1]} to "{newest}"',
            minor,
        )
    else:
        near = _nearest_minor(minor)
        found.add(MINOR_SUPPORTED, path, f"winkube supports the Kubernetes minors {allowed}",
                  f'set {path[-1]} to "{near or newest}"', minor)  # fmt: skip
    return found


def check_windows(windows: str, minor: str, path: Path = ("windows",)) -> Mistakes:
    """Whether a release of Windows Server runs nodes of a self-managed cluster of this minor (``WK-KAD-002``)."""
    found = Mistakes()
    row = SELF_MANAGED_RELEASES.get(minor)
    allowed = row.windows if row else _WINDOWS
    if windows in allowed:
        return found
    words = f"Windows nodes of a self-managed cluster run Windows Server {one_of(allowed)}"
    if windows in WINDOWS_RELEASES:
        words += f"; Kubernetes 1.35 removed {windows} from the supported versions"
    near = nearest_release(windows)
    found.add(WINDOWS_SUPPORTED, path, words, f'set {path[-1]} to "{near if near in allowed else allowed[0]}"', windows)
    return found


def _ended(minor: str) -> str | None:
    """Words for a minor out of support; None for one that is not."""
    if (day := ENDED.get(minor)) is not None:
        return f"Kubernetes {minor} is out of support since {day}"
    try:
        known = minor_number(minor) < minor_number(next(iter(ENDED)))
    except ValueError:
        return None
    return f"Kubernetes {minor} is out of support for years" if known else None


def _nearest_minor(text: str) -> str | None:
    """The minor that a wrong text means: a patch or a tag of one, or the most alike.

    >>> _nearest_minor("v1.36.4"), _nearest_minor("1,36"), _nearest_minor("136")
    ('1.36', '1.36', '1.36')
    """
    head = ".".join(text.removeprefix("v").split(".")[:2])
    return head if head in SELF_MANAGED_RELEASES else nearest(text, SELF_MANAGED_MINORS)
