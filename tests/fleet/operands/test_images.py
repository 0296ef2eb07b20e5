"""Which images an installation pulls, and where."""

from __future__ import annotations

from poolsmith.fleet.operands.expansion import Installation, Made, Maker
from poolsmith.fleet.operands.pulled_images import image_uses


def made(kind, name, image, maker, **variables):
    env = [{"name": key, "value": value} for key, value in variables.items()]
    pod = {"containers": [{"name": "main", "image": image, "env": env}]}
    metadata = {"name": name, "namespace": "ns"}
    return Made({"kind": kind, "metadata": metadata, "spec": {"template": {"spec": pod}}}, maker, "")


INSTALLATION = Installation(
    release="v26.3.3",
    made=(
        made("DaemonSet", "validator", "operator:1", Maker.OPERATOR, VALIDATOR_IMAGE="validator:1"),
        made("Deployment", "operator", "operator:1", Maker.CHART, DRIVER_MANAGER_IMAGE="manager:1"),
        made("DaemonSet", "quiet", "quiet:1", Maker.POOLSMITH),
    ),
)
LANDING = {"ns/DaemonSet/validator": ("a", "b"), "ns/Deployment/operator": ("*",), "ns/DaemonSet/quiet": ("b",)}


def test_an_image_names_its_workloads_pools_and_their_systems():
    uses = image_uses(INSTALLATION, LANDING, {"a": "ubuntu 22.04", "b": "rhel 9.6"})
    operator = next(use for use in uses if use.image == "operator:1")

    assert operator.workloads == ("ns/DaemonSet/validator", "ns/Deployment/operator")
    assert operator.pools == ("*", "a", "b")
    assert operator.systems == ("rhel 9.6", "ubuntu 22.04")


def test_a_variable_names_an_image_of_pods_that_an_operand_starts_but_not_of_what_the_operator_creates():
    assert [use.image for use in image_uses(INSTALLATION, LANDING, {})] == ["operator:1", "quiet:1", "validator:1"]


def test_an_object_of_somebody_elses_kind_names_its_images_by_their_keys():
    runtime = {
        "kind": "CcRuntime",
        "metadata": {"name": "runtime", "namespace": "ns"},
        "spec": {"config": {"payloadImage": "quay.io/x/payload:1", "image": "plain"}, "steps": [{"image": "a/b:2"}]},
    }
    installation = Installation(release="v24.9.2", made=(Made(runtime, Maker.POOLSMITH, ""),))
    others = [("nvcr.io/smoke:1", "default/Job/smoke", ("a",))]

    uses = image_uses(installation, {}, {"a": "ubuntu 22.04"}, others)
    assert [(use.image, use.pools) for use in uses] == [
        ("a/b:2", ()),
        ("nvcr.io/smoke:1", ("a",)),
        ("quay.io/x/payload:1", ()),
    ]
