"""What a pool's GPUs are used for: sandboxes, partitions and sharing, claims (DRA), stacks without the operator.

PSM130 to PSM139: hosts of vGPUs. PSM140 to PSM149: GPUs by claims (DRA). PSM160 to PSM169: a GPU stack without the
operator. PSM190 to PSM199: Kata by its eras, and confidential pools. PSM150, PSM230 to PSM241: everything else.
"""

from __future__ import annotations

from poolsmith.core.diagnostics.rule_info import RuleInfo

MIG_GPU_GROUPS = RuleInfo.of("PSM150")
SANDBOX_ERA = RuleInfo.of("PSM230")
SANDBOX_CONTRADICTION = RuleInfo.of("PSM231")
HOST_FACTS_UNDECLARED = RuleInfo.of("PSM232")
AUTO_UPGRADE_OFF = RuleInfo.of("PSM233")
MIG_LAYOUT = RuleInfo.of("PSM240")
SHARING_CONTRADICTION = RuleInfo.of("PSM241")

GPU_CLUSTER_PRECONDITION = RuleInfo.of("PSM140")
GPU_CLUSTER_CHANGE = RuleInfo.of("PSM141")
DRA_GATES = RuleInfo.of("PSM142")
COMPUTE_DOMAIN = RuleInfo.of("PSM143")

PARTITIONS_UNDECLARED = RuleInfo.of("PSM160")

ERA_CHANGE = RuleInfo.of("PSM190")

VGPU_HOST = RuleInfo.of("PSM130")
VGPU_LAYOUT = RuleInfo.of("PSM131")
