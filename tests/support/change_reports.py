"""Changes as records: one with some of everything in the words that it is given, and one of a whole fleet."""

from __future__ import annotations

from dataclasses import replace

from poolsmith.change.delivery.outcomes import Action, Departure, DepartureOutcome, Evidence, Verb
from poolsmith.change.diff.change_report import (
    AdmittedPool,
    ChangeReport,
    ClusterDiff,
    Disruption,
    DisruptionKind,
    DriftChange,
    ImageChange,
    ObjectChange,
    OtherKind,
    OtherPoolChange,
    OwnLeave,
    PoolChange,
    PrivilegeChange,
    ReleaseChange,
    ReleaseChangeKind,
    Revision,
    SelfGrant,
    Waves,
)
from poolsmith.change.diff.phrases import change_words
from poolsmith.change.diff.rows import on_pools
from poolsmith.core.diagnostics import Location, Position, Severity, Span, diagnose
from poolsmith.guard.ledger.ledger_delta import Change, ChangeKind
from poolsmith.guard.ledger.privilege import Privilege
from poolsmith.kubernetes.server.field_changes import FieldChange, Standing
from support.code_book import CODE_BOOK

BASE, HEAD = Revision(name="origin/main", commit="0123456789abcdef0123456789abcdef01234567"), Revision(name="HEAD")
RULES = {severity: next(rule for rule in CODE_BOOK if rule.severity is severity) for severity in Severity}


def at(path, line=1):
    place = Position(line, 1)
    return Location(span=Span(path=path, start=place, end=place))


def finding(message, severity=Severity.ERROR, path="profiles/a/cluster.yaml", line=1, **more):
    return diagnose(RULES[severity], message, at(path, line), **more)


def privilege(new, pools, *, workload="DaemonSet/driver", granted=True, kind=ChangeKind.ADDED, old=None, path=None):
    given = {
        ChangeKind.ADDED: {"pools_after": pools},
        ChangeKind.REMOVED: {"pools_before": pools},
    }.get(kind, {"pools_before": pools, "pools_after": pools})
    change = Change(
        kind=kind,
        namespace="gpu-operator",
        workload=workload,
        container="ctr",
        old=Privilege.parse(old) if old else None,
        new=Privilege.parse(new) if new else None,
        **given,
    )
    place = at(path) if path else None
    return PrivilegeChange(change=change, words=change_words(change), place=place, granted=granted)


def drivers(pools, nodes, *, at_once=1, path="profiles/_bases/b.yaml"):
    waves = -(-nodes // at_once)
    words = (
        f"the driver pods of `driver` {on_pools(pools)} are replaced, {nodes} nodes, {at_once} at a time, {waves} "
        f"waves; each node is drained: `image` of container `ctr`"
    )
    return Disruption(
        kind=DisruptionKind.DRIVER,
        what="DaemonSet/driver",
        namespace="gpu-operator",
        pools=pools,
        words=words,
        waves=Waves(nodes=nodes, at_once=str(at_once), waves=waves, drains=True),
        place=at(path),
    )


def restart(name, pools):
    return Disruption(
        kind=DisruptionKind.RESTART,
        what=f"DaemonSet/{name}",
        namespace="gpu-operator",
        pools=pools,
        words=f"`{name}` restarts {on_pools(pools)}, 1 at a time: `image` of container `ctr`",
        place=at("profiles/_bases/b.yaml"),
    )


def fleet_change(clusters=100, pools=10):
    """A base raises the driver of all pools, whose names are those of their clusters."""
    return ChangeReport(
        base=BASE,
        head=HEAD,
        clusters=tuple(_changed(f"c{number:03}", pools) for number in range(clusters)),
        pools=clusters * pools,
        new_findings=tuple(
            finding(f"`driver` of `c{number:03}` has no grant", path=f"profiles/c{number:03}/cluster.yaml")
            for number in range(clusters)
        ),
    )


def _changed(name, count):
    pools = tuple(f"{name}-p{number}" for number in range(count))
    field = FieldChange(
        pointer="/spec/driver/version",
        standing=Standing.CHANGED,
        old="580.1",
        new="580.2",
        place=at("profiles/_bases/b.yaml", 7),
    )
    return ClusterDiff(
        name=name,
        standing=Standing.CHANGED,
        pools=tuple(PoolChange(name=pool, standing=Standing.CHANGED, fields=(field,)) for pool in pools),
        privileges=(privilege("host-network", pools, granted=False, path="profiles/_bases/b.yaml"),),
        disruptions=(drivers(pools, count * 4), restart("validator", pools)),
        images=(
            ImageChange(image="nvcr.io/nvidia/driver:580.1", standing=Standing.REMOVED, pools=pools),
            ImageChange(image="nvcr.io/nvidia/driver:580.2", standing=Standing.ADDED, pools=pools),
        ),
        objects=tuple(
            ObjectChange(
                api_version="nvidia.com/v1alpha1",
                kind="NVIDIADriver",
                name=pool,
                standing=Standing.CHANGED,
                fields=(FieldChange(pointer="/spec/version", standing=Standing.CHANGED, old="580.1", new="580.2"),),
            )
            for pool in pools
        ),
    )


def some_of_everything(text="x", *, many=1):
    """All kinds of things, each with `text` wherever a user's text can be; `many` of each."""
    names = tuple(f"{text}{number}" for number in range(many))
    path = f"profiles/{text}/cluster.yaml"
    place = at(path)
    field = FieldChange(
        pointer=f"/{text}/a", standing=Standing.CHANGED, old=text, new=[text, {text: text}], place=place
    )
    cluster = ClusterDiff(
        name=text,
        standing=Standing.RENAMED,
        renamed_from=f"{text}-old",
        fields=(field,),
        pools=tuple(
            PoolChange(name=name, standing=standing, renamed_from=text, fields=(field,), place=place)
            for name in names
            for standing in Standing
        ),
        privileges=tuple(
            privilege(new, (name, "b"), workload=f"DaemonSet/{name}", granted=None, kind=kind, old=old, path=path)
            for name in names
            for kind, old, new in (
                (ChangeKind.ADDED, None, "host-network"),
                (ChangeKind.ADDED, None, "rbac:core/pods:list@cluster"),
                (ChangeKind.REMOVED, "host-pid", None),
                (ChangeKind.WIDENED, "host-path:/a/b:ro:none", "host-path:/a:rw:none"),
                (ChangeKind.NARROWED, "host-path:/a:rw:none", "host-path:/a/b:ro:none"),
            )
        ),
        admitted=tuple(
            AdmittedPool(pool=name, workloads=1, containers=1, grants=(text,), place=place) for name in names
        ),
        others=tuple(
            OtherPoolChange(
                kind=kind,
                pool=name,
                names=(text,),
                words=f"`{text}` is gone on pool `{name}`",
                stops=stops,
                fact=text if stops else "",
                acknowledged_by=text if by else "",
                place=place,
            )
            for name in names
            for kind in OtherKind
            for stops, by in ((False, False), (True, False), (True, True))
        ),
        departures=tuple(
            Departure(
                kind=text,
                namespace=text,
                name=name,
                outcome=outcome,
                verb=Verb.LEAVE,
                evidence=evidence,
                headline=f"{outcome} `{text}`",
                leaves=leaves,
                cause=f"because of `{text}`",
                effect=f"{outcome} `{text}`",
                words=f"{outcome} `{text}`",
                drivers=(name,),
                is_chart=True,
                fact=text,
                acknowledged_by=text if by else "",
                place=place,
            )
            for name in names
            for outcome in DepartureOutcome
            for evidence in Evidence
            for leaves in (True, False)
            for by in (True, False)
        ),
        delivery=tuple(
            Action(
                verb=verb,
                kind=text,
                namespace=text,
                name=f"{name}-{verb}",
                within=within,
                words=f"{verb} `{text}`",
                evidence=evidence,
                fields=("/spec/path",),
                place=place,
            )
            for name in names
            for verb in Verb
            for evidence in Evidence
            for within in ("", text)
        ),
        disruptions=tuple(
            Disruption(kind=kind, what=f"Kind/{name}", pools=(name,), words=f"`{name}` {text}", place=place)
            for name in names
            for kind in DisruptionKind
        ),
        images=tuple(
            ImageChange(image=f"{name}:{text}", standing=standing, pools=(text,))
            for name in names
            for standing in (Standing.ADDED, Standing.REMOVED)
        ),
        values=(field, replace(field, pointer="/chart/follows", place=None)),
        objects=tuple(
            ObjectChange(
                api_version="v1", kind=text, name=name, namespace=text, standing=standing, made=made, fields=(field,)
            )
            for name in names
            for standing in (Standing.ADDED, Standing.REMOVED, Standing.CHANGED)
            for made in (False, True)
        ),
        release=tuple(
            ReleaseChange(kind=kind, words=f"{kind} {name} {text}", pools=names, place=place)
            for name in names
            for kind in ReleaseChangeKind
        ),
        drift=tuple(
            DriftChange(standing=standing, what=name, words=f"{name} {text}", cured=False, place=place)
            for name in names
            for standing in (Standing.ADDED, Standing.REMOVED)
        ),
        unknown=names,
    )
    found = tuple(
        finding(name, severity, path=path, line=number, help=text, subject=text)
        for number, name in enumerate(names, 1)
        for severity in Severity
    )
    return ChangeReport(
        base=Revision(name=text, commit="0" * 40),
        head=Revision(name=text),
        self_grants=tuple(
            SelfGrant(kind=kind, subject=text, what=f"{name} {text}", widens=widens, place=place)
            for name in names
            for kind in OwnLeave
            for widens in (True, False)
        ),
        clusters=(cluster, ClusterDiff(name=f"{text}-gone", standing=Standing.REMOVED)),
        unchanged_clusters=3,
        pools=2,
        new_findings=found,
        fixed_findings=found,
        unknown=names,
    )
