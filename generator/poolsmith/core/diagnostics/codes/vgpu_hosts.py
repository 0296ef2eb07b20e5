"""PSM130 to PSM139: hosts of vGPUs."""

from poolsmith.core.diagnostics.rule_info import RuleInfo

VGPU_HOST = RuleInfo(
    code="PSM130",
    name="vgpu-host",
    what="A vGPU host pool lacks its vGPU manager, or can't run one.",
    why=(
        "The driver of vGPU hosts may not be published, so that each customer builds an image of it. Without one the "
        "operator's DaemonSet has no image, and no virtual machine gets a vGPU."
    ),
    fix="build the image, and name it in `driver.vgpuManager`; use GPUs and hosts that the documentation has",
    bad="workload: vm-vgpu\n",
    good=("workload: vm-vgpu\ndriver: {vgpuManager: {repository: registry.example.com/vgpu, version: 580.82.07}}\n"),
    symptom="`InvalidImageName` on nvidia-vgpu-manager-daemonset, and nodes without any `nvidia.com/` resource",
    references=(
        "NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/gpu-operator-kubevirt.rst",
        "NVIDIA/gpu-driver-container@06a208ca9747:vgpu-manager",
    ),
)
VGPU_LAYOUT = RuleInfo(
    code="PSM131",
    name="vgpu-layout",
    what="The release does not know the layout of vGPUs, or the GPU can't be divided like that.",
    why="The vGPU device manager sets the node's state to failed, and no virtual machine gets a vGPU.",
    fix="use `default`, a type of vGPU of this GPU, or a layout of your own in `gpu.vgpu.devices`",
    bad="gpu: {product: NVIDIA-A10, count: 2, vgpu: {layout: A40-12Q}}\n",
    good="gpu: {product: NVIDIA-A10, count: 2, vgpu: {layout: A10-12Q}}\n",
    symptom="`nvidia.com/vgpu.config.state: failed` on the node",
    references=("NVIDIA/vgpu-device-manager@v0.5.0:api/spec/v1/spec.go",),
)

VGPU_HOSTS = (VGPU_HOST, VGPU_LAYOUT)
