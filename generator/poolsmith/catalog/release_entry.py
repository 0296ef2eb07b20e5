"""Make a release's catalog entry from what a chart ships.

The entry holds facts only: accepted value paths with their types, defaults, the fields of NVIDIADriver, and
the names of the MIG layouts that come with the release.
"""

from __future__ import annotations

from typing import Any


def chart_entry(
    *,
    release: str,
    values: dict[str, Any],
    value_paths: dict[str, dict[str, Any]],
    kube_version: str,
    nfd_chart: str | None,
    source: str,
    driver_crd: dict[str, Any] | None = None,
    mig_config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The entry of one chart release.

    `values` is the chart's values.yaml; `value_paths` says for each dotted path whether values.yaml declares
    it, whether a template reads it, and its type. `driver_crd` is the NVIDIADriver CustomResourceDefinition,
    `mig_config` the data of the release's MIG layout file.
    """
    paths = {
        path: fact.get("type", "any")
        for path, fact in sorted(value_paths.items())
        if fact.get("referenced") or _inside_subchart(path)
    }
    dead = sorted(
        path for path, fact in value_paths.items() if not fact.get("referenced") and not _inside_subchart(path)
    )
    return {
        "release": release,
        "source": source,
        "kubeVersion": kube_version,
        "nodeFeatureDiscoveryChart": nfd_chart,
        "defaults": values,
        "paths": paths,
        "dead": dead,
        "nvidiaDriverFields": sorted(_crd_fields(driver_crd)) if driver_crd else [],
        "migLayouts": sorted(mig_config.get("mig-configs", {})) if mig_config else [],
    }


def _inside_subchart(path: str) -> bool:
    return path.startswith("node-feature-discovery")


def _crd_fields(crd: dict[str, Any]) -> list[str]:
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found: list[str] = []

    def walk(node: dict[str, Any], path: str) -> None:
        for name, child in node.get("properties", {}).items():
            below = f"{path}.{name}" if path else name
            found.append(below)
            walk(child, below)

    walk(schema["properties"]["spec"], "")
    return found
