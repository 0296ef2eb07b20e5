"""What we generate and Flux would rewrite is kept from it, by the annotation that our model of Flux obeys."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.repository.flux import DISABLED

FLUX = "{engine: flux, repoURL: https://git.example.com/gpu.git}"
ARGO = "{engine: argocd, repoURL: https://git.example.com/gpu.git}"


def options(files):
    (generator,) = files.document("platform/kustomization.yaml")["configMapGenerator"]
    return generator["options"]


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [("x-${HOSTNAME}", True), ("$$", True), ("$(NODE)", False), ("a$", False), ("plain", False)],
)
def test_a_values_file_with_what_flux_reads_is_kept(render, value, is_kept):
    stack = f'{{release: v26.3.3, values: {{dcgmExporter: {{env: [{{name: A, value: "{value}"}}]}}}}}}'

    assert options(render({"delivery": FLUX, "stack": stack})).get("annotations") == (
        {DISABLED: "disabled"} if is_kept else None
    )


def test_nothing_of_argo_cd_has_the_annotation(render):
    stack = '{release: v26.3.3, values: {dcgmExporter: {env: [{name: A, value: "${B}"}]}}}'
    files = render({"delivery": ARGO, "stack": stack})

    assert not [path for path, content in files.content.items() if DISABLED.encode() in bytes(content)]
