"""What setup rules see (the nodes, Helm values and objects of one cluster), and the run of the rules over it.

The cluster may be generated or written by hand. What nobody says is None, and no rule may read it as a no. Rules that
lack what they need are counted. A label can keep all of the operator's parts off a node.

Source: NVIDIA/gpu-operator:controllers/state_manager.go.
"""

from __future__ import annotations

from dataclasses import field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Protocol

from poolsmith.core.diagnostics import Location, Severity
from poolsmith.core.diagnostics.message_text import listed, plural
from poolsmith.core.diagnostics.rule_engine import Rule, run_rules
from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import MISSING, join, value_at
from poolsmith.gpu.catalog.node_labels import DEPLOY_OPERANDS
from poolsmith.kubernetes.repository.declared_charts import installed_charts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.gpu.catalog.releases import Release
    from poolsmith.kubernetes.repository.declared_charts import DeclaredChart


Taint = dict[str, str]
"""`key` and `effect`, `value` where it has one."""


class Place(Protocol):
    """From a JSON pointer to a line that the user edits; the nearest one where the file says nothing at the pointer."""

    def __call__(self, pointer: str, note: str | None = None, /) -> Location: ...


@record
class SetupNode:
    """A node with a GPU, or a pool in which all nodes are alike.

    Texts are empty where they are not known. `labels` are those that the operator sees, its own nvidia.com/gpu.present
    included. From `image_tag` on only a profile can say it: the system's part of image tags, where the catalog does not
    know the system; container, precompiled, preinstalled or os; the folder of such a driver; operator, overlay or
    preinstalled; none or mellanox; container, vm-passthrough, vm-vgpu, kata or kata-confidential.
    """

    name: str
    labels: Mapping[str, str]
    place: Place
    taints: tuple[Taint, ...] = ()
    runtime: str = ""
    runtime_version: str = ""
    os_id: str = ""
    os_version: str = ""
    kernel: str = ""
    arch: str = ""
    kubelet: str = ""
    gpu: str = ""
    architecture: str | None = None
    image_tag: str | None = None
    driver: str | None = None
    install_dir: str | None = None
    toolkit: str | None = None
    nic: str | None = None
    secure_boot: bool | None = None
    autoscaled: bool | None = None
    startup_taints: tuple[Taint, ...] | None = None
    workload: str | None = None
    is_pool: bool = False

    @property
    def location(self) -> Location:
        """Where its name stands."""
        return self.place("/metadata/name")

    @property
    def word(self) -> str:
        """What it is, for messages."""
        return "pool" if self.is_pool else "node"


@record(kw_only=False, slots=False)
class SetupObject:
    """A Kubernetes object; `file` is where it stands, or would be generated. Many setups may share it."""

    data: dict[str, Any]
    place: Place
    file: str = ""
    source: SourceFile | None = None
    """What it is written in, where it stands at the top of a document."""

    @cached_property
    def kind(self) -> str:
        kind = self.data.get("kind")
        return kind if isinstance(kind, str) else ""

    @property
    def api_version(self) -> str:
        version = self.data.get("apiVersion")
        return version if isinstance(version, str) else ""

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def metadata(self) -> dict[str, Any]:
        metadata = self.data.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def own_name(self) -> str:
        name = self.metadata.get("name")
        return name if isinstance(name, str) else ""

    @property
    def name(self) -> str:
        """Kind/name, for messages; the file of what is no object."""
        return f"{self.kind}/{self.own_name}" if self.data else self.file

    @property
    def spec(self) -> dict[str, Any]:
        spec = self.data.get("spec")
        return spec if isinstance(spec, dict) else {}

    def below(self, top: str) -> Place:
        """The places below a JSON pointer of the object."""

        def place(pointer: str, note: str | None = None) -> Location:
            return self.place(top + pointer, note)

        return place


@record
class SetupValues:
    """Helm values of the gpu-operator chart. `defaults` are the chart's, None where they are not recorded.

    `partial`: more values come from elsewhere, so that nothing is known of what these don't say. `of_policy`: there are
    none, and a ClusterPolicy in a file says what they would. `own` are those that the user wrote, where most are made.
    """

    values: dict[str, Any]
    defaults: dict[str, Any] | None
    place: Place
    partial: bool = False
    of_policy: bool = False
    file: str = ""
    always_on: frozenset[str] = frozenset()
    """Switches that every release has on by default, where nothing else is open."""
    own: Mapping[str, Any] | None = None
    written: Callable[[str], tuple[SourceFile, str] | None] = lambda _: None
    """From a pointer to what it is written in, and the pointer there; None where nobody knows."""


class ToldPlaces:
    """Where errors have been found, by file; those of `before` as well, which many views share."""

    def __init__(self, places: Iterable[Location] = ()) -> None:
        self.before: ToldPlaces | None = None
        self._by_path: dict[str, set[str]] = {}
        self.extend(places)

    def extend(self, places: Iterable[Location]) -> None:
        for place in places:
            self._by_path.setdefault(place.path, set()).add(place.pointer)

    def pointers(self, path: str) -> Iterator[str]:
        yield from self._by_path.get(path, ())
        if self.before is not None:
            yield from self.before.pointers(path)


@record(slots=False, eq=False)
class SetupView:
    """One cluster. `nodes` and `values` are None where nobody gave any; `operator` are the facts of the release.

    `bystanders` are nodes without a GPU.

    `cluster` is its name, empty where files are judged without a project.
    """

    catalog: Catalog
    cluster: str = ""
    tag: str | None = None
    operator: Release | None = None
    distribution: str | None = None
    is_gathered: bool = False
    """Its objects stand anywhere, and nobody says that they go to one cluster."""
    is_open: bool = False
    """Its API server enforces no Pod Security level by itself, whatever the distribution does by default."""
    kubernetes: str | None = None
    nodes: tuple[SetupNode, ...] | None = None
    bystanders: tuple[SetupNode, ...] = ()
    values: SetupValues | None = None
    objects: tuple[SetupObject, ...] = ()
    labels_said: frozenset[str] = frozenset()
    """Labels that descriptions of machines give to nodes, of whichever cluster."""
    namespace: str | None = None
    is_generated: bool = False
    charts: tuple[tuple[SetupObject, DeclaredChart], ...] = ()
    """What files install that are no objects, such as those of Terraform and Helmfile, each with what stands for it."""
    engine_of: frozenset[str] = frozenset()
    """The distributions that alone have the engine that delivers the operator."""
    made: dict[str, object] = field(default_factory=dict)
    """What rules share, by a name: made by the first that asks."""
    told: ToldPlaces = field(default_factory=ToldPlaces)
    """Where errors have been found: rules that come last leave out what follows from them."""
    _known: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _by_kind(self) -> dict[str, list[SetupObject]]:
        found: dict[str, list[SetupObject]] = {}
        for item in self.objects:
            found.setdefault(item.kind, []).append(item)
        return found

    def of_kind(self, kind: str, group: str | None = None) -> tuple[SetupObject, ...]:
        """In the order of the files. `group` is the part of apiVersion before the slash."""
        return tuple(item for item in self._by_kind.get(kind, ()) if group is None or item.group == group)

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], SetupObject]:
        found: dict[tuple[str, str], SetupObject] = {}
        for item in self.objects:
            found.setdefault((item.kind, item.own_name), item)
        return found

    def named(self, kind: str, name: str) -> SetupObject | None:
        """The first one, in whichever group and namespace."""
        return self._by_name.get((kind, name))

    def installed_charts(self) -> Iterator[tuple[SetupObject, DeclaredChart]]:
        """The charts that run in this cluster for certain, each with what declares it."""
        for item in self.objects:
            for chart in installed_charts(item, self):
                yield item, chart
        yield from self.charts

    @property
    def known(self) -> frozenset[str]:
        """Which of `nodes`, `values` and `release` are known, and whether `all` of the values where there are any."""
        told = {
            "all": self.values is None or self.values.of_policy or not self.values.partial,
            "nodes": self.nodes is not None,
            "values": self.values is not None,
            "release": self.operator is not None,
        }
        return frozenset(need for need, is_known in told.items() if is_known)

    def value(self, path: str) -> Any:
        """The dotted value as Helm has it: the user's over the chart's; None where it is null, absent or unknown."""
        if path not in self._known:
            self._known[path] = self._value(path)
        return self._known[path]

    def flag(self, path: str) -> bool | None:
        """A switch; None where it is not known, or no boolean."""
        value = self.value(path)
        return value if isinstance(value, bool) else None

    def is_set(self, path: str) -> bool:
        """Whether the user's own values say something there."""
        return self.values is not None and value_at(self.values.values, path.split("."), MISSING) is not MISSING

    def is_told(self, *places: Location) -> bool:
        """Whether an error has been found at one of these places, above or below it."""
        return any(
            pointer == place.pointer or _is_above(pointer, place.pointer)
            for place in places
            for pointer in self.told.pointers(place.path)
        )

    def value_location(self, path: str, note: str | None = None) -> Location:
        """The nearest line that decides the value: its own, one above it, or the top of the values."""
        assert self.values is not None, "only rules that need values ask for their lines"
        return self.values.place("".join(f"/{step}" for step in path.split(".")), note)

    def _value(self, path: str) -> Any:
        if self.values is None:
            return None
        steps = path.split(".")
        node: Any = self.values.values
        for step in steps:
            if not isinstance(node, dict):  # a scalar or null above replaces the whole block of the chart
                return None
            if step not in node:
                if path in self.values.always_on:
                    return True
                left_open = self.values.partial and not self.values.of_policy
                return None if left_open else value_at(self.values.defaults or {}, steps)
            node = node[step]
        return node


def below_values(view: SetupView, path: str) -> Place:
    """The places below a dotted value."""
    top = join("", *path.split("."))

    def place(pointer: str, note: str | None = None) -> Location:
        assert view.values is not None, "only rules that found a value ask for its places"
        return view.values.place(top + pointer, note)

    return place


def _is_above(one: str, other: str) -> bool:
    """Whether one of two JSON pointers leads to something around the other; the top of a document is around nothing."""
    return bool(one and other) and (other.startswith(f"{one}/") or one.startswith(f"{other}/"))


FEW = 3


def named(nodes: Sequence[SetupNode]) -> str:
    """`pool a` or `nodes a, b and 5 more`."""
    return f"{plural(len(nodes), nodes[0].word)} {listed([node.name for node in nodes], FEW)}"


def verb(nodes: Sequence[object], one: str, several: str) -> str:
    return one if len(nodes) == 1 else several


def places(nodes: Sequence[SetupNode], pointer: str, note: str) -> tuple[Location, ...]:
    """A line of each of the first ones."""
    return tuple(node.place(pointer, note) for node in nodes[:FEW])


OFF = "false"


def takes_operands(node: SetupNode) -> bool:
    """Whether the operator deploys anything there."""
    return node.labels.get(DEPLOY_OPERANDS) != OFF


if TYPE_CHECKING:

    class SetupRule(Rule["SetupView", Location], Protocol):
        """What must be known for a rule stands in it: `nodes`, `values`, `release`, `all` of the values.

        Without one of its `NEEDS` the rule is not run, and counted. Where a module has `PARTLY_NEEDS`, it says less
        without one of these, and is counted as well.
        """

        @property
        def NEEDS(self) -> tuple[str, ...]: ...  # noqa: N802 - a constant of the module


@record(kw_only=False)
class SetupResult:
    """`lacking` says for each rule that did not run, or not with all its parts, what was not known."""

    diagnostics: tuple[Diagnostic, ...] = ()
    lacking: tuple[tuple[str, ...], ...] = ()


def needs_of(rule: SetupRule) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What must be known for a rule, and for all of it: of a rule of ours without loading its code."""
    known = _needs().get(getattr(rule, "__name__", "").rpartition(".")[2])
    return known if known is not None else (rule.NEEDS, getattr(rule, "PARTLY_NEEDS", ()))


@cache
def _needs() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """By the module of a rule. `make docs` makes the table from the rules."""
    table = store.read_own_json("setup_needs.json")
    return {name: (tuple(needs), tuple(partly)) for name, (needs, partly) in table.items()}


def lacking(rules: Iterable[SetupRule], known: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    """What each rule lacks that lacks anything, by what is known."""
    needed = ((*needs, *partly) for needs, partly in map(needs_of, rules))
    missing = (tuple(need for need in needs if need not in known) for needs in needed)
    return tuple(filter(None, missing))


def run_setup_rules(rules: Iterable[SetupRule], view: SetupView) -> SetupResult:
    rules, known = tuple(rules), view.known
    diagnostics: list[Diagnostic] = []
    for rule in rules:
        if known.issuperset(needs_of(rule)[0]):
            found = run_rules((rule,), view, view.cluster)
            view.told.extend(item.primary for item in found if item.severity is Severity.ERROR)
            diagnostics.extend(found)
    view.made.clear()  # it points back to the view, and would keep the whole cluster in memory
    return SetupResult(tuple(diagnostics), lacking(rules, known))
