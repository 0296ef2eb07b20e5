"""The hash by which the operator notices that the Kata manager's configuration changed.

It is FNV-1a over a printed Go structure: types, field names and values. A map or list that is empty is one without
entries, and one that is absent is nil: the API server keeps the difference. Held against runs of the operator's
binary. Source: NVIDIA/gpu-operator:internal/utils. Its text is what sigs.k8s.io/yaml writes of the same structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import fnv32a

if TYPE_CHECKING:
    from collections.abc import Mapping


_NIL = "<nil>"


def kata_config_hash(config: Mapping[str, Any]) -> str:
    """The hash of `kataManager.config`, in decimal."""
    classes = config.get("runtimeClasses")
    printed = _NIL if classes is None else f"[{' '.join(_runtime_class(item) for item in classes)}]"
    folder = config.get("artifactsDir", "")
    text = f"(*config.Config){{ArtifactsDir:(string){folder} RuntimeClasses:([]config.RuntimeClass){printed}}}"
    return str(fnv32a(text.encode()))


def kata_config_text(config: Mapping[str, Any] | None) -> str:
    """What the Kata manager reads; empty fields are none, but for the address of artifacts."""
    from poolsmith.kubernetes.helm.to_yaml import to_yaml  # on demand

    if config is None:
        return "null\n"
    classes = [
        {
            "name": item.get("name", ""),
            **({"nodeSelector": item["nodeSelector"]} if item.get("nodeSelector") else {}),
            "artifacts": {
                "url": (item.get("artifacts") or {}).get("url", ""),
                **{key: text for key, text in (item.get("artifacts") or {}).items() if key == "pullSecret" and text},
            },
        }
        for item in config.get("runtimeClasses") or ()
    ]
    folder = config.get("artifactsDir")
    return (
        to_yaml({**({"artifactsDir": folder} if folder else {}), **({"runtimeClasses": classes} if classes else {})})
        + "\n"
    )


def _runtime_class(item: Mapping[str, Any]) -> str:
    artifacts = item.get("artifacts") or {}
    source = f"URL:(string){artifacts.get('url', '')} PullSecret:(string){artifacts.get('pullSecret', '')}"
    return (
        f"{{Name:(string){item.get('name', '')} "
        f"NodeSelector:(map[string]string){_labels(item.get('nodeSelector'))} "
        f"Artifacts:(config.Artifacts){{{source}}}}}"
    )


def _labels(labels: Mapping[str, str] | None) -> str:
    if labels is None:
        return _NIL
    return f"map[{' '.join(f'{key}:{value}' for key, value in sorted(labels.items()))}]"
