"""What the validator says of single objects: built-in kinds, custom resources, kustomizations."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.schemas import NoSchema, Schemas, schemas_for
from poolsmith.kubernetes.schema.validation_rules import IMMUTABLE, RULES
from poolsmith.kubernetes.schema.violation import What

VERSIONS = schema_versions(kubernetes="1.33", operator="v26.7.0", coco="v0.7.0")
DRA: dict[str, object] = {}
CONTAINER = {"name": "a", "image": "b"}


def find(api_version, kind, versions=VERSIONS):
    return schemas_for(versions).find(api_version, kind)


def said(api_version, kind, body):
    """`what pointer` of each violation."""
    return [f"{item.what} {item.pointer}" for item in find(api_version, kind).violations(body)]


def pod(**spec):
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [CONTAINER], **spec}}


def driver(**spec):
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "metadata": {"name": "a"},
        "spec": {"image": "driver", "driverType": "gpu", **spec},
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"hostPID": "true"}, ["type /spec/hostPID"]),
        ({"hostPID": 1}, ["type /spec/hostPID"]),
        ({"priority": True}, ["type /spec/priority"]),
        ({"priority": 2.0}, []),
        ({"priority": 2.5}, ["type /spec/priority"]),
        ({"priority": 2**31}, ["value /spec/priority"]),
        ({"nodeSelector": {"a/b": True}}, ["type /spec/nodeSelector/a~1b"]),
        ({"nodeSelecter": {}}, ["unknown-field /spec/nodeSelecter"]),
        ({"tolerations": {}}, ["type /spec/tolerations"]),
        ({"overhead": {"cpu": "1 Gi"}}, ["value /spec/overhead/cpu"]),
        ({"overhead": {"cpu": 0.5, "memory": "1.5Gi", "x": "1e3"}}, []),
        ({"overhead": {"cpu": []}}, ["type /spec/overhead/cpu"]),
        ({"containers": [{"image": "b"}]}, ["required /spec/containers/0"]),
        ({"containers": [{**CONTAINER, "livenessProbe": {"httpGet": {"port": "http"}}}]}, []),
        (
            {"containers": [{**CONTAINER, "livenessProbe": {"httpGet": {"port": 1.5}}}]},
            ["type /spec/containers/0/livenessProbe/httpGet/port"],
        ),
        ({"containers": [CONTAINER, CONTAINER]}, ["duplicate /spec/containers/1"]),
    ],
)
def test_built_in_values(spec, expected):
    assert said("v1", "Pod", pod(**spec)) == expected


def test_all_mistakes_of_an_object_are_told_at_once():
    assert said("v1", "Pod", {"metdata": {}, "spec": {"hostPID": 1, "volumes": [{}], "x": 1}}) == [
        "unknown-field /metdata",
        "type /spec/hostPID",
        "required /spec/volumes/0",
        "unknown-field /spec/x",
        "required /spec",
    ]


@pytest.mark.parametrize(
    ("first", "second", "twice"),
    [
        ({"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}, True),
        ({"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}, False),
    ],
)
def test_entries_are_the_same_when_their_keys_are_defaults_included(first, second, twice):
    found = find("v1", "Pod").violations(pod(containers=[{**CONTAINER, "ports": [first, second]}]))

    assert bool(found) == twice
    assert all(item.grave for item in found), "server-side apply refuses it"


def test_the_same_object_is_judged_once(monkeypatch):
    kind = Schemas(VERSIONS).find("v1", "Pod")
    assert kind.violations(pod()) == ()
    monkeypatch.setattr(KindSchema, "check", None)

    assert kind.violations(pod()) == ()


class TestNull:
    @pytest.mark.parametrize("key", ["tolerations", "hostPID", "securityContext", "overhead"])
    def test_counts_as_absent_in_built_in_kinds_with_a_warning(self, key):
        (violation,) = find("v1", "Pod").violations(pod(**{key: None}))

        assert (violation.what, violation.pointer, violation.grave) == ("null", f"/spec/{key}", False)

    def test_is_a_missing_field_where_one_is_required(self):
        assert said("v1", "Pod", pod(containers=None)) == ["required /spec/containers"]

    def test_is_an_empty_object_in_a_list(self):
        requirement = {"requiredDuringSchedulingIgnoredDuringExecution": [None]}

        assert said("v1", "Pod", pod(affinity={"podAffinity": requirement})) == [
            f"{what} /spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0"
            for what in ("null", "required")
        ]

    def test_is_refused_in_a_list_whose_entries_have_an_identity(self):
        assert said("v1", "Pod", pod(containers=[None])) == ["type /spec/containers/0"]

    def test_is_dropped_from_a_custom_resource_where_there_is_a_default(self):
        assert said("nvidia.com/v1alpha1", "NVIDIADriver", driver(driverType=None)) == []

    def test_is_refused_in_a_custom_resource_where_it_is_not_nullable(self):
        assert said("nvidia.com/v1alpha1", "NVIDIADriver", driver(args=None)) == ["type /spec/args"]

    def test_follows_nullable(self):
        body = {"spec": {"ccNodeSelector": None, "runtimeName": "kata", "config": {}}}
        found = said("confidentialcontainers.org/v1beta1", "CcRuntime", body)

        assert not any("ccNodeSelector" in item for item in found if item.startswith("null"))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"driverType": "gpus"}, ["value /spec/driverType"]),
        ({"upgradePolicey": {}}, ["unknown-field /spec/upgradePolicey"]),
        ({"tolerations": [{"tolerationSeconds": 2**63}]}, ["value /spec/tolerations/0/tolerationSeconds"]),
        ({"default": True}, []),
        ({"default": True, "nodeSelector": {"a": "b"}}, ["rule /spec"]),
    ],
)
def test_custom_resources(spec, expected):
    assert said("nvidia.com/v1alpha1", "NVIDIADriver", driver(**spec)) == expected


def test_metadata_of_custom_resources_is_judged_too():
    assert said("nvidia.com/v1alpha1", "NVIDIADriver", {**driver(), "metadata": {"lables": {}}}) == [
        "unknown-field /metadata/lables"
    ]


def test_a_rule_of_the_whole_object():
    body = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "GPUCluster",
        "metadata": {"name": "other"},
        "spec": {"draDriver": DRA},
    }

    assert "rule " in said("nvidia.com/v1alpha1", "GPUCluster", body)
    assert "rule " not in said("nvidia.com/v1alpha1", "GPUCluster", {**body, "metadata": {"name": "gpu-cluster"}})


@pytest.mark.parametrize(
    ("wrong", "help_text"),
    [
        ("containrs", "did you mean `containers`?"),
        ("hostpid", "did you mean `hostPID`?"),
        ("host_pid", "did you mean `hostPID`?"),
        ("runAsNonRoot", "it belongs under `securityContext`"),
    ],
)
def test_help_names_the_field_that_was_meant(wrong, help_text):
    (violation,) = find("v1", "Pod").violations(pod(**{wrong: True}))

    assert violation.help == help_text


def test_a_field_one_or_two_levels_too_high_is_sent_home():
    found = find("apps/v1", "DaemonSet").violations({"spec": {"selector": {}, "template": {}, "hostPID": True}})

    assert [item.help for item in found if item.what is What.UNKNOWN_FIELD] == ["it belongs under `template.spec`"]


class TestKinds:
    @pytest.mark.parametrize(
        ("api_version", "kind", "help_text"),
        [
            ("apps/v1", "DeamonSet", "did you mean `DaemonSet`?"),
            ("apps/v1beta1", "Deployment", "use `apiVersion: apps/v1`"),
            ("v1", "Deployment", "Deployment is served as `apiVersion: apps/v1`"),
            ("nvidia.com/v1", "ClusterPolicies", "did you mean `ClusterPolicy`?"),
        ],
    )
    def test_what_a_known_server_does_not_serve_is_refused(self, api_version, kind, help_text):
        found = find(api_version, kind)

        assert isinstance(found, NoSchema)
        assert found.refused
        assert found.help == help_text

    @pytest.mark.parametrize(
        ("versions", "api_version", "kind"),
        [
            (VERSIONS, "example.com/v1", "Pod"),
            (VERSIONS, "metrics.k8s.io/v1beta1", "NodeMetrics"),
            (VERSIONS, "argoproj.io/v1alpha1", "Workflow"),
            (schema_versions(kubernetes="1.24"), "v1", "Pod"),
            (schema_versions(kubernetes="1.33"), "nvidia.com/v1", "ClusterPolicy"),
            (schema_versions(kubernetes="1.33", operator="v1.2.3"), "nvidia.com/v1", "ClusterPolicy"),
            (schema_versions(kubernetes="1.33"), "confidentialcontainers.org/v1beta1", "CcRuntime"),
        ],
    )
    def test_what_nobody_knows_is_unknown_and_not_refused(self, versions, api_version, kind):
        found = find(api_version, kind, versions)

        assert isinstance(found, NoSchema)
        assert not found.refused

    def test_a_kind_depends_on_the_version(self):
        assert isinstance(
            find("nvidia.com/v1alpha1", "GPUCluster", schema_versions(kubernetes="1.33", operator="v26.3.3")), NoSchema
        )
        assert isinstance(find("resource.k8s.io/v1", "DeviceClass"), NoSchema)
        assert isinstance(find("resource.k8s.io/v1", "DeviceClass", schema_versions(kubernetes="1.34")), KindSchema)


def test_kustomizations_take_what_kustomize_reads():
    body = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}

    assert said(body["apiVersion"], body["kind"], {**body, "resources": ["a.yaml"], "images": [{"newTag": "1"}]}) == []
    assert said(body["apiVersion"], body["kind"], {**body, "resource": ["a.yaml"], "images": [{"newtag": "1"}]}) == [
        "unknown-field /resource",
        "unknown-field /images/0/newtag",
    ]


class TestDefaults:
    def test_are_applied_to_a_copy(self):
        body = driver()
        del body["spec"]["driverType"]
        defaulted = find("nvidia.com/v1alpha1", "NVIDIADriver").kept(body)

        assert defaulted["spec"]["driverType"] == "gpu"
        assert "driverType" not in body["spec"]
        assert find("nvidia.com/v1alpha1", "NVIDIADriver").violations(body) == ()

    def test_take_the_place_of_null(self):
        defaulted = find("nvidia.com/v1alpha1", "NVIDIADriver").kept(driver(driverType=None))

        assert defaulted["spec"]["driverType"] == "gpu"


class TestTransitions:
    def between(self, old, new):
        found = find("nvidia.com/v1alpha1", "NVIDIADriver").transition_violations(old, new)
        return [item.pointer for item in found]

    def test_what_is_immutable_may_not_change(self):
        assert self.between(driver(), driver(driverType="vgpu")) == ["/spec/driverType"]
        assert self.between(driver(), driver(version="1", image="other")) == []

    def test_a_default_is_a_value(self):
        assert self.between({"spec": {}}, driver()) == []
        assert self.between({"spec": {}}, driver(driverType="vgpu")) == ["/spec/driverType"]

    def test_what_comes_or_goes_is_no_change(self):
        assert self.between(driver(), driver(usePrecompiled=True)) == []
        assert self.between(driver(usePrecompiled=True), driver(usePrecompiled=False)) == ["/spec/usePrecompiled"]
        assert self.between({}, driver()) == []


def test_every_rule_of_our_definitions_has_a_function():
    from poolsmith.kubernetes.schema.schemas import families, read_pack

    packs = [read_pack(family) for family in families()]
    held = {rule for pack in packs for version in pack.versions for rule in rules_of(pack.view(version))}

    assert held - {IMMUTABLE} == set(RULES)


def rules_of(view):
    found = set()

    def walk(node):
        if isinstance(node, dict):
            found.update(node.get("rules", ()) if isinstance(node.get("rules"), list) else ())
            for child in node.values():
                walk(child)

    for name in view._texts:
        walk(view.definition(name))
    return found


def test_a_rule_that_nobody_wrote_is_not_evaluated():
    from poolsmith.kubernetes.schema.validation_rules import rule_violations

    (violation,) = rule_violations(["self.x == quantity('1')"], {"type": "object"}, {}, lambda schema: schema)

    assert violation.what == "not-evaluated"


def test_every_pattern_is_one_that_python_reads_as_go_does():
    from poolsmith.kubernetes.schema.scalars import go_pattern
    from poolsmith.kubernetes.schema.schemas import families, read_pack

    for family in families():
        for line in read_pack(family).text.splitlines():
            assert "\\p{" not in line
            assert "(?P<" not in line
    assert go_pattern("^a$").search("a\n") is None
    assert go_pattern("^[$]$").search("$") is not None
    assert go_pattern(r"^\$\d\z").search("$٣") is None
