"""The first policies: what becomes of pods without a grant, and who owns the folder. Grants are for people to write."""

from __future__ import annotations

from poolsmith.guard.policies.enforcement import ENFORCEMENT
from poolsmith.guard.policies.files import POLICIES
from poolsmith.interface.app.schemas import KINDS

README = f"{POLICIES}/README.md"
ENFORCEMENT_FILE = f"{POLICIES}/enforcement.yaml"


def policy_texts() -> dict[str, str]:
    return {README: _README, ENFORCEMENT_FILE: _ENFORCEMENT.format(schema=KINDS[ENFORCEMENT].file)}


_ENFORCEMENT = """\
# yaml-language-server: $schema=_schemas/{schema}
# What API servers do with pods that want more than files of policies/privileges/ grant. At first they warn and write
# the audit log: a release should have run once before its pods are refused. Then write Deny instead of Warn.
apiVersion: poolsmith/v1
kind: PrivilegeEnforcement
metadata:
  name: fleet
spec:
  clusters:
    - "*"
  actions:
    - Warn
    - Audit
"""

_README = """\
# policies

What the clusters may do, and who says so. Owned by those who review privileges, not by those who add pools.

| path | what it is |
| --- | --- |
| `privileges/` | grants: which workload may have which privilege, why, by whom, until when |
| `supply.yaml` | where charts, manifests and images may come from, and where clusters are delivered to |
| `enforcement.yaml` | what a cluster does with a pod that was granted nothing: Warn and Audit, or Deny |
| `admission/` | your own ValidatingAdmissionPolicies: judged offline, and shipped to each cluster |
| `waivers.yaml` | findings that are accepted for a while |
| `rules.yaml` | how severe rules are here, and their numbers |

The last three are missing until somebody writes them. `poolsmith grants --write` proposes the first grants.
"""
