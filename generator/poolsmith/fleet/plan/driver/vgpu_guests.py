"""The driver of pools whose nodes are virtual machines with a vGPU: image and licence.

Source: NVIDIA/cloud-native-docs:gpu-operator/install-gpu-operator-vgpu.rst and precompiled-drivers.rst;
NVIDIA/gpu-operator:controllers/state_manager.go for what is left out on guests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility, node_software
from poolsmith.fleet.profiles.driver import DriverSource, VgpuGuest

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import PoolPlan


VGPU = "/spec/driver/vgpu"
_DRIVER = "/spec/driver"
_SECRET = ("licensingConfig", "secretName")


def check_guest(pool: PoolPlan, source: DriverSource, facts: Facts) -> None:
    """A guest's driver has an image of one's own and a licence; what only whole GPUs have is refused."""
    asked = pool.profile.spec.driver
    if asked.vgpu is None:
        return
    if source is not DriverSource.CONTAINER:
        _refuse_source(pool, source, facts)
        return
    _check_image(pool, facts)
    _check_licence(pool, asked.vgpu, facts)
    if pool.profile.spec.gpu.mig is not None:
        facts.report_pool(
            node_software.VGPU_GUEST,
            pool,
            "/spec/gpu/mig",
            "the operator runs no MIG manager on vGPU guests: the host decides how the GPU is divided",
            help="remove `gpu.mig`",
        )
    for field, wanted in (("rdma", asked.rdma), ("gds", asked.gds), ("gdrcopy", asked.gdrcopy)):
        if wanted:
            facts.report_pool(
                compatibility.NO_SUPPORT_ROW,
                pool,
                f"{_DRIVER}/{field}",
                f"whether `driver.{field}` works beside a vGPU guest driver is unknown",
                help="nothing to do, if it works for you",
            )


def licensing_fields(guest: VgpuGuest, config_map_field: str) -> dict[str, Any]:
    """The licensingConfig of an NVIDIADriver or of values; they call the ConfigMap's field differently.

    There is no licence but through the NVIDIA License System, so nlsEnabled is always true.
    """
    if guest.licensing_secret is not None:
        return {"secretName": guest.licensing_secret, "nlsEnabled": True}
    return {config_map_field: guest.licensing_config_map, "nlsEnabled": True}


def licence_note(pool: PoolPlan, namespace: str) -> str | None:
    """What has to be in the namespace before the driver starts; nothing generated holds it."""
    guest = pool.driver.vgpu if pool.driver is not None else None
    if guest is None:
        return None
    kind = "Secret" if guest.licensing_secret is not None else "ConfigMap"
    name = guest.licensing_secret or guest.licensing_config_map
    return (
        f"Pool {pool.name} has vGPU guests: their driver needs the {kind} {name} in the namespace {namespace}, with "
        "the files gridd.conf and client_configuration_token.tok."
    )


def _refuse_source(pool: PoolPlan, source: DriverSource, facts: Facts) -> None:
    if source is DriverSource.PRECOMPILED:
        facts.report_pool(
            compatibility.DRIVER_CONTRADICTION,
            pool,
            VGPU,
            "there are no precompiled vGPU guest drivers",
            help="write `source: container`, with the repository and the tag of your own image",
        )
    else:
        facts.report_pool(
            compatibility.FIELD_WITHOUT_EFFECT,
            pool,
            VGPU,
            "`driver.vgpu` has no effect: this pool's driver is not the operator's, and is licensed on the host",
            help="remove it, or write `source: container`",
        )


def _check_image(pool: PoolPlan, facts: Facts) -> None:
    asked = pool.profile.spec.driver
    public = str(facts.need_chart().default(("driver", "repository")))
    if asked.repository is None or asked.repository.rstrip("/") == public:
        facts.report_pool(
            node_software.VGPU_GUEST,
            pool,
            f"{_DRIVER}/repository" if asked.repository else VGPU,
            f"there is no public image of a vGPU guest driver, so `{public}` has none",
            help="build one, push it to a private registry, and name that in `driver.repository`",
        )
    if asked.version is None:
        facts.report_pool(
            node_software.VGPU_GUEST,
            pool,
            VGPU,
            "the image of a vGPU guest driver is yours, and so is its tag: none is given",
            help="write `driver.version`, the tag without the operating system, like 550.90.07-grid",
        )


def _check_licence(pool: PoolPlan, guest: VgpuGuest, facts: Facts) -> None:
    secret, config_map = guest.licensing_secret, guest.licensing_config_map
    takes_secrets = ".".join(_SECRET) in facts.need_chart().nvidia_driver_fields
    field = "licensingSecret" if takes_secrets else "licensingConfigMap"
    if (secret is None) == (config_map is None):
        said = "both a Secret and a ConfigMap" if secret is not None else "neither a Secret nor a ConfigMap"
        facts.report_pool(
            node_software.VGPU_GUEST,
            pool,
            VGPU,
            f"the licence is in one object, and `driver.vgpu` names {said}",
            help=f"write `vgpu: {{{field}: <name>}}`",
        )
    elif secret is not None and not takes_secrets:
        facts.report_pool(
            node_software.VGPU_GUEST,
            pool,
            f"{VGPU}/licensingSecret",
            f"{facts.need_release().tag} takes the licence from a ConfigMap only",
            help=f"write `vgpu: {{licensingConfigMap: {secret}}}`",
        )
    elif config_map is not None and takes_secrets:
        facts.report_pool(
            node_software.VGPU_GUEST,
            pool,
            f"{VGPU}/licensingConfigMap",
            f"{facts.need_release().tag} still takes the licence from a ConfigMap, which is deprecated",
            help=f"put the files into a Secret, and write `vgpu: {{licensingSecret: {config_map}}}`",
            severity=Severity.NOTE,
        )
