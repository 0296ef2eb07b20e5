"""Schemas in `check`: versions, lists, patches, unknown kinds, bounds, and a second opinion that is not there."""

from __future__ import annotations

import json
import time

import pytest

from poolsmith.core.diagnostics import UsageError
from poolsmith.guard.rules.schema.kubeconform import second_opinion
from poolsmith.guard.rules.schema.object_schemas import Against, judge_schemas
from poolsmith.guard.rules.schema.schema_rules import MOST_PER_FILE, MOST_PER_OBJECT
from poolsmith.interface.app import check_paths
from poolsmith.kubernetes.repository.manifest_files import CheckedDocument, CheckedTree

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: b}]\n"
POLICY = "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: cluster-policy}\nspec: {}\n"


@pytest.fixture
def check(write_files):
    def run(files, **options):
        root = write_files(files if isinstance(files, dict) else {"a.yaml": files})
        return check_paths(root, [root], **options, everything=True)

    return run


def found(outcome):
    return [f"{item.primary.span} {item.code} {item.severity}" for item in outcome.diagnostics]


def test_a_sound_object_is_counted_as_validated(check):
    outcome = check(POD)

    assert found(outcome) == []
    assert outcome.checked["validated objects"] == 1
    assert outcome.facts == ("objects were validated with the schemas of Kubernetes 1.37 and no gpu-operator release",)


def test_findings_stand_at_their_lines_in_any_document_of_a_file(check):
    outcome = check(
        f"{POD}---\n{POD.replace('{name: a, image', '{nam: a, image').replace('{name: a}', '{name: b}')}  hostPid: 5\n"
    )

    assert found(outcome) == [
        "a.yaml:11:16 PSM310 error",
        "a.yaml:11:17 PSM311 error",
        "a.yaml:12:3 PSM311 error",
    ]


@pytest.mark.parametrize(("flag", "codes"), [("1.33", []), ("v1.33.4", []), ("1.25", ["PSM315"])])
def test_the_flag_chooses_the_kubernetes(check, flag, codes):
    text = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n"

    assert [item.code for item in check(text, kubernetes=flag).diagnostics] == codes


@pytest.mark.parametrize("options", [{"kubernetes": "1.24"}, {"kubernetes": "x"}, {"release": "v1"}])
def test_versions_without_schemas_are_wrong_flags(check, options):
    with pytest.raises(UsageError):
        check(POD, **options)


def test_an_unknown_release_is_skipped_counted_and_noted(check):
    outcome = check(f"{POLICY}---\n{POLICY.replace('cluster-policy', 'b')}")

    codes = [line.split()[1] for line in found(outcome)]
    assert set(codes) == {"PSM314", "PSM269", "PSM310"}, "each release asks for fields that are not there"
    assert outcome.checked["validated objects"] == 0
    assert ("2 x nvidia.com/v1 ClusterPolicy", "the gpu-operator release is unknown") in [
        (item.what, item.reason) for item in outcome.skipped
    ]


def test_a_release_is_judged_by_its_own_definition(check):
    text = POLICY.replace("{}", "{nonsense: 1}")

    assert "PSM311" in {item.code for item in check(text, release="v26.3.3").diagnostics}


def test_profiles_are_skipped(check):
    outcome = check("apiVersion: poolsmith/v1\nkind: Cluster\nmetadata: {name: a}\n")

    assert found(outcome) == []
    assert outcome.skipped[0].reason == "`poolsmith check` without a path checks them"


def test_lists_are_unfolded(check):
    outcome = check(
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, data: {a: 1}}\n- {kind: x}\n- 5\n"
    )

    assert found(outcome) == ["a.yaml:4:44 PSM310 error", "a.yaml:5:4 PSM310 error", "a.yaml:6:3 PSM310 error"]
    assert outcome.diagnostics[0].primary.pointer == "/items/0/data/a"
    assert outcome.checked["validated objects"] == 1
    assert outcome.skipped == ()


def test_a_patch_is_a_part_of_an_object(check):
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: [{path: patch.yaml}]\n"
    kustomization += "resources: [pod.yaml]\n"
    patch = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostPID: null, volumes: [{name: v, $patch: delete}], x: 1}\n"
    outcome = check({"kustomization.yaml": kustomization, "patch.yaml": patch, "pod.yaml": POD})

    (found,) = outcome.diagnostics
    assert (found.primary.pointer, found.primary.span.path) == ("/spec/x", "patch.yaml")


def test_null_that_tools_write_is_left_alone(check):
    assert found(check(POD.replace("{name: a}\nspec", "{name: a, creationTimestamp: null}\nspec"))) == []
    assert found(check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n")) == ["a.yaml:4:1 PSM312 note"]


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a}
spec:
  accessModes: ["${MODE:-ReadWriteOnce}"]
  resources:
    requests:
      storage: SIZE
"""


@pytest.mark.parametrize("size", ["${SIZE}", "${SIZE:=5Gi}", "${SIZE:-${OTHER}}", "'{{ size }}'"])
def test_a_value_that_is_filled_in_later_is_not_evaluated(check, size):
    outcome = check(CLAIM.replace("SIZE", size))

    assert (found(outcome), outcome.not_evaluated) == ([], 1)


def test_a_text_that_nothing_is_put_into_is_judged(check):
    assert found(check(CLAIM.replace("SIZE", "$SIZE"))) == ["a.yaml:8:7 PSM310 error"]


@pytest.mark.parametrize(
    "head", ["v1alpha1\nkind: UserVolumeConfig", "builtin\nkind: LabelTransformer", "v1\nkind: Config"]
)
def test_the_forms_of_tools_are_no_objects_of_kubernetes(check, head):
    outcome = check(f"{CONFIG_MAP}---\napiVersion: {head}\nmetadata: {{name: b}}\n")

    assert found(outcome) == []
    assert any("no object of Kubernetes" in item.reason for item in outcome.skipped)


@pytest.mark.parametrize("head", ["v1alpha1\nkind: Deployment", "v1\nkind: Servce"])
def test_kinds_of_kubernetes_at_a_wrong_version_or_with_a_typo_are_told(check, head):
    assert found(check(f"apiVersion: {head}\nmetadata: {{name: b}}\n")) == ["a.yaml:2:1 PSM315 error"]


def test_thousands_of_unknown_fields_end_in_a_bounded_report_in_bounded_time(check):
    fields = "".join(f"  unknown{number}: 1\n" for number in range(20_000))
    started = time.perf_counter()
    outcome = check(f"{POD}{fields}")

    assert len(outcome.diagnostics) == MOST_PER_OBJECT + 1
    assert any("19950 more" in item.message for item in outcome.diagnostics)
    assert time.perf_counter() - started < 60


def test_thousands_of_objects_with_mistakes_in_one_file_too(check):
    text = "---\n".join(
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{number}}}\ndta: {{}}\n" for number in range(1500)
    )
    started = time.perf_counter()
    outcome = check(text)

    assert sum(item.code == "PSM311" for item in outcome.diagnostics) == MOST_PER_FILE
    assert time.perf_counter() - started < 60


def test_a_missing_kubeconform_is_said(check, monkeypatch):
    monkeypatch.setenv("PATH", "")
    outcome = check(POD, kubeconform="")

    assert [(item.what, item.reason) for item in outcome.skipped] == [("kubeconform", "skipped: kubeconform not found")]


def test_what_is_no_program_is_a_wrong_flag(check, tmp_path):
    with pytest.raises(UsageError, match="not a program"):
        check(POD, kubeconform=str(tmp_path))


@pytest.fixture
def fake(tmp_path):
    """A kubeconform that answers as it is told."""

    def make(answer, *, code=0, stderr=""):
        program = tmp_path / "fake-kubeconform"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\necho '{stderr}' >&2\nexit {code}\n")
        program.chmod(0o755)
        return str(program)

    return make


def verdicts(text, path="a.yaml"):
    from poolsmith.core.sources.yaml_reader import read_documents

    documents = tuple(CheckedDocument(path, index, data, text) for index, data in enumerate(read_documents(text)))
    return judge_schemas(CheckedTree(documents, frozenset((path,))), Against(), keep_verdicts=True)


def resource(root, status, message="", kind="Pod", version="v1"):
    return {
        "filename": str(root / "a.yaml"),
        "kind": kind,
        "name": "a",
        "version": version,
        "status": status,
        "msg": message,
    }


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        (POD, {"status": "statusValid"}, (1, [], 0)),
        (
            POD,
            {"status": "statusInvalid", "message": "x - at '': validation failed   - at '/spec/containers/0/name': no"},
            (0, ["/spec/containers/0/name kubeconform refuses: no"], 0),
        ),
        (POD, {"status": "statusError", "message": "duplicate"}, (0, [" kubeconform refuses: duplicate"], 0)),
        (POD, {"status": "statusSkipped"}, (0, [], 1)),
        (POD + "  x: 1\n", {"status": "statusValid"}, (0, ["/spec/x kubeconform accepts what is refused here"], 0)),
        (POD + "  x: 1\n", {"status": "statusInvalid", "message": "x"}, (1, [], 0)),
        (
            POD,
            {"status": "statusError", "message": "bad yaml", "kind": "", "version": ""},
            (0, [" kubeconform can't read the file: bad yaml"], 0),
        ),
        (POD, {"status": "statusError", "message": "missing 'kind' key", "kind": "", "version": ""}, (0, [], 1)),
    ],
)
def test_verdicts_are_compared(fake, tmp_path, text, answer, expected):
    program = fake(json.dumps({"resources": [resource(tmp_path, **answer)]}))
    opinion = second_opinion(program, [verdicts(text)], lambda path: tmp_path / path)
    told = [f"{item.primary.pointer} {item.message.partition(': ')[2]}" for item in opinion.diagnostics]

    assert (opinion.agreed, told, len(opinion.skipped)) == expected


def test_bad_usage_is_told_by_the_absence_of_json(fake, tmp_path):
    with pytest.raises(UsageError, match="gave no result: flag provided but not defined"):
        second_opinion(
            fake("", code=1, stderr="flag provided but not defined"), [verdicts(POD)], lambda path: tmp_path / path
        )


def test_files_that_kubeconform_would_pass_over_are_not_sent(fake, tmp_path):
    opinion = second_opinion(fake("not json"), [verdicts(POD, "a.txt")], lambda path: tmp_path / path)

    assert [item.reason for item in opinion.skipped] == ["kubeconform reads only .yaml, .yml and .json"]
