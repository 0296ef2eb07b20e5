"""What the catalog knows of a field: for editors and suggestions, never as a closed list, for packs add to it."""

from __future__ import annotations


def releases() -> tuple[str, ...]:
    """Those that output is generated for, the newest last."""
    from poolsmith.gpu.catalog import Catalog  # on demand

    known = Catalog().releases
    return tuple(tag for tag in known.by_tag if known.is_supported(tag))


def distributions() -> tuple[str, ...]:
    from poolsmith.gpu.catalog import Catalog  # on demand

    return tuple(item.name for item in Catalog().distributions.values() if item.refused is None)


def runtimes() -> tuple[str, ...]:
    from poolsmith.gpu.catalog import Catalog  # on demand

    return tuple(Catalog().runtimes.by_name)


def systems() -> tuple[str, ...]:
    from poolsmith.gpu.catalog import Catalog  # on demand

    return tuple(Catalog().operating_systems)


def system_versions() -> tuple[str, ...]:
    """Of all systems."""
    from poolsmith.gpu.catalog import Catalog  # on demand

    known = (version for entry in Catalog().operating_systems.values() for version in entry.known_versions())
    return tuple(dict.fromkeys(known))


def products() -> tuple[str, ...]:
    """As the label nvidia.com/gpu.product has them where that is known, and as the catalog calls them."""
    from poolsmith.gpu.catalog import Catalog  # on demand

    return tuple(name for name in Catalog().gpus.names() if all(char not in "[]" for char in name))


def architectures() -> tuple[str, ...]:
    from poolsmith.gpu.catalog import Catalog  # on demand

    return tuple(Catalog().gpus.architectures)
