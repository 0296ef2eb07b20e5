"""The grammar of privileges: what is one, how it is written, and what is said of text that is none."""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.privilege import PRIVILEGE_NAMES, Privilege, PrivilegeError, normal_path, privilege, rbac

CANONICAL = [
    "privileged",
    "allow-escalation",
    "run-as-root",
    "host-pid",
    "host-ipc",
    "host-network",
    "host-port:9400",
    "capability:SYS_ADMIN",
    "host-path:/:ro:host-to-container",
    "host-path:/run/nvidia:rw:bidirectional",
    "host-path:/dev/disk/by-path/pci-0000%3A00:ro:none",
    "host-path:/100%25:ro:none",
    "seccomp:unconfined",
    "apparmor:unconfined",
    "selinux:spc_t",
    "proc-mount:unmasked",
    "sysctl:net.ipv4.ip_forward",
    "annotation:io.kubernetes.cri-o.Devices",
    "volume:nfs",
    "rbac:core/pods:get@cluster",
    "rbac:core/pods/exec:create@ns/gpu-operator",
    "rbac:apps/daemonsets:*@cluster",
    "rbac:*/*:*@ns/default",
    "rbac:*/status:patch@cluster",
    "rbac:security.openshift.io/securitycontextconstraints:use@ns/gpu-operator#privileged",
    "rbac:core/configmaps:get@cluster#a%3Ab@c#d/e",
    "rbac:nonResourceURLs/metrics:get@cluster",
    "rbac:nonResourceURLs/*:get@cluster",
    "rbac:nonResourceURLs/:get@cluster",
    "rbac:a%2Fb/c/d:e%40f#g@ns/h%23i#j",
]


@pytest.mark.parametrize("text", CANONICAL)
def test_a_canonical_text_is_read_and_written_unchanged(text):
    assert str(Privilege.parse(text)) == text


def test_each_name_has_an_example_here():
    assert {text.partition(":")[0] for text in CANONICAL} == set(PRIVILEGE_NAMES)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("host-path:/run/nvidia/:rw:none", "host-path:/run/nvidia:rw:none"),
        ("host-path://run///nvidia/.:rw:none", "host-path:/run/nvidia:rw:none"),
        ("host-path:/a/../b:ro:none", "host-path:/b:ro:none"),
        ("host-path:/..:rw:none", "host-path:/:rw:none"),
        ("host-path:/a/b/../../..:rw:none", "host-path:/:rw:none"),
        ("host-path:/a%3a:ro:none", "host-path:/a%3A:ro:none"),
        ("host-port:0443", "host-port:443"),
        ("capability:sys_admin", "capability:SYS_ADMIN"),
        ("capability:CAP_SYS_ADMIN", "capability:SYS_ADMIN"),
        ("capability:CAP_cap_SYS_ADMIN", "capability:SYS_ADMIN"),
        ("sysctl:net/ipv4/conf/eno2.100/rp_filter", "sysctl:net.ipv4.conf.eno2/100.rp_filter"),
        ("rbac:nonResourceURLs/metrics**:get@cluster", "rbac:nonResourceURLs/metrics*:get@cluster"),
        ("rbac:core/pods%2Fexec:get@cluster", "rbac:core/pods/exec:get@cluster"),
    ],
)
def test_other_ways_to_write_a_privilege_come_to_the_one_way(text, canonical):
    assert str(Privilege.parse(text)) == canonical
    assert Privilege.parse(text) == Privilege.parse(canonical)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no privilege"),
        ("Privileged", "did you mean `privileged`?"),
        ("hostPID", "did you mean `host-pid`?"),
        ("host-paths:/a:ro:none", "did you mean `host-path`?"),
        ("privileged:true", "the form is `privileged`"),
        ("privileged:", "the form is `privileged`"),
        ("host-path:/run", "the form is `host-path:<path>"),
        ("host-path:/run:rw:none:x", "arguments given: 4"),
        ("host-path::rw:none", "is no absolute path"),
        ("host-path:run:rw:none", "`run` is no absolute path"),
        ("host-path:/run:RW:none", "`RW` is not `ro` or `rw`"),
        ("host-path:/run:rw:", "is not `none` or `host-to-container` or `bidirectional`"),
        ("host-path:/a%2Fb:ro:none", "`%2F` is no escape; known: `%3A`, `%25`"),
        ("host-path:/100%:ro:none", "`%` is no escape"),
        ("host-port:0", "no port from 1 to 65535"),
        ("host-port:65536", "no port from 1 to 65535"),
        ("host-port:-1", "no port"),
        ("host-port:١", "no port"),
        ("host-port:" + "9" * 10_000, "no port"),
        ("capability:", "an argument is empty"),
        ("capability:CAP_", "an argument is empty"),
        ("seccomp:RuntimeDefault", "`RuntimeDefault` is not `unconfined`"),
        ("proc-mount:Unmasked", "`Unmasked` is not `unmasked`"),
        ("sysctl:", "an argument is empty"),
        ("rbac", "the form is `rbac:"),
        ("rbac:core/pods", "the form is `rbac:"),
        ("rbac:pods:get@cluster", "the form is `rbac:"),
        ("rbac:core/pods:get", "the form is `rbac:"),
        ("rbac:/pods:get@cluster", "an argument is empty"),
        ("rbac:core/:get@cluster", "an argument is empty"),
        ("rbac:core/pods:@cluster", "an argument is empty"),
        ("rbac:core/pods:get@", "`` is neither `cluster` nor `ns/<namespace>`"),
        ("rbac:core/pods:get@ns/", "lacks the name of the namespace"),
        ("rbac:core/pods:get@namespace/x", "`namespace/x` is neither"),
        ("rbac:core/pods:get@cluster#", "the form is `rbac:"),
        ("rbac:core/pods:get:x@cluster", "the form is `rbac:"),
    ],
)
def test_text_that_is_no_privilege_is_refused_with_what_is_wrong(text, said):
    with pytest.raises(PrivilegeError) as refused:
        Privilege.parse(text)

    assert said in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_privilege_cannot_be_made_in_any_other_form():
    assert Privilege("host-path", ("/a//b/", "ro", "none")) == Privilege.parse("host-path:/a/b:ro:none")
    with pytest.raises(PrivilegeError):
        Privilege("host-path", ("a", "ro", "none"))


def test_the_core_group_is_the_empty_one():
    assert str(rbac("", "pods", "get", "a")) == "rbac:core/pods:get@ns/a"


def test_equal_privileges_are_one_object():
    assert privilege("host-path", "/a", "ro", "none") is privilege("host-path", "/a", "ro", "none")


def test_the_order_is_by_name_then_by_argument_so_that_a_folder_comes_before_what_lies_in_it():
    texts = ["host-path:/a/b:ro:none", "host-path:/a-b:ro:none", "host-pid", "host-path:/a:rw:none", "capability:X"]

    assert [str(item) for item in sorted(map(Privilege.parse, texts))] == [
        "capability:X",
        "host-path:/a:rw:none",
        "host-path:/a-b:ro:none",
        "host-path:/a/b:ro:none",
        "host-pid",
    ]


@pytest.mark.parametrize("path", ["", "/", "//", ".", "..", "/..", "../..", "a/../..", "/./"])
def test_each_way_to_the_root_is_the_root(path):
    assert normal_path(path) == "/"
