"""Values of the chart of which nobody says the release, or a helmfile that is a template does."""

from __future__ import annotations

from pathlib import Path

from poolsmith.interface.app import check_paths

VALUES = "driver: {enabled: false}\ntoolkit: {enabled: true, nonsense: 1}\n"
OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n"


def checked(folder: Path, files: dict[str, str]):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return check_paths(folder, [folder])


def test_values_of_an_unknown_release_are_judged_by_all_among_objects_of_others(tmp_path):
    outcome = checked(tmp_path, {"gpu-operator/values.yaml": VALUES, "shop.yaml": OTHER})

    assert [item.message for item in outcome.diagnostics] == ["no known release of the chart reads `toolkit.nonsense`"]
    assert "Helm values were checked against all known releases (none of them is named)" in outcome.facts


def test_a_helmfile_that_is_a_template_says_the_release(tmp_path):
    helmfile = (
        "releases:\n{{ if true }}\n  - name: gpu-operator\n    chart: nvidia/gpu-operator\n    namespace: gpus\n"
        "    version: v26.3.2\n    values: [gpu-operator/values.yaml]\n{{ end }}\n"
    )
    outcome = checked(tmp_path, {"gpu-operator/values.yaml": VALUES, "helmfile.yaml.gotmpl": helmfile})

    assert [
        (item.code, str(item.primary.span).split(":")[1]) for item in outcome.diagnostics if item.severity == "error"
    ] == [("PSM301", "2")]
