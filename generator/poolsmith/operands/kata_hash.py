"""The hash by which the operator notices that the Kata manager's configuration changed.

It is FNV-1a over a printed Go structure: types, field names and values, a map or list without entries as nil.
Held against recorded runs. Source: NVIDIA/gpu-operator:internal/utils.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.operands.kube import fnv32a

if TYPE_CHECKING:
    from collections.abc import Mapping


def kata_config_hash(config: Mapping[str, Any]) -> str:
    """The hash of `kataManager.config`, in decimal."""
    classes = config.get("runtimeClasses")
    printed = f"[{' '.join(_runtime_class(item) for item in classes)}]" if classes else "<nil>"
    folder = config.get("artifactsDir", "")
    text = f"(*config.Config){{ArtifactsDir:(string){folder} RuntimeClasses:([]config.RuntimeClass){printed}}}"
    return str(fnv32a(text.encode()))


def _runtime_class(item: Mapping[str, Any]) -> str:
    artifacts = item.get("artifacts") or {}
    source = f"URL:(string){artifacts.get('url', '')} PullSecret:(string){artifacts.get('pullSecret', '')}"
    return (
        f"{{Name:(string){item.get('name', '')} "
        f"NodeSelector:(map[string]string){_labels(item.get('nodeSelector') or {})} "
        f"Artifacts:(config.Artifacts){{{source}}}}}"
    )


def _labels(labels: Mapping[str, str]) -> str:
    return f"map[{' '.join(f'{key}:{value}' for key, value in sorted(labels.items()))}]" if labels else "<nil>"
