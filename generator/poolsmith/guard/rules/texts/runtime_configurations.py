"""Configurations of containerd and of NVIDIA's runtime, and CDI specifications, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo(
    code="PSM339",
    name="runtime-text",
    applies_to="manifest",
    what="A configuration of containerd is no TOML, has with `version = 3` settings of the plugin that containerd 1 "
    "had, a type of runtime that containerd 2 took away, or a default runtime with a letter wrong; one of NVIDIA's "
    "container runtime has a mode that it does not know; or one of containerd is written to the file that k3s and RKE2 "
    "write themselves; or a CDI specification has what makes the runtime refuse it: "
    "an unknown field, a field that is newer than its version, no devices.",
    why="containerd passes over what it does not know, with a warning in its log: the runtime `nvidia` is missing, and "
    'pods fail with `no runtime for "nvidia" is configured`. A CDI specification that is refused has no devices.',
    fix="write it as the version that reads it does",
    bad='content: |\n  version = 3\n  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\n'
    '    runtime_type = "io.containerd.runc.v2"\n',
    good='content: |\n  version = 3\n  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia]\n'
    '    runtime_type = "io.containerd.runc.v2"\n',
    symptom='`no runtime for "nvidia" is configured`; `unresolvable CDI devices`',
    references=(
        "containerd/containerd:docs/containerd-2.0.md, cmd/containerd/server/config/config.go",
        "NVIDIA/nvidia-container-toolkit:internal/modifier/mode.go",
        "docs.k3s.io/advanced, Configuring containerd; k3s-io/k3s issue 4391",
        "cncf-tags/container-device-interface:specs-go, pkg/cdi",
    ),
)
_OF_K3S = pattern(r"rancher/(k3s|rke2)/agent/etc/containerd/config\.toml$")
_VERSION_3 = pattern(r"(?m)^ *version *= *3")
_IN_TOML = {Shape.CONTAINERD: "containerd", Shape.TOOLKIT: "toolkit"}


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    for item in texts:
        if item.shape in _IN_TOML or item.shape is Shape.CDI:
            from poolsmith.gpu.values.runtime_texts import cdi_mistakes, toml_mistakes  # on demand

            is_toml = item.shape in _IN_TOML
            yield from _written_over(item)
            yield from item.told(
                toml_mistakes(_IN_TOML[item.shape], item.text or "") if is_toml else cdi_mistakes(item.data)
            )


def _written_over(item: StackText) -> Iterator[Finding[Location]]:
    target, pointer = item.written_to if item.written_to[0] else (item.source.path, item.pointer)
    found = _OF_K3S.search(target)
    if found is not None and item.shape is Shape.CONTAINERD:
        name = "config-v3.toml.tmpl" if _VERSION_3.search(item.text or "") else "config.toml.tmpl"
        yield Finding(
            message=f"{found[1]} writes {shorten(target)} itself at each start: this is gone then",
            place=item.source.locate(pointer),
            help=f"write it as {name}, or leave it out: {found[1]} finds NVIDIA's runtime by itself",
            subject=item.subject,
        )
