"""The rules over drivers, one situation each: what nodes are, what describes their driver, and what is said."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Location
from poolsmith.core.diagnostics.diagnostic import Span
from poolsmith.core.diagnostics.rule_engine import MOST_OF_ONE_RULE
from poolsmith.gpu.catalog import Catalog
from poolsmith.guard.rules.setup import (
    driver_and_gpu,
    driver_coverage,
    driver_of_the_system,
    host_driver_folder,
    label_of_nobody,
    no_driver_image,
    rdma_without_adapter,
    refused_driver_objects,
    several_cluster_policies,
    unlike_nodes,
)
from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject, SetupValues, SetupView, run_setup_rules

CATALOG = Catalog()
ZONE = "topology.kubernetes.io/zone"
IMAGE = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "580.126.20"}
OBJECTS = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}}
OPT_OUT = {"nvidia.com/gpu.deploy.driver": "pre-installed"}


def place(path):
    return lambda pointer, note=None: Location(span=Span(path=path), pointer=pointer, note=note)


def node(name="n", zone="a", **facts):
    labels = {"nvidia.com/gpu.present": "true", ZONE: zone} | facts.pop("labels", {})
    system = {"os_id": "ubuntu", "os_version": "22.04", "arch": "amd64"} | facts
    return SetupNode(name=name, labels=labels, place=place(name), **system)


def driver(name="d", zone="a", **spec):
    selector = {"nodeSelector": {ZONE: zone}} if zone else {}
    return thing("nvidia.com/v1alpha1", "NVIDIADriver", name, spec=IMAGE | selector | spec)


def thing(version, kind, name, **body):
    return SetupObject({"apiVersion": version, "kind": kind, "metadata": {"name": name}, **body}, place(name))


def view(*nodes, values=None, objects=(), tag="v26.3.3", partial=False):
    return SetupView(
        catalog=CATALOG,
        tag=tag,
        operator=CATALOG.releases.near(tag),
        nodes=tuple(nodes),
        values=SetupValues(
            values=values or {},
            defaults=CATALOG.chart("gpu-operator", tag).defaults,
            place=place("values"),
            partial=partial,
        ),
        objects=tuple(objects),
    )


def told(rule, seen):
    return [
        (str(item.severity), item.primary.span.path, item.primary.pointer, item.message)
        for item in run_setup_rules([rule], seen).diagnostics
    ]


def said(rule, seen):
    """The only finding's message."""
    ((*_, message),) = told(rule, seen)
    return message


OWN = [driver("a", "", nodeSelector={"example.com/pool": "a"})]
RDMA = {"driver": {"rdma": {"enabled": True}}}
V100 = {"gpu": "Tesla-V100-SXM2-32GB", "architecture": "volta"}
B200 = {"gpu": "NVIDIA-B200", "architecture": "blackwell"}


class TestUnlikeNodes:
    def test_one_system_is_fine_whatever_the_kernels(self):
        nodes = [node("a", kernel="5.15.0-105-generic"), node("b", kernel="5.15.0-127-generic")]

        assert told(unlike_nodes, view(*nodes)) == []

    def test_minors_of_one_system_are_unlike_where_the_tag_has_them(self):
        nodes = [node("a", os_id="rhel", os_version="9.2"), node("b", os_id="rhel", os_version="9.4")]

        assert "`a` (rhel9.2), `b` (rhel9.4)" in said(unlike_nodes, view(*nodes))
        assert told(unlike_nodes, view(*nodes, tag="v26.7.0")) == []

    def test_a_node_that_needs_no_driver_counts_for_its_system(self):
        nodes = [node("a"), node("b", os_version="24.04", driver="preinstalled", labels=OPT_OUT)]

        assert len(told(unlike_nodes, view(*nodes))) == 1
        assert told(unlike_nodes, view(nodes[1], node("c", labels=OPT_OUT))) == []

    def test_systems_with_one_tag_are_alike(self):
        nodes = [node("a"), node("b", os_id="mint", os_version="21", image_tag="ubuntu22.04")]

        assert told(unlike_nodes, view(*nodes)) == []

    def test_a_node_that_the_operator_stops_at_is_told_elsewhere(self):
        nodes = [node("a", os_id="rhel", os_version="9.4"), node("b", os_id="rhel", os_version="stream")]

        assert told(unlike_nodes, view(*nodes)) == []
        assert len(told(unlike_nodes, view(*nodes, tag="v25.10.1"))) == 1

    def test_compiled_and_precompiled_under_one_policy(self):
        nodes = [node("a", driver="container"), node("b", driver="precompiled")]

        assert "`a` (container), `b` (precompiled) want different drivers" in said(unlike_nodes, view(*nodes))

    def test_objects_or_no_driver_at_all_are_no_matter(self):
        nodes = [node("a"), node("b", os_version="24.04")]

        assert told(unlike_nodes, view(*nodes, values=OBJECTS)) == []
        assert told(unlike_nodes, view(*nodes, values={"driver": {"enabled": False}})) == []


class TestRefusedDriverObjects:
    def test_disjoint_objects_pass_in_each_release(self):
        objects = [driver("a", "a"), driver("b", "b")]

        for tag in CATALOG.releases.by_tag:
            assert told(refused_driver_objects, view(values=OBJECTS, objects=objects, tag=tag)) == []

    def test_the_chart_makes_a_default_object_with_a_selector_of_the_values(self):
        crd = {"enabled": True, "nodeSelector": {ZONE: "z"}}

        assert told(refused_driver_objects, view(values={"driver": {"nvidiaDriverCRD": crd}}, objects=[driver()])) == []
        crd["nodeSelector"] = {}
        assert "selects every GPU node" in said(
            refused_driver_objects, view(values={"driver": {"nvidiaDriverCRD": crd}}, objects=[driver()])
        )

    def test_with_owners_the_chart_makes_a_default_that_steps_back(self):
        crd = {"driver": {"nvidiaDriverCRD": {"enabled": True}}}

        assert told(refused_driver_objects, view(values=crd, objects=[driver()], tag="v26.7.0")) == []
        second = said(
            refused_driver_objects, view(values=crd, objects=[driver("mine", "", default=True)], tag="v26.7.0")
        )
        assert "2 NVIDIADriver objects are defaults (`default`, `mine`)" in second

    def test_an_object_of_the_charts_name(self):
        crd = {"driver": {"nvidiaDriverCRD": {"enabled": True}}}
        found = told(refused_driver_objects, view(values=crd, objects=[driver("default")]))

        assert "has the name of the object that the chart makes" in found[0][3]

    def test_an_empty_selector_selects_every_node(self):
        objects = [driver("a", "a"), driver("b", "", nodeSelector={})]

        assert "`a` and `b` both select node `n`" in said(
            refused_driver_objects, view(node(), values=OBJECTS, objects=objects)
        )

    def test_what_no_known_node_shows_is_a_warning(self):
        objects = [driver("a", "a"), driver("b", "", nodeSelector={"kubernetes.io/arch": "arm64"})]
        (found,) = told(refused_driver_objects, view(node(), values=OBJECTS, objects=objects))

        assert found[0] == "warning"
        assert f"{{kubernetes.io/arch: arm64, {ZONE}: a}}" in found[3]

    @pytest.mark.parametrize(
        ("tag", "effect"), [("v25.10.1", "installed on their nodes as well"), ("v26.3.3", "ignores")]
    )
    def test_objects_that_the_values_switch_off(self, tag, effect):
        assert effect in said(refused_driver_objects, view(objects=[driver()], tag=tag))

    def test_partial_values_that_do_not_say_it_switch_nothing_off(self):
        assert told(refused_driver_objects, view(objects=[driver()], partial=True)) == []

    def test_a_thousand_overlaps_are_told_in_part(self):
        found = told(refused_driver_objects, view(values=OBJECTS, objects=[driver(f"d{n}") for n in range(60)]))

        assert len(found) == MOST_OF_ONE_RULE + 1
        assert "more findings" in found[-1][3]


class TestDriverCoverage:
    def test_a_node_of_a_profile_is_an_error_another_one_a_warning(self):
        nodes = [node("a", zone="z", driver="container", is_pool=True), node("b", zone="z")]
        found = told(driver_coverage, view(*nodes, node("c"), values=OBJECTS, objects=[driver()]))

        assert [(severity, path) for severity, path, *_ in found] == [("error", "a"), ("warning", "b")]

    @pytest.mark.parametrize(
        "facts",
        [
            {"driver": "preinstalled"},
            {"labels": OPT_OUT},
            {"labels": {"nvidia.com/gpu.deploy.operands": "false"}},
            {"workload": "vm-passthrough"},
            {"os_id": "talos", "os_version": "v1.10.4"},
        ],
    )
    def test_who_takes_no_driver_needs_none(self, facts):
        nodes = [node("z", **({"zone": "z"} | facts)), node()]

        assert told(driver_coverage, view(*nodes, values=OBJECTS, objects=[driver()])) == []

    def test_a_workload_label_counts_while_sandboxes_are_on(self):
        guest = node("z", zone="z", labels={"nvidia.com/gpu.workload.config": "vm-passthrough"})
        sandboxes = OBJECTS | {"sandboxWorkloads": {"enabled": True}}

        assert len(told(driver_coverage, view(guest, node(), values=OBJECTS, objects=[driver()]))) == 1
        assert told(driver_coverage, view(guest, node(), values=sandboxes, objects=[driver()])) == []

    def test_a_default_serves_the_rest_and_may_serve_nobody(self):
        objects = [driver("rest", "", default=True), driver("a", "a")]

        assert (
            told(driver_coverage, view(node(), node("z", zone="z"), values=OBJECTS, objects=objects, tag="v26.7.0"))
            == []
        )
        assert told(driver_coverage, view(node(), values=OBJECTS, objects=objects, tag="v26.7.0")) == []

    def test_no_object_at_all(self):
        assert "no NVIDIADriver (there is none) selects node `n`" in said(driver_coverage, view(node(), values=OBJECTS))

    def test_an_object_without_nodes_says_which_is_nearest(self):
        (finding,) = run_setup_rules(
            [driver_coverage], view(node(), values=OBJECTS, objects=[driver(), driver("z", "z")])
        ).diagnostics

        assert finding.help == f"the nearest, node `n`, has `{ZONE}: a`, not `z`"


class TestDriverOfTheSystem:
    def test_a_preinstalled_driver_without_the_label(self):
        (found,) = told(driver_of_the_system, view(node(driver="preinstalled", is_pool=True)))

        assert found[:2] == ("error", "values")
        assert "the image of the pool contains a driver, and the ClusterPolicy installs another on pool `n`" in found[3]
        assert told(driver_of_the_system, view(node(driver="preinstalled", labels=OPT_OUT))) == []

    def test_a_system_that_carries_it_under_an_object(self):
        cos = node(os_id="cos", os_version="121")

        assert "NVIDIADriver `d` installs another" in said(
            driver_of_the_system, view(cos, values=OBJECTS, objects=[driver()])
        )

    def test_nobody_brings_a_driver(self):
        off = {"driver": {"enabled": False}}

        assert "no image of node `n` contains a driver" in said(
            driver_of_the_system, view(node(driver="container"), values=off)
        )
        assert told(driver_of_the_system, view(node(), values=off)) == []
        assert told(driver_of_the_system, view(node(driver="preinstalled"), values=off)) == []

    def test_a_label_that_keeps_off_what_the_profile_wants(self):
        assert "a label keeps the driver off node `n`" in said(
            driver_of_the_system, view(node(driver="container", labels=OPT_OUT))
        )

    def test_toolkits(self):
        off = {"toolkit": {"enabled": False}}
        opt_out = {"nvidia.com/gpu.deploy.container-toolkit": "false"}

        assert "their image contains a toolkit" in said(driver_of_the_system, view(node(toolkit="preinstalled")))
        assert told(driver_of_the_system, view(node(toolkit="preinstalled", labels=opt_out))) == []
        assert told(driver_of_the_system, view(node(toolkit="preinstalled"), values=off)) == []
        assert "no image of node `n` contains a toolkit" in said(
            driver_of_the_system, view(node(toolkit="operator"), values=off)
        )

    def test_guests_are_left_alone(self):
        assert told(driver_of_the_system, view(node(workload="vm-passthrough", toolkit="preinstalled"))) == []


class TestLabelOfNobody:
    def test_a_node_has_it(self):
        assert told(label_of_nobody, view(node(labels={"example.com/pool": "b"}), values=OBJECTS, objects=OWN)) == []

    def test_nobody_has_it(self):
        (found,) = told(label_of_nobody, view(node(), values=OBJECTS, objects=OWN))

        assert found[:3] == ("warning", "a", "/spec/nodeSelector/example.com~1pool")
        assert "and no node has it" in found[3]

    @pytest.mark.parametrize(
        "spec",
        [
            {"rules": [{"name": "r", "labels": {"example.com/pool": "a"}}]},
            {"template": {"metadata": {"labels": {"example.com/pool": "a"}}}},
            {"nodeGroups": [{"labels": {"example.com/pool": "a"}}]},
            {"kubeletExtraArgs": {"node-labels": "x=y,example.com/pool=a"}},
            {"machine": {"nodeLabels": {"example.com/pool": "a"}}},
        ],
    )
    def test_something_in_the_files_writes_it(self, spec):
        objects = [*OWN, thing("example.com/v1", "Template", "t", spec=spec)]

        assert told(label_of_nobody, view(values=OBJECTS, objects=objects)) == []

    def test_pods_with_the_label_write_none(self):
        spec = {"template": {"metadata": {"labels": {"example.com/pool": "a"}}}}
        objects = [*OWN, thing("apps/v1", "Deployment", "t", spec=spec)]

        assert len(told(label_of_nobody, view(values=OBJECTS, objects=objects))) == 1

    @pytest.mark.parametrize(
        ("key", "known"),
        [
            ("kubernetes.io/arch", True),
            ("node-role.kubernetes.io/gpu", True),
            ("cloud.google.com/gke-nodepool", True),
            ("eks.amazonaws.com/nodegroup", True),
            ("nvidia.com/gpu.product", True),
            ("agentpool", True),
            ("notkubernetes.io/arch", False),
            ("pool", False),
        ],
    )
    def test_well_known_writers(self, key, known):
        objects = [driver("a", "", nodeSelector={key: "a"})]

        assert bool(told(label_of_nobody, view(values=OBJECTS, objects=objects))) is not known


class TestNoDriverImage:
    def test_listed_and_own_images_pass(self):
        precompiled = node(kernel="5.15.0-105-generic")
        own = driver(repository="registry.example.com/gpu")

        assert (
            told(
                no_driver_image, view(precompiled, values=OBJECTS, objects=[driver(usePrecompiled=True, version="580")])
            )
            == []
        )
        assert told(no_driver_image, view(node(os_id="debian", os_version="12"), values=OBJECTS, objects=[own])) == []

    @pytest.mark.parametrize(
        ("spec", "what"),
        [
            ({"usePrecompiled": True}, "whose version is a branch; `580.126.20` is a full version"),
            ({"usePrecompiled": True, "version": "sha256:" + "a" * 64}, "is a digest"),
            ({"version": "580"}, "whose version is a full one; `580` is a branch"),
            ({"repository": ""}, "without `repository`"),
            ({"repository": "", "image": ""}, "has `version` without `repository`"),
        ],
    )
    def test_forms_of_an_object(self, spec, what):
        assert what in said(no_driver_image, view(values=OBJECTS, objects=[driver(**spec)]))

    @pytest.mark.parametrize(
        ("facts", "severity", "what"),
        [
            ({"os_id": "amzn", "os_version": "2023"}, "error", "nobody is known to publish driver containers for amzn"),
            (
                {"os_id": "gentoo", "os_version": "2"},
                "warning",
                "nobody is known to publish driver containers for gentoo",
            ),
            ({"os_id": "debian", "os_version": "12"}, "warning", "for debian 12 is unknown"),
            ({"os_version": "26.04"}, "warning", "no driver container 580.126.20 is built for ubuntu26.04"),
            ({"os_id": "rhel", "os_version": "stream"}, "error", "stops at nodes of version `stream`"),
        ],
    )
    def test_systems(self, facts, severity, what):
        (found,) = told(no_driver_image, view(node(**facts), values=OBJECTS, objects=[driver()]))

        assert (found[0], what in found[3]) == (severity, True)

    def test_alike_nodes_are_told_once_and_nodes_without_a_system_not_at_all(self):
        nodes = [node(f"n{index}", os_id="debian", os_version="12") for index in range(50)]
        bare = node("bare", os_id="", os_version="")

        assert "`n0`, `n1`, `n2` and 47 more" in said(
            no_driver_image, view(*nodes, bare, values=OBJECTS, objects=[driver()])
        )

    def test_a_system_that_a_profile_declares_is_nobodys_business(self):
        own = node(os_id="gentoo", os_version="2", image_tag="gentoo2")

        assert told(no_driver_image, view(own, values=OBJECTS, objects=[driver()])) == []

    def test_the_policy_of_partial_values_is_not_judged(self):
        assert told(no_driver_image, view(node(os_id="debian", os_version="12"), partial=True)) == []


class TestHostDriverFolder:
    @pytest.mark.parametrize(
        ("facts", "folder", "severities"),
        [
            ({"os_id": "cos", "os_version": "121"}, "/home/kubernetes/bin/nvidia", []),
            ({"os_id": "cos", "os_version": "121"}, "/home/kubernetes/bin/nvidia/", []),
            ({"os_id": "cos", "os_version": "121"}, "/run/nvidia/driver", ["error"]),
            ({"os_id": "talos", "os_version": "v1.10.4"}, "/run/nvidia/driver", ["warning"]),
            ({"os_id": "talos", "os_version": "v1.10.4"}, "/usr/local/glibc", []),
            ({"os_id": "talos", "os_version": "v1.13.0"}, "/usr/local", []),
            ({"os_id": "talos", "os_version": "v1.14.1"}, "/usr/local/glibc", ["error"]),
            ({"driver": "preinstalled", "install_dir": "/opt/nvidia"}, "/run/nvidia/driver", ["error"]),
            ({"driver": "preinstalled"}, "/run/nvidia/driver", []),
            ({"driver": "container"}, "/opt/nvidia", []),
        ],
    )
    def test_folders(self, facts, folder, severities):
        values = {"hostPaths": {"driverInstallDir": folder}}

        assert [item[0] for item in told(host_driver_folder, view(node(**facts), values=values))] == severities


class TestRdmaWithoutAdapter:
    @pytest.mark.parametrize(
        ("facts", "severities"),
        [
            ({"nic": "none"}, ["error"]),
            ({"nic": "mellanox"}, []),
            ({"labels": {"feature.node.kubernetes.io/pci-10de.present": "true"}}, ["warning"]),
            ({"labels": {"feature.node.kubernetes.io/pci-15b3.present": "true"}}, []),
            ({}, []),
            ({"nic": "none", "labels": OPT_OUT}, []),
        ],
    )
    def test_nodes(self, facts, severities):
        assert [item[0] for item in told(rdma_without_adapter, view(node(**facts), values=RDMA))] == severities

    def test_an_object_for_the_nodes_with_adapters_only(self):
        nodes = [node("a", nic="mellanox"), node("b", zone="b", nic="none")]
        objects = [driver("a", rdma={"enabled": True}), driver("b", "b")]

        assert told(rdma_without_adapter, view(*nodes, values=OBJECTS, objects=objects)) == []

    def test_network_drivers_from_two_sides(self):
        values = {"driver": {"rdma": {"enabled": True, "useHostMofed": True}}}
        network = thing("mellanox.com/v1alpha1", "NicClusterPolicy", "net", spec={"ofedDriver": {"version": "1"}})

        assert "installs one in a container" in said(
            rdma_without_adapter, view(node(nic="mellanox"), values=values, objects=[network])
        )


class TestDriverAndGpu:
    @pytest.mark.parametrize(
        ("facts", "tag", "values", "what"),
        [
            (V100, "v26.7.0", {}, "driver 595.91.07 of the ClusterPolicy no longer supports V100"),
            (V100, "v26.3.3", {"kernelModuleType": "open"}, "has no open kernel modules"),
            (B200, "v26.3.3", {"kernelModuleType": "proprietary"}, "needs the open kernel modules"),
            (B200, "v24.9.2", {"version": "570.133.20"}, "needs the open kernel modules"),
            (B200, "v26.3.3", {"version": "570.124.06"}, "does not know B200"),
        ],
    )
    def test_what_does_not_work(self, facts, tag, values, what):
        assert what in said(driver_and_gpu, view(node(**facts), tag=tag, values={"driver": values}))

    @pytest.mark.parametrize(
        ("facts", "tag", "values"),
        [
            (V100, "v26.3.3", {}),
            (B200, "v26.3.3", {}),
            (B200, "v24.9.2", {"version": "570.133.20", "useOpenKernelModules": True}),
            ({"gpu": "something new"}, "v26.7.0", {"kernelModuleType": "proprietary"}),
        ],
    )
    def test_what_works_or_is_unknown(self, facts, tag, values):
        assert told(driver_and_gpu, view(node(**facts), tag=tag, values={"driver": values})) == []


class TestSeveralClusterPolicies:
    def test_the_chart_makes_one_unless_the_values_say_no(self):
        policy = thing("nvidia.com/v1", "ClusterPolicy", "mine", spec={})

        assert "and the chart creates a ClusterPolicy" in said(several_cluster_policies, view(objects=[policy]))
        none = {"clusterPolicy": {"deployCR": False}}
        assert told(several_cluster_policies, view(objects=[policy], values=none, tag="v26.7.0")) == []

    def test_two_in_files(self):
        policies = [thing("nvidia.com/v1", "ClusterPolicy", name, spec={}) for name in ("a", "b")]
        seen = SetupView(catalog=CATALOG, objects=tuple(policies))

        assert "2 ClusterPolicy objects (`a`, `b`)" in said(several_cluster_policies, seen)
        assert told(several_cluster_policies, SetupView(catalog=CATALOG, objects=tuple(policies[:1]))) == []


class TestGuests:
    """The tag of a vGPU guest driver's image is the user's, and says nothing of the driver in it."""

    def test_an_object_for_guests(self):
        objects = [driver("a", driverType="vgpu", repository="registry.example.com/vgpu", version="550.90.07-grid")]

        assert told(driver_and_gpu, view(node(**B200), values=OBJECTS, objects=objects)) == []

    def test_guests_under_the_cluster_policy(self):
        values = {"driver": {"version": "550.90.07-grid", "licensingConfig": {"secretName": "licence"}}}

        assert told(driver_and_gpu, view(node(**B200), values=values)) == []

    def test_the_same_version_on_bare_metal(self):
        assert (
            "does not know B200"
            in told(driver_and_gpu, view(node(**B200), values=OBJECTS, objects=[driver("a", version="550.90.07")]))[0][
                3
            ]
        )


class TestTheChartsObject:
    def test_beside_objects_that_select_no_known_node_it_is_a_warning(self):
        values = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": True}}}
        shared = told(refused_driver_objects, view(node(), values=values, objects=[driver("a", "a")]))
        apart = told(refused_driver_objects, view(node(), values=values, objects=[driver("a", "b")]))

        assert [item[0] for item in shared] == ["error"]
        assert [item[0] for item in apart] == ["warning"]
