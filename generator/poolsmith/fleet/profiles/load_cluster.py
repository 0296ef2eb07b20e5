"""One cluster's profiles, typed, with all their mistakes.

Secrets in addresses are among the mistakes: more people can read a repository than may know them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.diagnostics.masking import may_hold_address, secret_in_address
from poolsmith.core.record import record, replace
from poolsmith.core.shape.documents import kind_in, read_envelope, read_spec, required_spec
from poolsmith.core.shape.layers import Layers
from poolsmith.core.shape.reader import alternatives_of
from poolsmith.core.sources.pointer import join
from poolsmith.fleet.profiles.assumed import assumed_fields
from poolsmith.fleet.profiles.bases import profile_sink
from poolsmith.fleet.profiles.cluster import Cluster, ClusterSpec
from poolsmith.fleet.profiles.node_pool import NodePool, PoolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.core.shape.documents import FileSink
    from poolsmith.core.shape.field import Metadata
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.core.sources.source_file import SourceFile
    from poolsmith.fleet.profiles.bases import Bases
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.fleet.profiles.rings_and_teams import Rings


_ADVICE = "write the address alone; what proves who asks belongs into a Secret of the cluster or of the delivery engine"


def report_address_secrets(file: SourceFile, sink: FileSink) -> None:
    """Each text of a profile that is, or holds, an address with such a part."""
    if not may_hold_address(file.text):
        return
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

    `inputs` are the digests of every profile file that was read for this cluster, by path. `meant` is what profiles
    with mistakes say once each is mended in the one way that is certain: it tells what else is wrong, and nothing is
    generated from it.
    """

    name: str
    cluster: Cluster | None
    file: SourceFile | None
    pools: tuple[LoadedPool, ...]
    problems: tuple[Diagnostic, ...]
    inputs: dict[str, str]
    used_bases: frozenset[str] = frozenset()
    meant: LoadedCluster | None = None

    @property
    def files(self) -> dict[str, SourceFile]:
        """Every file that the profiles stand in, bases included, by path."""
        of_pools = (file for pool in self.pools for file in pool.layers.files)
        return {file.path: file for file in (*of_pools, *([self.file] if self.file is not None else ()))}


def load_cluster(tree: InputTree, files: ClusterFiles, bases: Bases, rings: Rings | None = None) -> LoadedCluster:
    """Read and check a cluster's profiles. A mistake in one file does not hide those in another."""
    problems = list(files.problems)
    inputs: dict[str, str] = {}
    file, cluster, is_sound = _load_cluster_file(tree, files, problems, inputs)
    if file is not None and cluster is not None and cluster.spec.ring is not None:
        cluster = _in_ring(file, cluster, rings, problems, inputs)
    pools: list[LoadedPool] = []
    meant: list[LoadedPool | None] = []
    names: dict[str, SourceFile] = {}
    used: set[str] = set()
    for path in files.pools:
        pool_file = tree.read_profile(path)
        if isinstance(pool_file, Diagnostic):
            problems.append(pool_file)
            meant.append(None)
            continue
        problems.extend((*pool_file.problems, *assumed_fields(pool_file, files.name)))
        layers, loaded, is_sound_pool = _load_pool(pool_file, files.name, bases, names, problems)
        for layer in layers.files:
            inputs[layer.path] = layer.digest
        used |= bases.used_by(layers.files)
        meant.append(loaded)
        if loaded is not None and is_sound_pool:
            pools.append(loaded)
    if file is not None and not files.pools:
        problems.append(diagnose(codes.CLUSTER_WITHOUT_POOLS, "this cluster has no pools", file.locate("/kind")))
    return LoadedCluster(
        name=files.name,
        cluster=cluster if is_sound else None,
        file=file,
        pools=_by_name(pools),
        problems=tuple(problems),
        inputs=inputs,
        used_bases=frozenset(used),
        meant=_as_meant(files, file, cluster, meant),
    )


def _by_name(pools: Iterable[LoadedPool]) -> tuple[LoadedPool, ...]:
    return tuple(sorted(pools, key=lambda item: item.pool.name))


def _as_meant(
    files: ClusterFiles, file: SourceFile | None, cluster: Cluster | None, pools: Sequence[LoadedPool | None]
) -> LoadedCluster | None:
    """None where anything could mean several things: what follows from a part of a cluster would be guesses."""
    known = [pool for pool in pools if pool is not None]
    if cluster is None or len(known) < len(pools):
        return None
    return LoadedCluster(name=files.name, cluster=cluster, file=file, pools=_by_name(known), problems=(), inputs={})


def cluster_alone(tree: InputTree, files: ClusterFiles) -> Cluster | None:
    """What the cluster's own file says, for who does not ask about pools; None where it has mistakes."""
    _, cluster, is_sound = _load_cluster_file(tree, files, [], {})
    return cluster if is_sound else None


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
) -> tuple[SourceFile | None, Cluster | None, bool]:
    """The file, what it says or means, and whether it says so itself."""
    if files.cluster is None:
        return None, None, False
    file = tree.read_profile(files.cluster)
    if isinstance(file, Diagnostic):
        problems.append(file)
        return None, None, False
    problems.extend((*file.problems, *assumed_fields(file, files.name)))
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
        metadata = replace(metadata, name=files.name)
    report_address_secrets(file, sink)
    problems.extend(sink.found)
    if metadata is None or spec is None:
        return file, None, False
    return file, Cluster(metadata=metadata, spec=spec, path=file.path), not sink.found


def _load_pool(
    file: SourceFile, cluster: str, bases: Bases, names: dict[str, SourceFile], problems: list[Diagnostic]
) -> tuple[Layers, LoadedPool | None, bool]:
    """The files, what they say or mean together, and whether they say so themselves."""
    stack, extends_problems = bases.stack(file)
    texts = tuple(layer.content for layer in stack)
    is_shared = file.content.is_shared and not extends_problems
    sound = bases.sound.get(texts) if is_shared else None
    layers = Layers(stack, alternatives_of(PoolSpec), {} if sound is None else sound[2])
    metadata, spec, found, guessed = (*sound[:2], [], False) if sound else _read_pool(layers, cluster, extends_problems)
    if sound is None and is_shared and metadata is not None and spec is not None and not (found or guessed):
        bases.keep_sound(texts, (metadata, spec, layers.owners))
    problems.extend(extends_problems)
    problems.extend(found)
    if metadata is None:
        return layers, None, False
    if (first := names.get(metadata.name)) is not None:
        problems.append(
            diagnose(
                codes.DUPLICATE_NAME,
                f"two pools of `{cluster}` have the name `{metadata.name}`",
                file.locate("/metadata/name"),
                related=(first.locate("/metadata/name", "the other one"),),
            )
        )
        return layers, None, False
    names[metadata.name] = file
    if spec is None or extends_problems:
        return layers, None, False
    pool = NodePool(metadata=metadata, spec=spec, path=file.path)
    return layers, LoadedPool(pool=pool, layers=layers), not found and not guessed


def _read_pool(
    layers: Layers, cluster: str, extends_problems: Sequence[Diagnostic]
) -> tuple[Metadata | None, PoolSpec | None, list[Diagnostic], bool]:
    """What the files say or mean together, what is wrong with them, and whether a part of it is guessed."""
    file, stack = layers.own, layers.files
    sink = profile_sink(file, subject=cluster, partial=len(stack) > 1 or bool(extends_problems))
    metadata = read_envelope(file, "NodePool", sink)
    raw = required_spec(file, sink)
    spec = read_spec(PoolSpec, raw, sink) if raw is not None else None
    if kind_in(file) == "NodePool" and sink.partial and raw is not None:
        merged_sink = profile_sink(layers, subject=cluster, only_missing=True)
        spec = read_spec(PoolSpec, layers.merged_spec(), merged_sink)
        sink.guessed = sink.guessed or merged_sink.guessed
        if not extends_problems:
            sink.found.extend(merged_sink.found)
    for layer in stack:
        layer_sink = profile_sink(layer, subject=cluster)
        report_address_secrets(layer, layer_sink)
        sink.found.extend(layer_sink.found)
    return metadata, spec, sink.found, sink.guessed
