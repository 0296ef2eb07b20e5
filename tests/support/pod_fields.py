"""DaemonSets with one word of a user's in one field, and whether the API server takes it (t) or refuses it (r).

Each verdict is one of kube-apiserver 1.34.1; tests/control_plane asks it again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Body = dict[str, Any]
LONG = "a" * 63
ANNOTATIONS = 1 << 18
_DAEMON_SET: Body = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "a", "namespace": "default", "labels": {}},
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "x/y:z", "env": [{"name": "A", "value": "b"}]}]},
        },
    },
}
_KEYS = {
    "a/b": "t", "a/B": "t", "x." * 126 + "x/y": "t", "a b": "r", "a/b/c": "r", "/b": "r", "a/": "r", "a" * 64: "r",
    "x." * 127 + "x/y": "r", "a..b/c": "r", "-a/b": "r", "a/-b": "r", "": "r",
}  # fmt: skip
_VALUES = {
    "": "t", LONG: "t", "A.b_c": "t", "b c": "r", f"{LONG}a": "r", "-a": "r", "a-": "r", "a/b": "r", ".a": "r", "ü": "r",
}  # fmt: skip
_NAMES = {"a.b": "t", "A_B": "r", "-a": "r", "a.": "r", " a": "r"}
_VARIABLES = {
    "A B": "t", "a.b-c": "t", "1A": "t", "~": "t", " ": "t", "A=B": "r", "": "r", "ü": "r", "A\tB": "r", "A\n": "r", "=": "r",
}  # fmt: skip
_RESOURCES: list[tuple[Body, str]] = [
    ({"limits": {"memory": "1Gi"}, "requests": {"memory": "1024Mi"}}, "t"),
    ({"requests": {"memory": "1Gi"}}, "t"),
    ({"limits": {"cpu": "0"}}, "t"),
    ({"limits": {"cpu": "1e3"}, "requests": {"cpu": "1k"}}, "t"),
    ({"limits": {"memory": "10Mi"}, "requests": {"memory": "20Mi"}}, "r"),
    ({"limits": {"cpu": 1}, "requests": {"cpu": "1500m"}}, "r"),
    ({"limits": {"cpu": "-1"}}, "r"),
    ({"requests": {"cpu": "-1m"}}, "r"),
]
_ROLLING: list[tuple[Body, str]] = [
    ({}, "t"),
    ({"maxUnavailable": "10%"}, "t"),
    ({"maxUnavailable": "100%"}, "t"),
    ({"maxUnavailable": "010%"}, "t"),
    ({"maxUnavailable": 0, "maxSurge": 1}, "t"),
    ({"maxUnavailable": "abc"}, "r"),
    ({"maxUnavailable": 0}, "r"),
    ({"maxUnavailable": "0%"}, "r"),
    ({"maxUnavailable": "101%"}, "r"),
    ({"maxUnavailable": "5"}, "r"),
    ({"maxUnavailable": -1}, "r"),
    ({"maxUnavailable": "1.5%"}, "r"),
    ({"maxUnavailable": "%"}, "r"),
    ({"maxUnavailable": " 10%"}, "r"),
    ({"maxUnavailable": 1, "maxSurge": 1}, "r"),
    ({"maxSurge": 1}, "r"),
    ({"maxSurge": "10%"}, "r"),
    ({"maxUnavailable": "0%", "maxSurge": "0%"}, "r"),
]
_PATHS = {"run/x": "t", "/run/..x": "t", ":": "t", "/run/../x": "r", "..": "r", "/a/..": "r", "": "r"}


def words() -> Iterator[tuple[str, Body, str]]:
    """A name, the object, and the server's verdict."""
    for key, verdict in _KEYS.items():
        yield f"label key {key!r}", _changed(lambda body, pod, key=key: _labels(body).update({key: "x"})), verdict
        yield (
            f"own label key {key!r}",
            _changed(lambda body, pod, key=key: body["metadata"]["labels"].update({key: "x"})),
            verdict,
        )
        yield f"selector {key!r}", _changed(lambda body, pod, key=key: pod.update(nodeSelector={key: "x"})), verdict
        yield f"annotation {key!r}", _changed(lambda body, pod, key=key: _annotate(body, {key: "x"})), verdict
    for value, verdict in _VALUES.items():
        yield f"label {value!r}", _changed(lambda body, pod, value=value: _labels(body).update(x=value)), verdict
        yield (
            f"selected {value!r}",
            _changed(lambda body, pod, value=value: pod.update(nodeSelector={"x": value})),
            verdict,
        )
    for size, verdict in ((ANNOTATIONS - 1, "t"), (ANNOTATIONS, "r")):
        yield (
            f"annotations of {size}",
            _changed(lambda body, pod, size=size: _annotate(body, {"a": "x" * size})),
            verdict,
        )
    for field in ("priorityClassName", "runtimeClassName", "serviceAccountName"):
        empty = {"": "r" if field == "runtimeClassName" else "t"}
        for name, verdict in (_NAMES | empty).items():
            yield (
                f"{field} {name!r}",
                _changed(lambda body, pod, field=field, name=name: pod.update({field: name})),
                verdict,
            )
    for name, verdict in _VARIABLES.items():
        entry = {"name": name, "value": "1"}
        yield (
            f"variable {name!r}",
            _changed(lambda body, pod, entry=entry: pod["containers"][0]["env"].append(entry)),
            verdict,
        )
    for resources, verdict in _RESOURCES:
        yield (
            f"{resources}",
            _changed(lambda body, pod, value=resources: pod["containers"][0].update(resources=value)),
            verdict,
        )
    for rolling, verdict in _ROLLING:
        strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
        yield (
            f"{rolling}",
            _changed(lambda body, pod, value=strategy: body["spec"].update(updateStrategy=value)),
            verdict,
        )
    idle = {"type": "OnDelete", "rollingUpdate": {"maxUnavailable": "abc"}}
    yield "on delete", _changed(lambda body, pod: body["spec"].update(updateStrategy=idle)), "t"
    for path, verdict in _PATHS.items():
        volumes = [{"name": "v", "hostPath": {"path": path}}]
        yield f"host path {path!r}", _changed(lambda body, pod, value=volumes: pod.update(volumes=value)), verdict
    for image in (" x", "x ", "x y"):
        yield f"image {image!r}", _changed(lambda body, pod, image=image: pod["containers"][0].update(image=image)), "t"


def _changed(change: Callable[[Body, Body], Any]) -> Body:
    body = copy.deepcopy(_DAEMON_SET)
    change(body, body["spec"]["template"]["spec"])
    return body


def _labels(body: Body) -> Body:
    return body["spec"]["template"]["metadata"]["labels"]


def _annotate(body: Body, annotations: Body) -> None:
    body["spec"]["template"]["metadata"]["annotations"] = annotations
