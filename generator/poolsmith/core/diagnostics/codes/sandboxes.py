"""PSM190 to PSM199: Kata by its eras, and confidential pools."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

ERA_CHANGE = RuleInfo(
    code="PSM190",
    name="sandbox-era-change",
    what="An upgrade brings Kata in another way than the release before, and the old one is still there.",
    why=(
        "Each way writes containerd's configuration and makes runtime classes. Two of them undo each other's work, and "
        "what the first one left behind on the hosts is used by the second."
    ),
    fix=(
        "remove what the old release brought, in the order that the message names, and acknowledge it in the cluster: "
        "`acknowledge: [{fact: sandbox-era-left}]`; or install the release in a new cluster"
    ),
    bad="stack: {release: v26.3.3, upgradingFrom: v25.10.1}   # with a Kata pool\n",
    good=(
        "stack: {release: v26.3.3, upgradingFrom: v25.10.1}\n"
        "acknowledge: [{fact: sandbox-era-left, by: platform-team, date: 2026-11-20}]\n"
    ),
    symptom="pods of kata-nvidia-gpu stay pending after the upgrade, and containerd restarts again and again",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:controllers/object_controls.go, runtime classes of the Kata manager are deleted",
        "NVIDIA/cloud-native-docs@gpu-operator-v24.9.2-15:gpu-operator/gpu-operator-kata.rst, limitations",
    ),
)

SANDBOXES = (ERA_CHANGE,)
