"""How Argo CD is told whether a child Application is healthy: a patch of its own configuration, for people to apply.

It is a patch and no object, so that no sync and no `kubectl apply` of the folder takes it for the whole `argocd-cm`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = "argocd-cm-health.patch"
APPLICATION = """\
hs = {status = "Progressing", message = "not reconciled yet"}
if obj.status ~= nil and obj.status.health ~= nil and obj.status.health.status ~= nil then
  hs.status = obj.status.health.status
  hs.message = obj.status.health.message or ""
end
return hs
"""
"""Argo CD's health of an Application, as the health of the object. It was built in before Argo CD 1.8.

Source: argoproj/argo-cd:docs/operator-manual/upgrading/1.7-1.8.md
"""
NVIDIA_DRIVER = """\
no_nodes = "Error syncing state state-driver: failed to create k8s objects from manifests: "
  .. "no nodes matching the given node selector for "
hs = {status = "Progressing", message = "the operator has not said anything yet"}
if obj.status == nil or obj.status.conditions == nil then
  return hs
end
for _, condition in ipairs(obj.status.conditions) do
  local message = condition.message or ""
  if condition.type == "Ready" and condition.status == "True" then
    return {status = "Healthy", message = message}
  end
  if condition.type == "Error" and condition.status == "True" then
    if message == no_nodes .. obj.metadata.name then
      return {status = "Healthy", message = message}
    end
    hs.status = condition.reason == "DriverNotReady" and "Progressing" or "Degraded"
    hs.message = message
  end
end
return hs
"""
"""The operator's own word of a driver: what Flux is told by `healthCheckExprs`; Argo CD has no script for it.

Argo CD gives scripts no string library, so that the whole message is compared. Source: as in `flux.py`;
argoproj/argo-cd@v3.5.1:util/lua/lua.go
"""
SCRIPTS = {"argoproj.io_Application": APPLICATION, "nvidia.com_NVIDIADriver": NVIDIA_DRIVER}
_WHY = (
    "Not applied by anything: a patch of Argo CD's own configuration, for whoever owns that.",
    "",
    "Since 1.8 Argo CD counts an Application that another one holds as healthy as soon as it exists: the sync waves",
    "of a cluster (platform, then the operator, then the pools) then only order their creation, and retries do the",
    "rest. With the first script a wave waits until what it brings is healthy. With the second one, the pools are",
    "healthy when the operator says that their drivers are ready.",
    "",
)


def health_patch(folder: str, namespaces: Iterable[str], header: tuple[str, ...]) -> Manifest:
    """One file below `folder`. `namespaces` are those in which an Argo CD runs."""
    commands = (f"  kubectl patch configmap argocd-cm -n {name} --patch-file {FILE}" for name in namespaces)
    body = {"data": {f"resource.customizations.health.{kind}": script for kind, script in SCRIPTS.items()}}
    return Manifest(path=f"{folder}/{FILE}", documents=(body,), header=(*header, "", *_WHY, *commands), applied=False)
