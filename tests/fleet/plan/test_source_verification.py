"""`delivery.verify`: what the generated Flux source demands, as its schema has it, and what can't be demanded."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import NoSchema, schemas_for

GIT = "repoURL: https://git.example.com/gpu.git"
OCI = "repoURL: oci://ghcr.example.com/gpu/output, revision: refs/tags/v1"
DIGEST = "sha256:" + "a" * 64
SIGNER = {"issuer": "^https://token[.]example[.]com$", "subject": "^https://git[.]example[.]com/(a|b)$"}
IDENTITY = f"{{issuer: '{SIGNER['issuer']}', subject: '{SIGNER['subject']}'}}"
KEYS = {"secretRef": {"name": "k"}}


def flux(words):
    return {"delivery": "{engine: flux, " + words + "}"}


@pytest.mark.parametrize(
    ("words", "kind", "ref", "verify"),
    [
        (GIT, "GitRepository", {"name": "refs/heads/main"}, None),
        (f"{GIT}, verify: {{secret: k}}", "GitRepository", None, {"mode": "HEAD", **KEYS}),
        (
            f"{GIT}, revision: refs/tags/v1, verify: {{secret: k, mode: TagAndHEAD}}",
            "GitRepository",
            {"name": "refs/tags/v1"},
            {"mode": "TagAndHEAD", **KEYS},
        ),
        (OCI, "OCIRepository", {"tag": "v1"}, None),
        (f"repoURL: oci://r.example.com/a, revision: '{DIGEST}'", "OCIRepository", {"digest": DIGEST}, None),
        (f"{OCI}, verify: {{secret: k}}", "OCIRepository", None, {"provider": "cosign", **KEYS}),
        (f"{OCI}, verify: {{secret: k, provider: notation}}", "OCIRepository", None, {"provider": "notation", **KEYS}),
        (
            f"{OCI}, verify: {{identities: [{IDENTITY}]}}",
            "OCIRepository",
            None,
            {"provider": "cosign", "matchOIDCIdentity": [SIGNER]},
        ),
    ],
)
def test_the_source_is_what_flux_takes(render, words, kind, ref, verify):
    files = render(flux(words))
    found = files.documents("delivery/sources.yaml")[0]
    schema = schemas_for(schema_versions(kubernetes="1.33")).find(found["apiVersion"], found["kind"])
    assert not isinstance(schema, NoSchema)
    assert schema.violations(found) == ()
    assert found["kind"] == kind
    assert ref is None or found["spec"]["ref"] == ref
    assert found["spec"].get("verify") == verify
    delivered = [item for path, item in files.everything() if path.startswith("delivery/")]
    units = [item for item in delivered if item["kind"] == "Kustomization" and "sourceRef" in item.get("spec", ())]
    assert {item["spec"]["sourceRef"]["kind"] for item in units} == {kind}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (f"{GIT}, verify: {{}}", "PSM209", "no `secret` has any"),
        (f"{GIT}, verify: {{secret: k, provider: cosign}}", "PSM209", "`provider` is for OCI artefacts"),
        (f"{GIT}, verify: {{secret: k, identities: [{IDENTITY}]}}", "PSM209", "`identities` is for OCI"),
        (f"{GIT}, verify: {{secret: k, mode: Tag}}", "PSM209", "demands a signed tag"),
        (f"{OCI}, verify: {{}}", "PSM209", "anybody may have signed"),
        (f"{OCI}, verify: {{secret: k, mode: HEAD}}", "PSM209", "`mode` is for git"),
        (f"{OCI}, verify: {{provider: notation}}", "PSM209", "certificates only"),
        (f"{OCI}, verify: {{secret: k, identities: [{IDENTITY}]}}", "PSM209", "no effect beside `secret`"),
        (f"{OCI}, verify: {{identities: [{{issuer: 'a', subject: '^b$'}}]}}", "PSM209", "match a part"),
        (f"{OCI}, verify: {{identities: [{{issuer: '^a$', subject: '^b|c$'}}]}}", "PSM209", "an alternative"),
        (f"{OCI}, verify: {{identities: [{{issuer: '^a$', subject: '^.*$'}}]}}", "PSM209", "everybody"),
        (f"{OCI}, verify: {{identities: [{{issuer: '^a$', subject: '^(b$'}}]}}", "PSM209", "nobody can read"),
        (f"{GIT}, sourceRef: {{name: flux-system}}, verify: {{secret: k}}", "PSM257", "is not generated"),
        ("repoURL: oci://r.example.com/a", "PSM256", "no revision `refs/heads/main`"),
        (f"{GIT}, revision: '{DIGEST}'", "PSM256", "a digest"),
    ],
)
def test_what_can_not_be_demanded_is_refused(resolve, words, code, said):
    found = resolve(flux(words)).diagnostics
    assert any(item.code == code and said in item.message for item in found), found


def test_argo_cd_verifies_by_its_projects(resolve):
    words = "{engine: argocd, repoURL: https://git.example.com/gpu.git, verify: {secret: k}}"
    assert any(item.code == "PSM257" for item in resolve({"delivery": words}).diagnostics)
