"""PSM160 to PSM169: a GPU stack without the operator."""

from poolsmith.core.diagnostics.rule_info import RuleInfo
from poolsmith.core.diagnostics.severity import Severity

PARTITIONS_UNDECLARED = RuleInfo(
    code="PSM160",
    name="partitions-undeclared",
    severity=Severity.WARNING,
    what="A pool of the hand-installed stack has a MIG layout, and nothing says that its hosts make the partitions.",
    why="Only the operator brings a MIG manager. The device plugin advertises the partitions that it finds when it "
    "starts, and no file shows what there is on the hosts.",
    fix="make the partitions with nvidia-mig-parted or its systemd unit before the kubelet starts, and acknowledge it: "
    "`acknowledge: [{fact: mig-partitions}]`",
    bad="gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: all-1g.10gb}}\n",
    good="gpu: {product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: all-1g.10gb}}\n"
    "acknowledge: [{fact: mig-partitions, by: platform-team, date: 2026-11-20}]\n",
    symptom="`Insufficient nvidia.com/mig-1g.10gb`, or whole GPUs where partitions are expected; the label "
    "nvidia.com/gpu.product says MIG-INVALID",
    references=(
        "NVIDIA/mig-parted:deployments/systemd/README.md",
        "NVIDIA/k8s-device-plugin:README.md, MIG strategies",
    ),
)

HAND_INSTALLED = (PARTITIONS_UNDECLARED,)
