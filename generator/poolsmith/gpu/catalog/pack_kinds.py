"""Kinds CatalogPack and CatalogLock: the manifest of a pack of facts, and which packs a project takes."""

from __future__ import annotations

from poolsmith.core.record import record
from poolsmith.core.shape.field import TEXT, spec

PACK, LOCK = "CatalogPack", "CatalogLock"
RELEASE = r"v[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}"
SHA256 = r"sha256:[0-9a-f]{64}"
VERSION = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"
_FILE = rf"[a-z_]+(/[a-z-]+)?/{RELEASE}\.json|tables/[a-z-]+\.json|(stack_)?charts/[a-z-]+/{VERSION}\.json"
_SUM = "sha256:" + "0" * 64


@record
class PackedFile:
    """One file of a pack."""

    path: str = spec(
        "Path in the pack: the folder of its facts, and the release; of a table, its name; of a chart, its version.",
        pattern=_FILE,
        form="a path like operands/v26.7.1.json",
        examples=("operands/v26.7.1.json",),
    )
    sha256: str = spec(
        "Hash of its bytes.", pattern=SHA256, form="`sha256:` and 64 hexadecimal digits", examples=(_SUM,)
    )


@record
class CatalogPackSpec:
    """What a pack holds."""

    version: str = spec(
        "Version of the pack, chosen by whoever makes it.",
        pattern=VERSION,
        form="a version like 1 or 2026-11",
        examples=("2026-11",),
    )
    source: str = spec("What its facts were read from.", pattern=TEXT, examples=("chart gpu-operator v26.7.1",))
    releases: tuple[str, ...] = spec(
        "The releases of the gpu-operator that it brings; none for a pack of tables.",
        pattern=RELEASE,
        form="a tag like v26.7.1",
        examples=(["v26.7.1"],),
        unique=True,
    )
    files: tuple[PackedFile, ...] = spec("All its files but the manifest.")


@record
class PinnedPack:
    """One pack that the project takes."""

    name: str = spec("Name of the pack, and of its folder.", examples=("gpu-operator-v26-7-1",))
    version: str = spec("Its version.", pattern=VERSION, form="a version like 1 or 2026-11", examples=("2026-11",))
    sha256: str = spec(
        "Hash of its manifest, which has those of its files.",
        pattern=SHA256,
        form="`sha256:` and 64 hexadecimal digits",
        examples=(_SUM,),
    )


@record
class CatalogLockSpec:
    """The packs that a project takes; no other one, and none of them with other bytes."""

    packs: tuple[PinnedPack, ...] = spec("Packs, by name.")
