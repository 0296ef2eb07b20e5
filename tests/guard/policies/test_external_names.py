"""policies/external.yaml: who supplies what comes from outside, until when, and entries that nothing needs."""

import datetime as dt

import pytest

from poolsmith.guard.policies.external_names import ExternalBook
from poolsmith.interface.app.check import check_paths

TODAY = dt.date(2026, 11, 27)
ENTRY = "{{kind: ConfigMap, name: {name}, supplier: Terraform, reason: made with the account, owner: gpu, {more}}}"
FILES = {
    "gpu/ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: gpu}\n",
    "gpu/release.yaml": """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: nvidia-device-plugin, namespace: gpu}
spec:
  interval: 1h
  chart: {spec: {chart: nvidia-device-plugin, version: 0.17.1, sourceRef: {kind: HelmRepository, name: vendor}}}
  values:
    gfd: {enabled: true}
    config: {name: sharing}
""",
    "gpu/vendor.yaml": """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: vendor, namespace: gpu}
spec: {interval: 1h, url: https://nvidia.github.io/k8s-device-plugin}
""",
    "gpu/kustomization.yaml": """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [ns.yaml, release.yaml, vendor.yaml]
""",
}


def check(root, entries=None, **given):
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    if entries is not None:
        (root / "policies").mkdir()
        names = "".join(f"    - {entry}\n" for entry in entries)
        text = f"apiVersion: poolsmith/v1\nkind: ExternalNames\nmetadata: {{name: external}}\nspec:\n  names:\n{names}"
        (root / "policies/external.yaml").write_text(text, "utf-8")
    return check_paths(root, [root], today=TODAY, **given)


def told(outcome):
    return {item.name for item in outcome.diagnostics} & {
        "name-of-nobody",
        "unexplained-external-name",
        "expired-external-name",
        "unused-external-name",
    }


def test_a_name_that_nothing_makes_is_a_note_and_counted(tmp_path):
    outcome = check(tmp_path)

    assert told(outcome) == {"name-of-nobody"}
    assert outcome.needs == {"here": 2, "outside": 1, "unsupplied": 0}
    assert "3 needs: 2 supplied here, 1 from outside" in outcome.facts


def test_an_entry_says_where_it_comes_from(tmp_path):
    outcome = check(tmp_path, [ENTRY.format(name="sharing", more="expires: '2027-01-31'")])

    assert told(outcome) == set()
    assert outcome.needs == {"here": 2, "outside": 1, "unsupplied": 0}


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("sharing", "expires: '2026-11-26'", {"name-of-nobody", "expired-external-name"}),
        ("sharing", "expires: '2026-11-27'", set()),
        ("other", "expires: '2027-01-31'", {"name-of-nobody", "unused-external-name"}),
        ("sharing", "expires: '2027-01-31', clusters: [prod]", {"name-of-nobody", "unused-external-name"}),
        ("sharing", "expires: '2027-01-31', clusters: [g*]", set()),
        ("sharing", "expires: '2027-01-31', namespace: gpu", set()),
        ("sharing", "expires: '2027-01-31', namespace: other", {"name-of-nobody", "unused-external-name"}),
    ],
)
def test_an_entry_holds_for_its_name_its_clusters_and_its_time(tmp_path, name, more, expected):
    assert told(check(tmp_path, [ENTRY.format(name=name, more=more)])) == expected


def test_an_entry_without_a_supplier_says_nothing(tmp_path):
    entry = "{kind: ConfigMap, name: sharing, supplier: TODO, reason: elsewhere, owner: gpu, expires: '2027-01-31'}"

    assert told(check(tmp_path, [entry])) == {"name-of-nobody", "unexplained-external-name"}


def test_a_run_over_a_part_says_nothing_of_unused_entries(tmp_path):
    check(tmp_path, [ENTRY.format(name="other", more="expires: '2027-01-31'")])

    outcome = check_paths(tmp_path, [tmp_path / "gpu"], today=TODAY)

    assert told(outcome) == {"name-of-nobody"}


def test_a_book_without_entries_has_nothing():
    assert not ExternalBook((), TODAY).has("ConfigMap", "a", None, "")
