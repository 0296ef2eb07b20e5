"""One cluster's profiles, typed, with all their mistakes.

Secrets in addresses are among the mistakes: more people can read a repository than may know them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.masking import secret_in_address
from poolsmith.core.record import record
from poolsmith.core.shape.documents import kind_in, read_envelope, read_spec, required_spec
from poolsmith.core.shape.layers import Layers
from poolsmith.core.shape.reader import alternatives_of
from poolsmith.core.sources.pointer import join
from poolsmith.fleet.profiles.bases import profile_sink
from poolsmith.fleet.profiles.cluster import Cluster, ClusterSpec
from poolsmith.fleet.profiles.node_pool import NodePool, PoolSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.shape.documents import FileSink
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.profiles.bases import Bases
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.fleet.profiles.rings_and_teams import Rings


_ADVICE = "write the address alone; what proves who asks belongs into a Secret of the cluster or of the delivery engine"


def report_address_secrets(file: SourceFile, sink: FileSink) -> None:
    """Each text of a profile that is, or holds, an address with such a part."""
    for pointer, part in _found("", file.data):
        message = f"the address holds {part}; it is not repeated here"
        sink.report(codes.SECRET_IN_ADDRESS, pointer, message, _ADVICE)


def _found(pointer: str, node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        if (part := secret_in_address(node)) is not None:
            yield pointer, part
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(key, str):
                yield from _found(join(pointer, key), value)
    elif isinstance(node, list):
        for index, item in enumerate(node):
            yield from _found(join(pointer, index), item)


@record
class LoadedPool:
    """A pool and the files that it came from."""

    pool: NodePool
    layers: Layers


@record
class LoadedCluster:
    """A cluster's profiles. `cluster` is None, or pools are missing, only when `problems` has errors.

    `inputs` are the digests of every profile file that was read for this cluster, by path.
    """

    name: str
    cluster: Cluster | None
    file: SourceFile | None
    pools: tuple[LoadedPool, ...]
    problems: tuple[Diagnostic, ...]
    inputs: dict[str, str]
    used_bases: frozenset[str] = frozenset()

    @property
    def files(self) -> dict[str, SourceFile]:
        """Every file that the profiles stand in, bases included, by path."""
        of_pools = (file for pool in self.pools for file in pool.layers.files)
        return {file.path: file for file in (*of_pools, *([self.file] if self.file is not None else ()))}


def load_cluster(tree: InputTree, files: ClusterFiles, bases: Bases, rings: Rings | None = None) -> LoadedCluster:
    """Read and check a cluster's profiles. A mistake in one file does not hide those in another."""
    problems = list(files.problems)
    inputs: dict[str, str] = {}
    file, cluster = _load_cluster_file(tree, files, problems, inputs)
    if file is not None and cluster is not None and cluster.spec.ring is not None:
        cluster = _in_ring(file, cluster, rings, problems, inputs)
    pools: list[LoadedPool] = []
    names: dict[str, SourceFile] = {}
    used: set[str] = set()
    for path in files.pools:
        pool_file = tree.read_profile(path)
        if isinstance(pool_file, Diagnostic):
            problems.append(pool_file)
            continue
        problems.extend(pool_file.problems)
        layers, loaded = _load_pool(pool_file, files.name, bases, names, problems)
        for layer in layers.files:
            inputs[layer.path] = layer.digest
        used |= bases.used_by(layers.files)
        if loaded is not None:
            pools.append(loaded)
    if file is not None and not files.pools:
        problems.append(diagnose(codes.CLUSTER_WITHOUT_POOLS, "this cluster has no pools", file.locate("/kind")))
    pools.sort(key=lambda item: item.pool.name)
    return LoadedCluster(
        name=files.name,
        cluster=cluster,
        file=file,
        pools=tuple(pools),
        problems=tuple(problems),
        inputs=inputs,
        used_bases=frozenset(used),
    )


def cluster_alone(tree: InputTree, files: ClusterFiles) -> Cluster | None:
    """What the cluster's own file says, for who does not ask about pools; None where it has mistakes."""
    return _load_cluster_file(tree, files, [], {})[1]


def _in_ring(
    file: SourceFile, cluster: Cluster, rings: Rings | None, problems: list[Diagnostic], inputs: dict[str, str]
) -> Cluster | None:
    """The cluster, delivered as its ring is; None where it can't be."""
    from poolsmith.fleet.profiles.rings_and_teams import NO_RINGS  # on demand

    rings = rings or NO_RINGS
    sink = profile_sink(file, subject=cluster.metadata.name)
    spec = rings.delivered(cluster.spec, sink)
    if rings.file is not None and rings.sets_revision(spec):
        inputs[rings.file.path] = rings.file.digest
    problems.extend(sink.found)
    return None if sink.found else replace(cluster, spec=spec)


def _load_cluster_file(
    tree: InputTree, files: ClusterFiles, problems: list[Diagnostic], inputs: dict[str, str]
) -> tuple[SourceFile | None, Cluster | None]:
    if files.cluster is None:
        return None, None
    file = tree.read_profile(files.cluster)
    if isinstance(file, Diagnostic):
        problems.append(file)
        return None, None
    problems.extend(file.problems)
    inputs[file.path] = file.digest
    sink = profile_sink(file, subject=files.name)
    metadata = read_envelope(file, "Cluster", sink)
    raw = required_spec(file, sink)
    spec = read_spec(ClusterSpec, raw, sink) if raw is not None else None
    if metadata is not None and metadata.name != files.name:
        sink.report(
            codes.CLUSTER_NAME_MISMATCH,
            "/metadata/name",
            f"the cluster is named `{metadata.name}`, its folder `{files.name}`",
            f"write `name: {files.name}`, or rename the folder",
        )
        metadata = None
    report_address_secrets(file, sink)
    problems.extend(sink.found)
    if metadata is None or spec is None or sink.found:
        return file, None
    return file, Cluster(metadata=metadata, spec=spec, path=file.path)


def _load_pool(
    file: SourceFile, cluster: str, bases: Bases, names: dict[str, SourceFile], problems: list[Diagnostic]
) -> tuple[Layers, LoadedPool | None]:
    stack, extends_problems = bases.stack(file)
    layers = Layers(stack, alternatives_of(PoolSpec))
    sink = profile_sink(file, subject=cluster, partial=len(stack) > 1 or bool(extends_problems))
    metadata = read_envelope(file, "NodePool", sink)
    raw = required_spec(file, sink)
    spec = read_spec(PoolSpec, raw, sink) if raw is not None else None
    if kind_in(file) == "NodePool" and sink.partial and raw is not None:
        merged_sink = profile_sink(layers, subject=cluster, only_missing=True)
        merged = layers.merged_spec()
        spec = read_spec(PoolSpec, merged, merged_sink)
        if not extends_problems:
            sink.found.extend(merged_sink.found)
    for layer in stack:
        layer_sink = profile_sink(layer, subject=cluster)
        report_address_secrets(layer, layer_sink)
        sink.found.extend(layer_sink.found)
    problems.extend(extends_problems)
    problems.extend(sink.found)
    if metadata is None:
        return layers, None
    if (first := names.get(metadata.name)) is not None:
        problems.append(
            diagnose(
                codes.DUPLICATE_NAME,
                f"two pools of `{cluster}` have the name `{metadata.name}`",
                file.locate("/metadata/name"),
                related=(first.locate("/metadata/name", "the other one"),),
            )
        )
        return layers, None
    names[metadata.name] = file
    if spec is None or sink.found or extends_problems:
        return layers, None
    return layers, LoadedPool(pool=NodePool(metadata=metadata, spec=spec, path=file.path), layers=layers)
