"""Whatever a repository holds, a build ends soon and says what it does not know."""

from __future__ import annotations

import time

import pytest

from kubernetes.repository.kustomize.side_by_side import ours, written

OBJECT = "# file: top/object.yaml\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}\n"
TOP = "# file: top/kustomization.yaml\n"

HOSTILE = {
    "a circle of components": (
        f"{TOP}components: [../top]\n",
        "top",
    ),
    "a base above everything": (f"{TOP}resources: [../../../../etc, /etc, object.yaml]\n{OBJECT}", "top"),
    "addresses": (
        f"{TOP}resources: ['https://example.com/a.yaml', 'git@example.com:a/b.git', github.com/a/b?ref=v1, object.yaml]\n{OBJECT}",
        "top",
    ),
    "fields of the wrong kind": (
        (
            f"{TOP}resources: {{a: b}}\npatches: 3\nlabels: [1, [], {{pairs: [x]}}]\nimages: [null, {{name: [a]}}]\n"
            "replacements: [{source: 1, targets: {}}]\nconfigMapGenerator: [{}, 1, {name: [x]}]\nvars: [{name: {}}]\n"
            "namespace: [a]\nnamePrefix: {}\ncomponents: [1]\ngenerators: [1]\ntransformers: [{a: b}]\n"
        ),
        "top",
    ),
    "patches of the wrong kind": (
        f"{TOP}resources: [object.yaml]\npatches: [{{}}, {{patch: '1'}}, {{patch: '['}}, {{patch: '{{'}}, {{path: [x]}},\n"
        "  {patch: '- 1', target: {kind: ConfigMap}}, {patch: '- {op: add, path: 3}', target: {}},\n"
        "  {patch: '- {op: add, path: /a/b/c}', target: {name: '('}}, {patch: '- {op: move, path: /x}', target: {}}]\n"
        + OBJECT,
        "top",
    ),
    "expressions that never end": (
        (
            f"{TOP}resources: [object.yaml]\npatches:\n- target: {{name: '(a+)+b'}}\n  patch: '- {{op: remove, path: /data}}'\n"
            f"images: [{{name: '(a*)*c', newTag: x}}]\n{OBJECT}"
        ),
        "top",
    ),
    "a replacement at a far index": (
        (
            f"{TOP}resources: [object.yaml]\nreplacements:\n- sourceValue: x\n  targets: [{{select: {{name: a}}, fieldPaths: "
            f"[data.list.999999999], options: {{create: true}}}}]\n{OBJECT}"
        ),
        "top",
    ),
    "a plugin that runs something": (
        (
            f"{TOP}resources: [object.yaml]\ntransformers: ['{{apiVersion: x/v1, kind: Exec, metadata: {{name: x}}}}', gone.yaml]\n"
            f"generators: [object.yaml]\n{OBJECT}"
        ),
        "top",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_build_ends_and_tells_what_is_unknown(name, tmp_path):
    text, folder = HOSTILE[name]
    written(tmp_path, text)
    build = ours(tmp_path, folder)

    assert all(unknown.place.span.path.startswith("top/") for unknown in build.unknown)
    assert build.unknown or name == "expressions that never end"


def test_many_layers_of_doubling_bases_end(tmp_path):
    """Each layer takes in the one below twice: names collide, and nothing grows."""
    written(tmp_path, f"# file: l0/kustomization.yaml\nresources: [object.yaml]\n{OBJECT.replace('top/', 'l0/')}")
    for layer in range(1, 40):
        below = f"../l{layer - 1}"
        written(tmp_path, f"# file: l{layer}/kustomization.yaml\nresources: [{below}, {below}/, {below}]\n")
    start = time.process_time()
    build = ours(tmp_path, "l39")

    assert len(build.objects) == 1
    assert time.process_time() - start < 5


def test_three_hundred_kustomizations_take_no_second_beyond_reading(tmp_path):
    parts = []
    for number in range(300):
        parts.append(
            f"# file: app{number}/kustomization.yaml\nresources: [../base{number % 10}]\nnamespace: ns{number}\n"
            "labels: [{pairs: {team: ml}}]\npatches: [{target: {kind: Deployment}, "
            "patch: '- {op: replace, path: /spec/replicas, value: 2}'}]\n"
        )
    for number in range(10):
        parts.append(
            f"# file: base{number}/kustomization.yaml\nresources: [app.yaml]\n# file: base{number}/app.yaml\n"
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\nspec: {replicas: 1, template: {spec: {}}}\n"
        )
    written(tmp_path, "".join(parts))
    from poolsmith.kubernetes.repository.kustomize.build import Builder
    from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

    files = RepositoryFiles(tmp_path, [tmp_path])
    for path in files.listed().yaml:
        files.documents(path)
    builder = Builder(files)
    start = time.process_time()
    found = [len(builder.folder(f"app{number}").objects) for number in range(300)]

    assert found == [1] * 300
    assert time.process_time() - start < 2
