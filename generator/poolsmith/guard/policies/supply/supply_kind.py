"""Kind SupplyPolicy: sources that a fleet may use and accepted unknowns, with one spelling of each place.

No passwords, queries, fragments, escapes, empty or dotted parts, upper-case hosts or trailing dots. A user name stands
only where SSH needs one.
"""

from __future__ import annotations

from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, RELATIVE_PATH, TEXT, spec
from poolsmith.core.shape.review import PROSE
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE
from poolsmith.guard.ledger.grants.grant import DATE_TEXT, NAME_GLOB

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_USER = r"[a-z][a-z0-9_-]{0,31}"
_PART = r"[A-Za-z0-9_][A-Za-z0-9._~+-]{0,200}"
_IMAGE_PART = r"[a-z0-9]([a-z0-9._-]{0,200}[a-z0-9])?"
HOST_NAME = rf"{_LABEL}(\.{_LABEL}){{0,20}}"
HOST = rf"{HOST_NAME}(:[1-9][0-9]{{0,4}})?"
_PARTS = rf"(/{_PART}){{0,20}}/?"
WEB_ADDRESS = rf"(https|oci)://{HOST}{_PARTS}"
GIT_ADDRESS = rf"((https|oci)://|ssh://({_USER}@)?){HOST}{_PARTS}|{_USER}@{HOST_NAME}:{_PART}{_PARTS}"
API_SERVER = rf"https://{HOST}{_PARTS}"
IMAGE_PLACE = rf"{HOST}(/{_IMAGE_PART}){{0,20}}"
REVISION = r"refs/(heads|tags)/[A-Za-z0-9._/*?-]{1,200}|[0-9a-f]{40}|sha256:[0-9a-f]{64}"


SUPPLY = "SupplyPolicy"

_LONG = r"[^\x00-\x1f\x7f]{1,2000}"
_CLUSTERS = "Names of clusters; `*` stands for any letters, `?` for one. A cluster that an entry names without `*` and "
_EXACT = "`?` is held to such entries alone."
_CLUSTER_FORM = "the name of a cluster, or a pattern with `*` and `?`"


@record
class AllowedChart:
    """A chart, and its versions where they matter."""

    name: str = spec(
        "Name of the chart.",
        pattern=DNS_LABEL,
        form="a chart's name",
        examples=(OPERATOR_NAMESPACE,),
    )
    versions: tuple[str, ...] = spec(
        "Versions; `*` stands for any letters, `?` for one. Default: every version.",
        default=(),
        pattern=r"[A-Za-z0-9.*?+-]{1,60}",
        form="a version, or a pattern with `*` and `?`",
        examples=(["v26.3.*"],),
        unique=True,
    )


@record
class AllowedGit:
    """A Git repository, and what may be taken of it."""

    url: str = spec(
        "Exact address of the repository.",
        pattern=GIT_ADDRESS,
        form="an https, ssh or oci address without password, query and fragment",
        examples=("https://git.example.com/gpu.git",),
    )
    revisions: tuple[str, ...] = spec(
        "Branches, tags and commits; `*` stands for any letters except `/`, `?` for one.",
        pattern=REVISION,
        form="refs/heads/<branch>, refs/tags/<tag>, a pattern of these, or a full commit id",
        examples=(["refs/heads/main"], ["refs/tags/v*"]),
        unique=True,
    )
    paths: tuple[str, ...] = spec(
        "Folders that clusters are delivered from. Default: none, only its manifests and charts are used.",
        default=(),
        pattern=RELATIVE_PATH,
        form="a relative path without `..`",
        examples=(["output"],),
        unique=True,
    )
    clusters: tuple[str, ...] = spec(
        _CLUSTERS + _EXACT,
        default=("*",),
        pattern=NAME_GLOB,
        form=_CLUSTER_FORM,
        unique=True,
    )


@record
class AllowedDelivery:
    """Where a GitOps engine applies what it takes. Fields that are left out must be left out in the profile, too."""

    clusters: tuple[str, ...] = spec(
        _CLUSTERS + _EXACT, pattern=NAME_GLOB, form=_CLUSTER_FORM, examples=(["prod-eu"],), unique=True
    )
    namespaces: tuple[str, ...] = spec(
        "Namespaces of the delivery objects.",
        default=("argocd", "flux-system"),
        pattern=DNS_LABEL,
        form="a DNS label",
        unique=True,
    )
    projects: tuple[str, ...] = spec(
        "Argo CD projects.",
        default=("default",),
        pattern=DNS_LABEL,
        form="a DNS label",
        unique=True,
    )
    name: str | None = spec(
        "Name of the destination cluster in Argo CD.",
        default=None,
        pattern=TEXT,
        form="one line",
    )
    server: str | None = spec(
        "API server address of the destination.",
        default=None,
        pattern=API_SERVER,
        form="an https address",
    )
    instance: str | None = spec(
        "Which Argo CD delivers, as `delivery.instance` of the profile names it.",
        default=None,
        pattern=DNS_LABEL,
        form="a DNS label",
        examples=("edge-1",),
    )
    source_ref: str | None = spec(
        "Existing Flux source, as Kind/namespace/name.",
        default=None,
        pattern=rf"(GitRepository|OCIRepository|Bucket)/{DNS_LABEL}/{DNS_LABEL}",
        form="Kind/namespace/name",
        examples=("GitRepository/flux-system/flux-system",),
    )


@record
class AcceptedUnknown:
    """Something that poolsmith can't evaluate, and that somebody answers for. Nothing of it may differ."""

    cluster: str = spec("Name of the cluster.", pattern=DNS_LABEL, form="a DNS label", examples=("prod-eu",))
    unit: str | None = spec(
        "Name of the unit that brings it, where one does.", default=None, pattern=DNS_LABEL, form="a DNS label"
    )
    source: str | None = spec(
        "Repository that it comes from, where it has one.", default=None, pattern=_LONG, form="an address"
    )
    revision: str | None = spec(
        "Revision or version of it, where it has one.", default=None, pattern=_LONG, form="a revision or version"
    )
    unknown: str = spec("What is not evaluated, in the words of `poolsmith check`.", pattern=_LONG, form="one line")
    reason: str = spec("Why it is accepted.", default="", pattern=PROSE)
    owner: str = spec("The team that is responsible.", default="", pattern=PROSE, examples=("gpu-platform",))
    expires: str = spec(
        "The last day on which it is valid.",
        default="",
        pattern=DATE_TEXT,
        form="a day such as 2027-06-30",
        examples=("2027-06-30",),
    )


@record
class AcceptedSetting:
    """A setting of a workload that gives power without being a privilege of the ledger."""

    cluster: str = spec("Name of the cluster.", pattern=DNS_LABEL, form="a DNS label", examples=("prod-eu",))
    workload: str = spec("The workload, in the words of `poolsmith check`.", pattern=_LONG, form="one line")
    setting: str = spec("Exactly the setting, in the words of `poolsmith check`.", pattern=_LONG, form="one line")
    reason: str = spec("Why it is accepted.", default="", pattern=PROSE)
    owner: str = spec("The team that is responsible.", default="", pattern=PROSE, examples=("gpu-platform",))
    expires: str = spec(
        "The last day on which it is valid.",
        default="",
        pattern=DATE_TEXT,
        form="a day such as 2027-06-30",
        examples=("2027-06-30",),
    )


@record
class SupplySpec:
    """What is not listed is not allowed."""

    chart_repositories: tuple[str, ...] = spec(
        "Helm repositories: exact addresses, with all that lies below them.",
        default=(),
        pattern=WEB_ADDRESS,
        form="an https or oci address without user, query and fragment",
        examples=(["https://helm.ngc.nvidia.com/nvidia"],),
        unique=True,
    )
    charts: tuple[AllowedChart, ...] = spec("Charts that may be installed.", default=())
    git_repositories: tuple[AllowedGit, ...] = spec(
        "Git repositories: that of output/, and those of manifests and charts.", default=()
    )
    deliveries: tuple[AllowedDelivery, ...] = spec("Where clusters are delivered to.", default=())
    image_registries: tuple[str, ...] = spec(
        "Registries, or repositories in them, with all that lies below them. Docker Hub is `docker.io`.",
        default=(),
        pattern=IMAGE_PLACE,
        form="a registry host, with a path where needed",
        examples=(["nvcr.io/nvidia", "registry.k8s.io/nfd"],),
        unique=True,
    )
    mirrors: dict[str, tuple[str, ...]] = spec(
        "Registry host to its mirrors: those that profiles may have in `registry.mirrors`.",
        default={},
        keys=HOST,
        pattern=IMAGE_PLACE,
        form="a registry host, with a path where needed",
        examples=({"nvcr.io": ["registry.example.com/nvcr"]},),
    )
    accept_unknown: tuple[AcceptedUnknown, ...] = spec(
        "What nobody can evaluate, and is accepted all the same, for a while.", default=()
    )
    accept_settings: tuple[AcceptedSetting, ...] = spec(
        "Settings of workloads that give power, and are accepted for a while.", default=()
    )
