"""Pod templates at random, of the fields that the API server fills something into."""

from __future__ import annotations

from hypothesis import strategies as st

DIGEST = f"@sha256:{'a' * 64}"
IMAGES = {
    "r/a": "Always",
    "r/a:latest": "Always",
    "r/a:1": "IfNotPresent",
    f"r/a{DIGEST}": "IfNotPresent",
    f"r/a:1{DIGEST}": "IfNotPresent",
    f"r/a:latest{DIGEST}": "Always",
    "registry.example.com:5000/a": "Always",
    "registry.example.com:5000/a:1": "IfNotPresent",
    "[::1]:5000/a/b__c": "Always",
    "r/A": "IfNotPresent",
    "r/A:latest": "IfNotPresent",
    "R/a": "Always",
    "a": "Always",
    "a" * 64: "IfNotPresent",
    "r/a@sha256:abc": "IfNotPresent",
    f"r/a:latest@sha999:{'a' * 64}": "IfNotPresent",
    f"r/a:latest@sha256:{'A' * 64}": "IfNotPresent",
    f"r/a:{'t' * 129}": "IfNotPresent",
    "r/" + "a" * 254: "IfNotPresent",
    "r//a:latest": "IfNotPresent",
    "r/a:lat est": "IfNotPresent",
    "a" * 247: "Always",
    "a" * 248: "IfNotPresent",
}
"""Names of images, and what a server asked says of a container of each that says nothing itself."""


def _some(required, **optional):
    return st.fixed_dictionaries(required, optional=optional)


_HTTP = _some({"port": st.just(80)}, path=st.sampled_from(["", "/a"]), scheme=st.sampled_from(["", "HTTPS"]))
_HANDLERS = st.one_of(
    st.builds(lambda http: {"httpGet": http}, _HTTP),
    st.builds(lambda call: {"grpc": call}, _some({"port": st.just(80)}, service=st.sampled_from(["", "a"]))),
)
_PROBES = st.builds(
    lambda handler, own: {**own, **handler},
    _HANDLERS,
    _some({}, timeoutSeconds=st.integers(0, 2), periodSeconds=st.integers(0, 2), failureThreshold=st.integers(0, 2)),
)
_REFERENCES = _some({"fieldPath": st.just("metadata.name")}, apiVersion=st.sampled_from(["", "v1"]))
_VARIABLES = st.builds(lambda reference: [{"name": "A", "valueFrom": {"fieldRef": reference}}], _REFERENCES)
_AMOUNTS = st.sampled_from([{"cpu": 1}, {"cpu": "0.5", "memory": "1Gi"}])
CONTAINERS = _some(
    {"name": st.just("c"), "image": st.sampled_from(sorted(image for image in IMAGES if " " not in image))},
    imagePullPolicy=st.sampled_from(["", "Never", "Always"]),
    terminationMessagePath=st.sampled_from(["", "/a"]),
    terminationMessagePolicy=st.sampled_from(["", "FallbackToLogsOnError"]),
    env=_VARIABLES,
    ports=st.builds(lambda port: [port], _some({"containerPort": st.just(80)}, protocol=st.sampled_from(["", "UDP"]))),
    resources=_some({}, limits=_AMOUNTS),
    livenessProbe=_PROBES,
    startupProbe=_PROBES,
    lifecycle=st.builds(lambda http: {"preStop": {"httpGet": http}}, _HTTP),
)
_DOWNWARD = st.builds(lambda reference: {"items": [{"path": "p", "fieldRef": reference}]}, _REFERENCES)
_TOKENS = st.builds(
    lambda token: {"sources": [{"serviceAccountToken": token}]},
    _some({"path": st.just("t")}, expirationSeconds=st.just(7200)),
)
_VOLUMES = st.one_of(
    st.just({}),
    st.builds(lambda it: {"hostPath": it}, _some({"path": st.just("/a")}, type=st.sampled_from(["", "Directory"]))),
    st.builds(lambda it: {"configMap": it}, _some({"name": st.just("m")}, defaultMode=st.sampled_from([0, 256]))),
    st.builds(lambda it: {"secret": it}, _some({"secretName": st.just("s")}, defaultMode=st.just(256))),
    st.builds(lambda it: {"downwardAPI": it}, _DOWNWARD),
    st.builds(lambda it: {"projected": it}, _TOKENS),
).map(lambda source: [{"name": "v", **source}])
POD_SPECS = _some(
    {"containers": st.builds(lambda container: [container], CONTAINERS)},
    initContainers=st.builds(lambda container: [{**container, "name": "i"}], CONTAINERS).map(
        lambda items: [
            {key: item[key] for key in item if not key.endswith("Probe") and key != "lifecycle"} for item in items
        ]
    ),
    volumes=_VOLUMES,
    hostNetwork=st.booleans(),
    terminationGracePeriodSeconds=st.integers(0, 2),
    serviceAccount=st.sampled_from(["", "a"]),
    schedulerName=st.sampled_from(["", "s"]),
    securityContext=st.sampled_from([{}, {"runAsNonRoot": True}]),
)


def daemon_set(spec):
    """A workload of pods with this spec."""
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": spec},
        },
    }
