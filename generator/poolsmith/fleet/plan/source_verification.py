"""Whether what `delivery.verify` demands can be demanded of the source that is generated.

Source: fluxcd/source-controller@v1.9.4:docs/spec/v1/{gitrepositories,ocirepositories}.md
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.fleet.profiles.cluster import VerifyMode, VerifyProvider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.cluster import Delivery, Verify

OCI, TAG = "oci://", "refs/tags/"


def check_verification(delivery: Delivery, facts: Facts) -> None:
    """A demand that nothing checks would be worse than none."""
    verify = delivery.verify
    if verify is None:
        return
    if delivery.source_ref is not None:
        facts.report_cluster(
            codes.FIELD_WITHOUT_EFFECT,
            "/spec/delivery/verify",
            "`delivery.verify` has no effect beside `delivery.sourceRef`: that source is not generated",
            help="set `spec.verify` of that source, and remove it here",
        )
        return
    found = _of_artefact(verify) if delivery.repo_url.startswith(OCI) else _of_git(verify, delivery.revision)
    for field, message, advice in found:
        pointer = f"/spec/delivery/verify{field}"
        facts.report_cluster(codes.SOURCE_VERIFICATION, pointer, message, help=advice)


def _of_git(verify: Verify, revision: str) -> Iterator[tuple[str, str, str]]:
    for field, given in (("provider", verify.provider), ("identities", verify.identities)):
        if given:
            message = f"`{field}` is for OCI artefacts, and `repoURL` is a git repository"
            yield f"/{field}", message, "remove it; commits and tags are verified with the keys in `secret`"
    if verify.secret is None:
        yield "", "Flux verifies a git repository with keys only, and no `secret` has any", "name one in `secret`"
    if verify.mode in (VerifyMode.TAG, VerifyMode.TAG_AND_HEAD) and not revision.startswith(TAG):
        message = f"`mode: {verify.mode.value}` demands a signed tag, and `{revision}` is none"
        yield "/mode", message, "write `revision: refs/tags/<tag>`, or `mode: HEAD`"


def _of_artefact(verify: Verify) -> Iterator[tuple[str, str, str]]:
    if verify.mode is not None:
        yield "/mode", "`mode` is for git repositories, and `repoURL` is an OCI artefact", "remove it"
    if verify.provider is VerifyProvider.NOTATION:
        if verify.secret is None:
            advice = "name the secret with its trust policy and certificates in `secret`"
            yield "", "notation verifies with certificates only, and no `secret` has any", advice
        if verify.identities:
            yield "/identities", "`identities` are for cosign; notation reads its trust policy", "remove it"
        return
    if verify.secret is None and not verify.identities:
        message = "anybody may have signed: without keys, cosign accepts every identity that is not told apart"
        yield "", message, "name the keys in `secret`, or who has to have signed in `identities`"
    if verify.secret is not None and verify.identities:
        message = "`identities` have no effect beside `secret`: Flux then asks the keys alone"
        yield "/identities", message, "keep one of both"
    for index, item in enumerate(verify.identities):
        for field, pattern in (("issuer", item.issuer), ("subject", item.subject)):
            if problem := _too_wide(pattern):
                message = f"`{field}` is a regular expression {problem}: others than meant could have signed"
                advice = "write it as ^...$, with `|` in parentheses only, and name the signer"
                yield f"/identities/{index}/{field}", message, advice


def _too_wide(pattern: str) -> str | None:
    """What lets an expression match more than its author sees."""
    body = re.sub(r"\\.|\[\^?\]?[^]]*\]", "x", pattern)
    if not (body.startswith("^") and body.endswith("$")):
        return "that may match a part of it"
    while (simpler := re.sub(r"\([^()]*\)", "x", body)) != body:
        body = simpler
    if "|" in body:
        return "with an alternative that may match a part of it"
    if re.fullmatch(r"\^(\((\?:)?)?[.][*+]\)?\$", pattern):
        return "that matches everybody"
    try:
        re.compile(pattern)
    except re.error:
        return "that nobody can read"
    return None
