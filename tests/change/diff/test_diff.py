"""`diff` on real repositories: clusters, pools, values, objects, images, self grants and findings of a change."""

from __future__ import annotations

import pytest

from change.diff.projects import A100, COMPILED, H100, changes, cluster, codes, pool, project, told
from poolsmith.change.diff.change_report import OwnLeave
from poolsmith.core.diagnostics import UsageError
from poolsmith.kubernetes.server.field_changes import Standing

NEWER = "{source: container, version: 580.159.03}"


@pytest.fixture
def repository(repository_of):
    return repository_of(project("a", "b", other=("c",)))


def the_cluster(report):
    (found,) = report.clusters
    return found


def fields(items):
    return {item.pointer: (item.old, item.new) for item in items}


def test_without_a_change_there_is_nothing_to_tell(repository):
    report = changes(repository)

    assert report.is_empty
    assert (report.unchanged_clusters, report.pools) == (2, 0)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: "# why this cluster is here\n" + text,
        lambda text: text.replace("metadata: {name: lab}\n", "") + "metadata: {name: lab}\n",
        lambda text: text.replace('"1.33"', "'1.33'"),
        lambda text: text.replace("driverMode: nvidia-driver", '"driverMode": "nvidia-driver"'),
    ],
)
def test_a_change_of_comments_order_or_quotes_does_nothing(repository, edit):
    text = cluster()
    assert edit(text) != text
    repository.write({"profiles/lab/cluster.yaml": edit(text)})
    report = changes(repository)

    assert (report.clusters, report.self_grants, report.unchanged_clusters) == ((), (), 2)
    assert [item for item in report.new_findings if item.code != "PSM501"] == []


def test_a_default_that_is_written_out_does_nothing(repository):
    repository.write({"profiles/lab/a.yaml": pool("a") + "  arch: amd64\n"})

    assert changes(repository).clusters == ()


def test_a_new_pool_is_told_with_its_images_and_objects(repository):
    repository.write({"profiles/lab/new.yaml": pool("new", H100, '{source: precompiled, version: "580"}')})
    report = changes(repository)

    assert told(report) == ["lab changed", "lab/new added"]
    found = the_cluster(report)
    assert [(item.standing, item.pools) for item in found.images if "580-5.15.0" in item.image] == [
        (Standing.ADDED, ("new",))
    ]
    assert ("new-gpu-precompiled", Standing.ADDED) in {
        (item.name, item.standing) for item in found.objects if item.kind == "NVIDIADriver"
    }
    assert (report.pools, report.unchanged_clusters) == (3, 1)


def test_a_pool_that_is_gone_is_told(repository):
    repository.remove("profiles/lab/b.yaml")

    assert told(changes(repository)) == ["lab changed", "lab/b removed"]


def test_a_renamed_pool_is_one_and_not_two(repository):
    repository.remove("profiles/lab/b.yaml")
    repository.write({"profiles/lab/training.yaml": pool("training")})
    report = changes(repository)

    assert told(report) == ["lab changed", "lab/training renamed from b"]
    found = the_cluster(report)
    assert found.images == ()
    drivers = {(item.name, item.standing) for item in found.objects if item.kind == "NVIDIADriver"}
    assert {standing for _, standing in drivers} == {Standing.ADDED, Standing.REMOVED}


def test_a_pool_that_keeps_its_nodes_is_renamed_whatever_else_changes(repository_of):
    nodes = "  nodes: {labelValue: training}\n"
    repository = repository_of({**project("a"), "profiles/lab/b.yaml": pool("b") + nodes})
    repository.remove("profiles/lab/b.yaml")
    repository.write({"profiles/lab/new.yaml": pool("new", A100, NEWER) + nodes})
    report = changes(repository)

    assert told(report) == ["lab changed", "lab/new renamed from b"]
    assert "/spec/driver/version" in fields(the_cluster(report).pools[0].fields)


def test_another_pool_in_the_place_of_one_is_not_a_rename(repository):
    repository.remove("profiles/lab/b.yaml")
    repository.write({"profiles/lab/new.yaml": pool("new", H100)})

    assert told(changes(repository)) == ["lab changed", "lab/b removed", "lab/new added"]


def test_pools_that_are_alike_are_paired_by_their_names(repository):
    repository.remove("profiles/lab/a.yaml", "profiles/lab/b.yaml")
    repository.write({f"profiles/lab/x-{name}.yaml": pool(f"x-{name}") for name in "ab"})

    assert told(changes(repository)) == ["lab changed", "lab/x-a renamed from a", "lab/x-b renamed from b"]


def test_a_renamed_cluster_is_one_and_not_two(repository):
    repository.remove("profiles/lab")
    repository.write(
        {
            "profiles/prod/cluster.yaml": cluster("prod"),
            "profiles/prod/a.yaml": pool("a"),
            "profiles/prod/b.yaml": pool("b"),
        }
    )
    report = changes(repository)

    assert told(report) == ["prod renamed from lab"]
    assert the_cluster(report).images == ()


def test_new_and_gone_clusters_are_told_with_their_pools(repository):
    repository.remove("profiles/other")
    repository.write(
        {"profiles/new/cluster.yaml": cluster("new", mode="cluster-policy"), "profiles/new/z.yaml": pool("z")}
    )

    assert told(changes(repository)) == ["new added", "new/z added", "other removed", "other/c removed"]


def test_a_raised_release_is_told_with_values_objects_and_images(repository):
    repository.write({"profiles/lab/cluster.yaml": cluster(release="v26.7.0")})
    found = the_cluster(changes(repository))

    assert (found.old_release, found.new_release) == ("v26.3.3", "v26.7.0")
    assert fields(found.fields)["/spec/stack/release"] == ("v26.3.3", "v26.7.0")
    assert {item.standing for item in found.images} == {Standing.ADDED, Standing.REMOVED}
    assert any(item.made for item in found.objects)


def test_values_are_told_at_their_line_and_as_what_becomes_of_them(repository):
    repository.write({"profiles/lab/cluster.yaml": cluster(values="{dcgmExporter: {hostNetwork: true}}")})
    report = changes(repository)
    found = the_cluster(report)

    (value,) = found.values
    assert (value.pointer, value.old, value.new) == ("/gpu-operator/dcgmExporter/hostNetwork", None, True)
    assert (value.place.span.path, value.place.span.start.line) == ("profiles/lab/cluster.yaml", 6)
    made = {field.pointer for item in found.objects if item.made for field in item.fields}
    assert any(pointer.endswith("/spec/template/spec/hostNetwork") for pointer in made)
    assert found.fields == ()


def test_a_base_changes_all_that_stands_on_it_and_nothing_else(repository_of):
    base = pool("x").replace("NodePool", "NodePoolBase").replace("name: x", "name: common")
    own = "apiVersion: poolsmith/v1\nkind: NodePool\nmetadata: {name: d}\nspec: {extends: [common]}\n"
    files = {**project("a", other=("c",)), "profiles/_bases/common.yaml": base, "profiles/lab/d.yaml": own}
    repository = repository_of(files)
    repository.write({"profiles/_bases/common.yaml": base.replace("1.7.27", "1.7.28")})
    report = changes(repository)

    assert told(report) == ["lab changed", "lab/d changed"]
    (change,) = the_cluster(report).pools[0].fields
    assert (change.pointer, change.place.span.path) == ("/spec/runtime/version", "profiles/_bases/common.yaml")
    assert report.unchanged_clusters == 1


def test_what_moves_to_a_base_changes_nothing(repository_of):
    repository = repository_of(project("a"))
    base = pool("x").replace("NodePool", "NodePoolBase").replace("name: x", "name: common")
    own = "apiVersion: poolsmith/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {extends: [common]}\n"
    repository.write({"profiles/_bases/common.yaml": base, "profiles/lab/a.yaml": own})
    report = changes(repository)

    assert report.clusters == ()
    assert [item for item in report.new_findings if item.code != "PSM501"] == []


GRANT = """\
apiVersion: poolsmith/v1
kind: PrivilegeGrant
metadata: {{name: {name}}}
spec:
  clusters: ["*"]
  pools: ["*"]
  workload: DaemonSet/{workload}
  privileges: [privileged]
  reason: measured
  owner: platform
  expires: {expires}
"""


def grant(name="plugin", workload="nvidia-device-plugin-daemonset", expires="2027-01-31"):
    return GRANT.format(name=name, workload=workload, expires=expires)


def leave(report):
    return [(item.kind, item.widens) for item in report.self_grants]


def test_a_change_that_grants_itself_something_says_so_first(repository_of):
    repository = repository_of({**project("a"), "policies/privileges/a.yaml": grant("known", "something-else")})
    repository.write({"policies/privileges/b.yaml": grant()})
    report = changes(repository)

    assert leave(report) == [(OwnLeave.GRANT, True)]
    assert report.self_grants[0].place.span.path == "policies/privileges/b.yaml"
    assert "policy-widening" in {item.name for item in report.new_findings}


def test_a_grant_that_is_gone_is_told_as_that(repository_of):
    files = {**project("a"), "policies/privileges/a.yaml": grant(), "policies/privileges/b.yaml": grant("b", "other")}
    repository = repository_of(files)
    repository.remove("policies/privileges/b.yaml")
    report = changes(repository)

    assert leave(report) == [(OwnLeave.GRANT, False)]
    assert report.self_grants[0].what == "grant `b` is gone"


def test_shorter_and_longer_grants_are_told_apart(repository_of):
    files = {**project("a"), "policies/privileges/a.yaml": grant()}
    repository = repository_of(files)
    for expires, widens in (("2027-06-30", True), ("2026-12-31", False)):
        repository.write({"policies/privileges/a.yaml": grant(expires=expires)})
        assert leave(changes(repository)) == [(OwnLeave.GRANT, widens)]


def test_rules_waivers_and_sources_are_leave_too(repository_of):
    repository = repository_of(project("a"))
    repository.write(
        {
            "policies/rules.yaml": "apiVersion: poolsmith/v1\nkind: RuleSettings\nmetadata: {name: rules}\n"
            "spec: {rules: {output-out-of-date: {enabled: false}}}\n",
        }
    )
    report = changes(repository)

    assert {item.kind for item in report.self_grants} <= {OwnLeave.RULE_SETTING}
    assert report.clusters == ()


def test_files_that_decide_about_the_change_are_leave_too(repository_of):
    repository = repository_of({**project("a"), ".github/CODEOWNERS": "* @one\n"})
    repository.write({".github/CODEOWNERS": "* @two\n"})
    repository.commit()
    report = changes(repository)

    assert leave(report) == [(OwnLeave.JUDGE, True)]
    assert report.self_grants[0].subject == ".github/CODEOWNERS"


def test_policies_that_are_shipped_make_every_cluster_another(repository):
    repository.write({"policies/privileges/a.yaml": grant()})
    report = changes(repository)

    assert report.why_all == "policies that are shipped to every cluster differ"
    assert {item.name for item in report.clusters} == {"lab", "other"}
    assert all("ValidatingAdmissionPolicy" in {entry.kind for entry in item.objects} for item in report.clusters)


def test_errors_of_the_change_are_findings_and_what_follows_is_unknown(repository):
    repository.write({"profiles/lab/a.yaml": "kind: [\n"})
    report = changes(repository)

    assert the_cluster(report).unknown == ("what the change makes of it: its profiles have errors",)
    assert report.new_findings


def test_errors_of_the_base_are_fixed_and_what_was_is_unknown(repository_of):
    repository = repository_of({**project("a"), "profiles/lab/b.yaml": "kind: [\n"})
    repository.write({"profiles/lab/b.yaml": pool("b")})
    report = changes(repository)

    assert the_cluster(report).unknown == ("what it was in the base: its profiles had errors there",)
    assert report.fixed_findings


def test_a_finding_of_both_sides_is_neither_new_nor_fixed(repository):
    before = repository.root / "profiles/lab/a.yaml"
    repository.write({"profiles/lab/a.yaml": "\n\n# moved\n" + before.read_text()})
    report = changes(repository)

    assert codes(report.new_findings) in ([], ["PSM501"])
    assert codes(report.fixed_findings) in ([], ["PSM501"])


def test_only_the_clusters_that_are_asked_for_are_told(repository):
    repository.write({"profiles/lab/new.yaml": pool("new"), "profiles/other/new.yaml": pool("new")})

    assert [item.name for item in changes(repository, clusters=("other",)).clusters] == ["other"]
    with pytest.raises(UsageError, match="there is no cluster `lap`"):
        changes(repository, clusters=("lap",))


def test_a_base_without_profiles_makes_all_clusters_new(repository_of):
    repository = repository_of({"README.md": "x"})
    repository.write(project("a"))

    assert told(changes(repository)) == ["lab added", "lab/a added"]


def test_two_revisions_are_compared_without_the_work_tree(repository):
    repository.write({"profiles/lab/new.yaml": pool("new")})
    repository.commit()
    repository.remove("profiles/lab")
    report = changes(repository, head="HEAD")

    assert told(report) == ["lab changed", "lab/new added"]
    assert report.head.name == "HEAD"


def test_a_project_below_the_top_is_found_in_the_base(repository_of):
    repository = repository_of(project("a", at="deploy/gpu/"), prefix="deploy/gpu")
    repository.write({"deploy/gpu/profiles/lab/a.yaml": pool("a", driver=NEWER)})

    assert told(changes(repository)) == ["lab changed", "lab/a changed"]
    assert COMPILED != NEWER
