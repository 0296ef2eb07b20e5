"""The words of the GPU stack, as a search over bytes finds them: where none of them is, nothing of the stack is.

Nothing is imported here but `re`: what is decided on bytes is decided before anything else is read.
"""

from __future__ import annotations

import re

from poolsmith.core.pattern import bytes_pattern

_WORDS = bytes_pattern(
    rb"nvidia|gpu[-_]operator|gpu-feature-discovery|node-feature-discovery|nfd[-_]|nfd\.|dcgm|mellanox|mig[-.]parted"
    rb"|device-plugin|kata-deploy|kata-qemu|confidential-?containers|network-operator|feature\.node\.kubernetes\.io",
    re.IGNORECASE,
)
_ABOUT_GPUS = bytes_pattern(
    rb"nvidia|gpu|node-?feature|dcgm|kata|cuda|(?m:^(?:driver|toolkit|operator|mig|cdi|validator|nfd):)",
    re.IGNORECASE,
)
"""What texts have in them that may be of the stack. The last are keys of values, which do not say what they are for."""
_SURE = (
    b"nvidia",
    b"gpu",
    b"nfd",
    b"nvcr.io",
    b"node-feature",
    b"feature.node",
    b"dcgm",
    b"mellanox",
    b"confidential",
    b"device-plugin",
    b"network-operator",
    b"sriovnetwork",
    b"time-slicing",
)
"""A text that has one of these may be of the stack, in whichever word it stands."""
_SHORT = (b"mig", b"kata", b"coco")
"""Those that other words begin with, or hold: they count where no letter and no digit stands beside them."""
_ENDED = {word: bytes_pattern(word + rb"(?![a-z0-9])") for word in _SHORT}
_COMPOUND = (b"mig-parted", b"mig.parted", b"kata-deploy", b"kata-qemu")
_ESCAPE = bytes_pattern(rb"\\(?:x[2-7][0-9a-f]|u00[2-7][0-9a-f]|u000000[2-7][0-9a-f])", re.IGNORECASE)
_JOINED = bytes_pattern(rb"\\\r?\n[ \t]*\\?")
"""A line of a quoted scalar that goes on in the next one without a space between them."""
_KEYS = (
    rb"toolkit|devicePlugin|dcgmExporter|gfd|migManager|nodeStatusExporter|vgpuManager|vgpuDeviceManager|vfioManager"
    rb"|sandboxDevicePlugin|sandboxWorkloads|kataManager|kataSandboxDevicePlugin|ccManager|gdrcopy|gds|dcgm|mig|cdi|nfd"
    rb"|node-feature-discovery|daemonsets|validator|driver|operator"
)
OWN_KEYS = frozenset(
    (
        "migManager",
        "nodeStatusExporter",
        "vgpuManager",
        "vgpuDeviceManager",
        "vfioManager",
        "sandboxDevicePlugin",
        "sandboxWorkloads",
        "kataManager",
        "kataSandboxDevicePlugin",
        "ccManager",
    )
)
"""Those that no other chart is known to have: one of them is enough."""
NEIGHBOUR_KEYS = {
    "node-feature-discovery": (
        "topologyUpdater",
        "topologyGC",
        "nodeFeatureRule",
        "enableNodeFeatureApi",
        "worker.mountUsrSrc",
        "worker.config.core",
        "worker.config.sources",
        "master.extraLabelNs",
        "master.denyLabelNs",
        "master.resourceLabels",
        "master.enableTaints",
        "master.crdController",
        "master.featureRulesController",
        "master.nfdApiParallelism",
    ),
    "nvidia-device-plugin": (
        "deviceListStrategy",
        "deviceIDStrategy",
        "deviceDiscoveryStrategy",
        "compatWithCPUManager",
        "legacyDaemonsetAPI",
        "nvidiaDevRoot",
    ),
    "dcgm-exporter": ("mapPodsMetrics", "kubernetesDRA"),
    "nvidia-dra-driver-gpu": (
        "gpuResourcesEnabledOverride",
        "maskNvidiaDriverParams",
        "nvidiaCtkPath",
        "nvidiaCDIHookPath",
        "resources.computeDomains",
    ),
    "network-operator": (
        "docaTelemetryService",
        "ibKubernetes",
        "nicConfigurationOperator",
        "nicFeatureDiscovery",
        "nvPeerDriver",
        "ofedDriver",
        "rdmaSharedDevicePlugin",
        "sriovNetworkOperator",
    ),
    "kata-deploy": ("k8sDistribution", "shims.disableAll"),
}
"""By the chart beside the operator's: paths of its values that no other chart is known to have; one is enough."""
_OWN_BESIDE = frozenset(path.rpartition(".")[2] for paths in NEIGHBOUR_KEYS.values() for path in paths)
_BESIDE = bytes_pattern(
    rb"(?:^|[{,])[ \t]*[\"']?(?P<key>" + "|".join(sorted(_OWN_BESIDE)).encode() + rb")[\"']?[ \t\r\n]*:", re.MULTILINE
)
_TELLING = bytes_pattern(rb"(?:^|[{,])[ \t]*[\"']?(?P<key>" + _KEYS + rb")[\"']?[ \t\r\n]*:", re.MULTILINE)
_ENOUGH = 2


def mentions(content: bytes) -> bool:
    """Whether the words of the stack are in a file: where they are not, nothing of it is."""
    return _WORDS.search(content) is not None


def is_about_gpus(content: bytes) -> bool:
    """Whether a file that a hook names, by its bytes or its name, may have to do with GPUs at all."""
    return _ABOUT_GPUS.search(content) is not None


def telling_keys() -> frozenset[str]:
    """Keys of the operator's values that few other charts have."""
    return frozenset(_KEYS.decode().split("|"))


def may_be_of_stack(content: bytes) -> bool:
    """Whether any object or any values in a text may be of the stack: a superset of what is one, however it is written.

    Only what several texts make together is not seen: a name of which each half stands in another file.
    """
    text = content.lower()
    if _has_word(text):
        return True
    if b"\\" in text and (_ESCAPE.search(text) or ((joined := _JOINED.sub(b"", text)) != text and _has_word(joined))):
        return True
    return _may_hold_values(content) and _has_telling_keys(content)


def _has_word(text: bytes) -> bool:
    return any(word in text for word in _SURE) or any(_stands_alone(word, text) for word in _SHORT)


def _stands_alone(word: bytes, text: bytes) -> bool:
    if word not in text:
        return False
    if any(compound in text for compound in _COMPOUND if compound.startswith(word)):
        return True
    return any(not text[max(found.start() - 1, 0) : found.start()].isalnum() for found in _ENDED[word].finditer(text))


def _may_hold_values(content: bytes) -> bool:
    """Whether a document of it may lack `apiVersion`, so that it is no object."""
    objects = content.count(b"\napiVersion:") + content.startswith(b"apiVersion:")
    return objects < content.count(b"\n---") + 1


def _has_telling_keys(content: bytes) -> bool:
    """Two of them, or one that no other chart has, as for values that nobody names."""
    found: set[bytes] = set()
    for match in _TELLING.finditer(content):
        found.add(match["key"])
        if len(found) >= _ENOUGH or match["key"].decode() in OWN_KEYS:
            return True
    return _BESIDE.search(content) is not None
