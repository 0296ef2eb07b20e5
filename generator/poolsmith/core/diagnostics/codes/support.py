"""Versions as such: open to published attacks, without support, or too far from the one before.

PSM170 to PSM172; PSM910 and PSM911 are about versions that can't be.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.diagnostic import RuleInfo, Severity

VULNERABLE_STACK = RuleInfo(
    code="PSM170",
    name="vulnerable-stack",
    severity=Severity.WARNING,
    what="The container toolkit of a profile, brought by the release, pinned, or on the nodes, lacks the fixes of "
    "published vulnerabilities.",
    why="With CVE-2024-0132, CVE-2025-23266 and CVE-2026-24260, the image of a pod can take over its node: the toolkit "
    "runs as root outside the container, and does what the image says.",
    fix="upgrade the release, pin a toolkit that has the fix, or install one on the nodes",
    bad="stack: {release: v25.3.0}   # brings toolkit 1.17.5\n",
    good="stack: {release: v26.7.0}\n",
    symptom="scanners report CVE-2024-0132, CVE-2025-23266 or CVE-2026-24260 for container-toolkit",
    references=(
        "CVE records of the NVIDIA Container Toolkit and the NVIDIA GPU Operator",
        "NVIDIA/cloud-native-docs:gpu-operator/security.rst",
        "NVIDIA/product-security:2026/5850",
    ),
)
SUPPORT_ENDED = RuleInfo(
    code="PSM171",
    name="support-ended",
    severity=Severity.NOTE,
    what="Support of the operator's line, or of the driver's branch, has ended, as of the day that the catalog says.",
    why="Nobody mends it any more: not its bugs, and not what is found about its security.",
    fix="plan the upgrade; `poolsmith upgrade` names the way",
    bad="driver: {source: container, version: 550.163.01}\n",
    good="driver: {source: container, version: 580.126.20}\n",
    references=(
        "NVIDIA/cloud-native-docs:gpu-operator/life-cycle-policy.rst",
        "docs.nvidia.com: Supported Drivers and CUDA Toolkit Versions",
    ),
)
RELEASE_SKIPPED = RuleInfo(
    code="PSM172",
    name="release-skipped",
    severity=Severity.WARNING,
    what="`stack.upgradingFrom` is more than one line of releases away from `stack.release`.",
    why="Upgrades are supported within a line, or to the next one. What a line in between would have migrated stays "
    "as it is.",
    fix="go through the lines in between, one after the other; the message names them",
    bad="stack: {release: v26.7.0, upgradingFrom: v25.10.1}\n",
    good="stack: {release: v26.3.3, upgradingFrom: v25.10.1}\n",
    references=("NVIDIA/cloud-native-docs:gpu-operator/life-cycle-policy.rst",),
)

IMPOSSIBLE_KERNEL = RuleInfo(
    code="PSM910",
    name="impossible-kernel",
    what="A pool with precompiled drivers declares a kernel that `uname -r` never prints on its system.",
    why="The kernel is a part of the image's name, letter by letter. No image has such a name, and the driver pods "
    "never become ready.",
    fix="write what `uname -r` prints on a node",
    bad='kernel: {release: 5.15.0-105}\ndriver: {source: precompiled, version: "535"}\n',
    good='kernel: {release: 5.15.0-105-generic}\ndriver: {source: precompiled, version: "535"}\n',
    symptom="driver pods in ImagePullBackOff: `manifest unknown`",
    references=("NVIDIA/gpu-driver-container: tags of precompiled images",),
)
UNKNOWN_VERSION = RuleInfo(
    code="PSM911",
    name="version-of-no-release",
    severity=Severity.WARNING,
    what="A driver, or the Kubernetes of a cluster, has a version that is far from all that are known: no branch of "
    "drivers has such a number, or Kubernetes is not there yet.",
    why="It is most likely a typing error; where it decides an image's name, there is no such image.",
    fix="compare it with what the vendor has published",
    bad="driver: {source: container, version: 999.1.2}\n",
    good="driver: {source: container, version: 580.126.20}\n",
    references=("docs.nvidia.com: Supported Drivers and CUDA Toolkit Versions",),
)

COMPARE = "compare it with the vendor's list of drivers"
MOVE = "move to a branch that gets fixes when you can; the vendor lists them"
