"""How sandboxed workloads are delivered: the eras of Kata, and what hosts have to be set up for."""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts.versions import is_older
from poolsmith.core.record import record

PLAIN = "plain"
COCO_OPERATOR = "coco-operator"
KATA_DEPLOY = "kata-deploy"


@record
class PluginAlias:
    """One name over all GPU models. `default`: without the variable, empty for the names of models."""

    variable: str
    default: str
    advised: str


@record
class SandboxPlugin:
    """The device plugin that advertises GPUs of Kata pools. `component` is its Helm value.

    `keeps_dashes`: how it makes a resource of a model's name. `switch` is the resource of an NVSwitch.
    """

    component: str
    keeps_dashes: bool
    alias: PluginAlias | None
    switch: str | None


@record
class Validated:
    """What the documentation has tried confidential pools on; None or empty where it names nothing."""

    os: dict[str, tuple[str, ...]]
    kernel: str | None
    containerd: str | None
    kubernetes: str | None
    gpus: tuple[str, ...]


@record
class KataEra:
    """How one era brings Kata. `classes`, `artifacts` and `class_selectors` are by `plain` or the TEE of a pool.

    `installer` is None where no way is known. `mode` is `sandboxWorkloads.mode`, None where there is none to choose.
    `gpus_per_pod` is None without a limit. `manages_plain`: plain pools need the CC manager, too. `leave` are the steps
    before another era takes over.
    """

    name: str
    says: str
    installer: str | None
    installer_version: str | None
    installer_tolerations: bool
    runtimes: tuple[str, ...]
    arch: tuple[str, ...]
    mode: str | None
    classes: dict[str, str]
    own_class_names: bool
    artifacts: dict[str, str]
    class_selectors: dict[str, dict[str, str]]
    first_installation_only: bool
    gpus_per_pod: int | None
    values: dict[str, Any]
    confidential_values: dict[str, Any]
    confidential_labels: dict[str, str]
    plugin: SandboxPlugin | None
    pod_annotations: dict[str, str]
    confidential_pod_annotations: dict[str, str]
    memory_annotation: str | None
    smoke_image: str | None
    cc_modes: tuple[str, ...]
    cc_devices: tuple[str, ...]
    manages_plain: bool
    validated: Validated | None
    leave: tuple[str, ...]
    source: str

    @property
    def tees(self) -> tuple[str, ...]:
        """The trusted execution environments that it has a class for."""
        return tuple(name for name in self.classes if name != PLAIN)


@record
class HostFact:
    """Something about hosts that no file shows, but for kernel arguments that prove it.

    Empty tuples and None ask of every pool whose GPUs are passed through.
    """

    fact: str
    says: str
    proofs: tuple[str, ...]
    workloads: tuple[str, ...]
    installers: tuple[str, ...]
    eras: tuple[str, ...]
    tees: tuple[str, ...]
    before: str | None
    stacks: tuple[str, ...]
    of_domains: bool

    def concerns(
        self, *, workload: str, era: KataEra | None, tee: str | None, kubernetes: str, stack: str, domain: bool
    ) -> bool:
        """Whether a pool has to say it. `era` is None for pools that run no Kata; `domain`: the nodes' own driver is to
        serve ComputeDomains.
        """
        return (
            (stack in self.stacks if self.stacks else stack == "operator")
            and (domain or not self.of_domains)
            and (not self.workloads or workload in self.workloads)
            and (not self.installers or (era is not None and era.installer in self.installers))
            and (not self.eras or (era is not None and era.name in self.eras))
            and (not self.tees or tee in self.tees)
            and (self.before is None or is_older(kubernetes, self.before))
        )


@record
class Confidential:
    """Architectures that can compute confidentially. By architecture: the CC mode of a node whose GPUs are all in one
    sandbox, and how many NVSwitches it has for how many GPUs.
    """

    architectures: tuple[str, ...]
    whole_node_mode: dict[str, str]
    switches: dict[str, dict[int, int]]
    source: str


@record
class KataDeploy:
    """The chart kata-deploy: where it is, and what it calls distributions and shims."""

    chart: str
    repository: str
    namespace: str
    distributions: dict[str, str]
    folder: str
    shims: dict[str, str]
    guest_pull: str
    source: str


@record
class Sandboxes:
    """`coco_operator` has the CoCo operator's own words: images, folders, classes."""

    eras: dict[str, KataEra]
    host_facts: tuple[HostFact, ...]
    confidential: Confidential
    kata_deploy: KataDeploy
    coco_operator: dict[str, Any]


def sandboxes_from(data: dict[str, Any]) -> Sandboxes:
    confidential, deploy = data["confidential"], data["kataDeploy"]
    return Sandboxes(
        eras={name: _era(name, entry) for name, entry in data["eras"].items()},
        host_facts=tuple(map(_host_fact, data["hostFacts"])),
        confidential=Confidential(
            architectures=tuple(confidential["architectures"]),
            whole_node_mode=confidential["wholeNodeMode"],
            switches={
                name: {int(count): number for count, number in table.items()}
                for name, table in confidential["switches"].items()
            },
            source=confidential["source"],
        ),
        kata_deploy=KataDeploy(
            chart=deploy["chart"],
            repository=deploy["repository"],
            namespace=deploy["namespace"],
            distributions=deploy["distributions"],
            folder=deploy["folder"],
            shims=deploy["shims"],
            guest_pull=deploy["guestPull"],
            source=deploy["source"],
        ),
        coco_operator=data["cocoOperator"],
    )


def _era(name: str, entry: dict[str, Any]) -> KataEra:
    return KataEra(
        name=name,
        says=entry["says"],
        installer=entry.get("installer"),
        installer_version=entry.get("installerVersion"),
        installer_tolerations=entry.get("installerTolerations", False),
        runtimes=tuple(entry.get("runtimes", ())),
        arch=tuple(entry.get("arch", ())),
        mode=entry.get("mode"),
        classes=entry.get("classes", {}),
        own_class_names=entry.get("ownClassNames", False),
        artifacts=entry.get("artifacts", {}),
        class_selectors=entry.get("classSelectors", {}),
        first_installation_only=entry.get("firstInstallationOnly", False),
        gpus_per_pod=entry.get("gpusPerPod"),
        values=entry.get("values", {}),
        confidential_values=entry.get("confidentialValues", {}),
        confidential_labels=entry.get("confidentialLabels", {}),
        plugin=_plugin(entry["plugin"]) if "plugin" in entry else None,
        pod_annotations=entry.get("podAnnotations", {}),
        confidential_pod_annotations=entry.get("confidentialPodAnnotations", {}),
        memory_annotation=entry.get("memoryAnnotation"),
        smoke_image=entry.get("smokeImage"),
        cc_modes=tuple(entry.get("ccModes", ())),
        cc_devices=tuple(entry.get("ccDevices", ())),
        manages_plain=entry.get("managesPlain", False),
        validated=_validated(entry["supported"]) if "supported" in entry else None,
        leave=tuple(entry.get("leave", ())),
        source=entry.get("source", ""),
    )


def _plugin(entry: dict[str, Any]) -> SandboxPlugin:
    alias = entry.get("alias")
    return SandboxPlugin(
        component=entry["component"],
        keeps_dashes=entry.get("kata", False),
        alias=PluginAlias(variable=alias["variable"], default=alias["default"], advised=alias["advised"])
        if alias is not None
        else None,
        switch=entry.get("switch"),
    )


def _validated(entry: dict[str, Any]) -> Validated:
    return Validated(
        os={name: tuple(versions) for name, versions in entry.get("os", {}).items()},
        kernel=entry.get("kernel"),
        containerd=entry.get("containerd"),
        kubernetes=entry.get("kubernetes"),
        gpus=tuple(entry.get("gpus", ())),
    )


def _host_fact(entry: dict[str, Any]) -> HostFact:
    return HostFact(
        fact=entry["fact"],
        says=entry["says"],
        proofs=tuple(entry.get("proofs", ())),
        workloads=tuple(entry.get("workloads", ())),
        installers=tuple(entry.get("installers", ())),
        eras=tuple(entry.get("eras", ())),
        tees=tuple(entry.get("tees", ())),
        before=entry.get("before"),
        stacks=tuple(entry.get("stacks", ())),
        of_domains=entry.get("domains", False),
    )
