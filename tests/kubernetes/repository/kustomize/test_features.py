"""Every feature of kustomizations, a row each, against the real kustomize."""

from __future__ import annotations

import pytest

from kubernetes.repository.kustomize.side_by_side import assert_same, ours, theirs, written
from poolsmith.kubernetes.repository.kustomize.build import Builder
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

pytestmark = pytest.mark.tool("kustomize")

WORKLOAD = """\
# file: base/app.yaml
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, labels: {tier: node}, annotations: {note: 1.10, old: yes}}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      serviceAccountName: agent
      tolerations: [{key: gpu, operator: Exists}]
      initContainers: [{name: wait, image: "registry:5000/tools/busybox:1.36@sha256:abc"}]
      containers:
      - name: main
        image: nvcr.io/nvidia/agent:1.0
        args: [--a]
        env: [{name: A, value: "1"}, {name: B, valueFrom: {configMapKeyRef: {name: settings, key: b}}}]
        ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}, {containerPort: 9400}]
        volumeMounts: [{mountPath: /a, name: a}]
      - {name: side, image: busybox}
      volumes:
      - {name: a, configMap: {name: settings}}
      - {name: p, projected: {sources: [{secret: {name: token}}]}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: agent}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: agent}
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [token], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: agent}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: agent}
subjects: [{kind: ServiceAccount, name: agent, namespace: gpu}, {kind: ServiceAccount, name: default}, {kind: Group, name: g}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: agent}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: agent}
subjects: [{kind: ServiceAccount, name: agent, namespace: gpu}]
---
apiVersion: v1
kind: Service
metadata: {name: agent}
spec: {selector: {app: agent}, ports: [{port: 80}, {port: 443, name: https}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: gpu}
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: cluster-policy}
spec: {driver: {enabled: true, env: [{name: A, value: "1"}]}, toolkit: {image: toolkit, flags: [on, 010, null]}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
# file: base/kustomization.yaml
resources: [app.yaml]
"""

KUSTOMIZATIONS = {
    "nothing but resources": "",
    "namespace": "namespace: other",
    "prefix and suffix": "namePrefix: p-\nnameSuffix: -s",
    "namespace and prefix": "namespace: other\nnamePrefix: p-",
    "labels": "labels: [{pairs: {a: b}}]",
    "labels in templates": "labels: [{pairs: {a: b}, includeTemplates: true}]",
    "labels in selectors": "labels: [{pairs: {a: b}, includeSelectors: true}]",
    "labels in fields": "labels: [{pairs: {a: b}, fields: [{path: spec/driver/labels, kind: ClusterPolicy, create: true}]}]",
    "common labels": "commonLabels: {a: b, app: other}",
    "common annotations": "commonAnnotations: {a: b}",
    "annotations that are no text": "commonAnnotations: {a: 1}",
    "images": "images: [{name: nvcr.io/nvidia/agent, newTag: '2.0'}, {name: busybox, newName: mine/busybox}]",
    "an image by digest": "images: [{name: 'registry:5000/tools/busybox', digest: 'sha256:def'}]",
    "an image by suffix": "images: [{name: nvcr.io/nvidia/agent, tagSuffix: -ubi}]",
    "an image by expression": "images: [{name: 'nvcr.io/.*/agent', newTag: x}]",
    "a namespace that is none": "namespace: n",
    "a field that is none": "patchs: []",
    "operations that are no JSON": "patches: [{target: {kind: Gone}, patch: '[{op: remove, path: /spec/gone}]'}]",
    "an image with a tag as a number": "images: [{name: web, newTag: 1.2}]",
    "replicas": "replicas: [{name: web, count: 3}]",
    "replicas of nothing": "replicas: [{name: gone, count: 3}]",
    "a patch that is merged": """\
patches:
- patch: |
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: agent}
    spec:
      template:
        spec:
          tolerations: [{operator: Exists}]
          containers:
          - name: side
            env: [{name: C, value: c}]
          - name: new
            image: new
          - name: main
            env: [{name: A, value: "2"}, {name: B, $patch: delete}]
            args: null
            ports: [{containerPort: 9400, name: metrics}]
            volumeMounts: [{mountPath: /b, name: b}]
""",
    "a list that is replaced": """\
patches:
- patch: |
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: agent}
    spec: {template: {spec: {containers: [{$patch: replace}, {name: only, image: only}]}}}
""",
    "an item that is replaced": """\
patches:
- patch: |
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: agent}
    spec: {template: {spec: {containers: [{name: side, $patch: replace, image: other}], volumes: [{name: a, $patch: delete}]}}}
""",
    "a mapping that is replaced": """\
patches:
- patch: |
    apiVersion: v1
    kind: Service
    metadata: {name: agent}
    spec: {selector: {$patch: replace, x: y}, ports: [{port: 443, targetPort: 1}]}
""",
    "an object that is deleted": """\
patches:
- patch: |
    $patch: delete
    apiVersion: v1
    kind: Service
    metadata: {name: agent}
""",
    "a custom object's lists": """\
patches:
- patch: |
    apiVersion: nvidia.com/v1
    kind: ClusterPolicy
    metadata: {name: cluster-policy}
    spec: {driver: {env: [{name: B, value: "2"}], enabled: null}, toolkit: {image: {a: b}}}
""",
    "a custom object's values": """\
patches:
- patch: |
    apiVersion: nvidia.com/v1
    kind: ClusterPolicy
    metadata: {name: cluster-policy}
    spec: {driver: {env: [{name: B, value: "2"}], enabled: null, new: {a: null, b: [null]}}}
  target: {kind: ClusterPolicy}
""",
    "a patch for many": """\
patches:
- target: {kind: 'Deployment|DaemonSet', name: 'a.*|web'}
  patch: |
    kind: Any
    metadata: {name: any, labels: {by: patch}}
""",
    "a patch by label": """\
patches:
- target: {labelSelector: 'tier in (node, other),!gone'}
  patch: |
    - {op: add, path: /metadata/labels/by, value: patch}
""",
    "a patch by annotation": """\
patches:
- target: {annotationSelector: note}
  patch: |
    - {op: add, path: /metadata/labels/by, value: patch}
""",
    "a patch by namespace": """\
patches:
- target: {namespace: default, kind: Service}
  patch: '[{"op": "remove", "path": "/spec/ports/0"}]'
""",
    "operations": """\
patches:
- target: {kind: DaemonSet}
  patch: |-
    - {op: replace, path: /spec/template/spec/containers/0/image, value: x}
    - {op: replace, path: /spec/new, value: x}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --b}
    - {op: add, path: /spec/template/spec/containers/0/args/0, value: --0}
    - {op: test, path: /metadata/labels/tier, value: node}
    - {op: move, from: /spec/new, path: /spec/newer}
    - {op: copy, from: /spec/newer, path: /metadata/labels/x~1y}
    - {op: remove, path: /spec/template/spec/containers/-1}
""",
    "an operation that fails": "patches: [{target: {kind: DaemonSet}, patch: '- {op: remove, path: /spec/gone}'}]",
    "a test that fails": "patches: [{target: {kind: DaemonSet}, patch: '- {op: test, path: /spec/gone, value: 1}'}]",
    "operations without a target": "patches: [{patch: '- {op: remove, path: /spec/gone}'}]",
    "a patch of nothing": "patches: [{patch: '{apiVersion: v1, kind: Service, metadata: {name: gone}}'}]",
    "a patch of another version": "patches: [{patch: '{apiVersion: nvidia.com/v1alpha1, kind: ClusterPolicy, metadata: {name: cluster-policy}}'}]",
    "a target that is not there": 'patches: [{target: {kind: Gone}, patch: \'[{"op": "remove", "path": "/spec/gone"}]\'}]',
    "a patch without a name": "patches: [{target: {kind: Service}, patch: '{kind: Service, spec: {type: NodePort}}'}]",
    "a patch with a new name": """\
patches:
- target: {kind: Service}
  options: {allowNameChange: true, allowKindChange: true}
  patch: |
    kind: Servant
    metadata: {name: renamed, namespace: ignored}
""",
    "the older patches": """\
patchesStrategicMerge:
- |-
  apiVersion: v1
  kind: Service
  metadata: {name: agent}
  spec: {type: NodePort}
patchesJson6902:
- target: {version: v1, kind: Service, name: agent}
  patch: '[{"op": "replace", "path": "/spec/type", "value": "LoadBalancer"}]'
""",
    "generators": """\
configMapGenerator:
- name: settings
  literals: [a=1, b="two words", "c='x'", d==, e=]
- name: stable
  options: {disableNameSuffixHash: true, labels: {l: m}, annotations: {note: o}, immutable: true}
  literals: [a=<&>]
secretGenerator:
- name: token
  type: example.com/token
  literals: [token=0123456789012345678901234567890123456789012345678901234567890123456789]
- {name: empty}
generatorOptions: {labels: {all: "yes"}}
""",
    "generators and a prefix": "namePrefix: p-\nnamespace: ns\nconfigMapGenerator: [{name: settings, namespace: ns, literals: [a=1]}]",
    "a generator that exists": "configMapGenerator: [{name: settings, literals: [a=1]}, {name: settings, literals: [a=1]}]",
    "a generator that merges nothing": "configMapGenerator: [{name: gone, behavior: merge, literals: [a=1]}]",
    "a literal that is none": "configMapGenerator: [{name: x, literals: [a]}]",
    "a key twice": "configMapGenerator: [{name: x, literals: [a=1, a=2]}]",
    "replacements": """\
replacements:
- source: {kind: Deployment, name: web, fieldPath: 'spec.template.spec.containers.[name=web].image'}
  targets:
  - select: {kind: DaemonSet}
    fieldPaths: ['spec.template.spec.containers.[name=side].image', 'spec.template.spec.initContainers.*.image']
  - select: {kind: ClusterPolicy}
    reject: [{name: other}]
    fieldPaths: [spec.toolkit.new.deep, 'metadata.labels.[example.com/x.y]']
    options: {create: true}
- source: {kind: Namespace, fieldPath: metadata.name}
  targets: [{select: {kind: Service}, fieldPaths: [metadata.name], options: {delimiter: '-', index: 1}}]
- sourceValue: "5"
  targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]
""",
    "a replacement of nothing": "replacements: [{sourceValue: a, targets: [{select: {kind: Service}, fieldPaths: [spec.gone]}]}]",
    "a replacement by a word": "replacements: [{sourceValue: a, targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]}]",
    "a replacement from two": "replacements: [{source: {name: agent}, targets: [{select: {kind: Service}, fieldPaths: [spec.x]}]}]",
    "transformers": """\
namespace: first
transformers:
- |-
  apiVersion: builtin
  kind: NamespaceTransformer
  metadata: {name: x, namespace: second}
  setRoleBindingSubjects: allServiceAccounts
  unsetOnly: false
- |-
  apiVersion: builtin
  kind: PrefixTransformer
  metadata: {name: x}
  prefix: only-
  fieldSpecs: [{kind: Service, path: metadata/name}]
- |-
  apiVersion: builtin
  kind: PatchTransformer
  metadata: {name: x}
  target: {kind: Service}
  patch: '[{"op": "add", "path": "/spec/x", "value": 1}]'
- |-
  apiVersion: builtin
  kind: LabelTransformer
  metadata: {name: x}
  labels: {late: "yes"}
  fieldSpecs: [{path: metadata/labels, create: true}]
- |-
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata: {name: x}
  annotations: {late: "yes"}
  fieldSpecs: [{path: metadata/annotations, create: true, kind: Service}]
""",
    "generators as plugins": """\
generators:
- |-
  apiVersion: builtin
  kind: ConfigMapGenerator
  metadata: {name: settings}
  literals: [a=1]
""",
    "the order of resources": "sortOptions: {order: fifo}",
    "an order of one's own": "sortOptions: {order: legacy, legacySortOptions: {orderFirst: [Service], orderLast: [Namespace]}}",
    "variables": """\
vars: [{name: NAME, objref: {apiVersion: v1, kind: Service, name: agent}, fieldref: {fieldpath: metadata.name}}]
patches:
- target: {kind: DaemonSet}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/args, value: [--x=$(NAME), $(NAME), $(OTHER), $$(NAME)]}
""",
    "a resource that is there already": "resources: [../base/app.yaml]",
    "a file that is outside": "patches: [{path: ../base/app.yaml}]",
}
ALREADY_HAS_RESOURCES = frozenset(("a resource that is there already",))


@pytest.mark.parametrize("name", KUSTOMIZATIONS)
def test_a_feature_is_built_as_kustomize_builds_it(name, tmp_path):
    top = "# file: top/kustomization.yaml\nresources: [../base]\n"
    text = KUSTOMIZATIONS[name]
    if name in ALREADY_HAS_RESOURCES:
        top, text = (
            "# file: top/kustomization.yaml\nresources:\n- ../base\n- twice.yaml\n",
            ("# file: top/twice.yaml\n{apiVersion: v1, kind: Service, metadata: {name: agent}}\n"),
        )
    written(tmp_path, f"{WORKLOAD}{top}{text}")

    assert_same(tmp_path, "top")


FOLDERS = {
    "components, one after the other": """\
# file: top/kustomization.yaml
resources: [object.yaml]
components: [../one, ../two]
nameSuffix: -s
# file: top/object.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}
# file: one/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
namespace: one
configMapGenerator: [{name: b, literals: [x=y]}]
# file: two/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches: [{target: {kind: ConfigMap}, patch: '[{"op": "add", "path": "/data/two", "value": "2"}]'}]
""",
    "generated twice and merged": """\
# file: top/kustomization.yaml
resources: [../base]
namePrefix: top-
configMapGenerator:
- {name: a, behavior: merge, literals: [x=top, z=top], options: {labels: {by: top}}}
- {name: b, behavior: replace, literals: [only=top]}
- {name: plain, behavior: merge, literals: [k=top]}
# file: base/kustomization.yaml
namePrefix: base-
resources: [pod.yaml]
configMapGenerator:
- {name: a, literals: [x=base, y=base]}
- {name: b, literals: [x=base]}
# file: base/pod.yaml
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec:
  containers: [{name: c, envFrom: [{configMapRef: {name: a}}, {configMapRef: {name: b}}]}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}, data: {k: v}}
""",
    "two bases with the same names": """\
# file: top/kustomization.yaml
resources: [../a, ../b]
# file: a/kustomization.yaml
resources: [../base]
namePrefix: a-
# file: b/kustomization.yaml
resources: [../base]
namePrefix: b-
# file: base/kustomization.yaml
resources: [pod.yaml]
configMapGenerator: [{name: c, literals: [x=y]}]
# file: base/pod.yaml
{apiVersion: v1, kind: Pod, metadata: {name: pod}, spec: {containers: [{name: c, envFrom: [{configMapRef: {name: c}}]}]}}
""",
    "two namespaces": """\
# file: top/kustomization.yaml
resources: [../a, ../b]
nameSuffix: -s
# file: a/kustomization.yaml
resources: [../base]
namespace: a
# file: b/kustomization.yaml
resources: [../base]
namespace: b
# file: base/kustomization.yaml
resources: [pod.yaml]
# file: base/pod.yaml
{apiVersion: v1, kind: Pod, metadata: {name: pod}, spec: {serviceAccountName: s, volumes: [{name: a, secret: {secretName: x}}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: s}}
---
{apiVersion: v1, kind: Secret, metadata: {name: x}}
""",
    "files of generators": """\
# file: top/kustomization.yaml
configMapGenerator:
- name: files
  files: [a.txt, renamed=b/a.txt]
  envs: [c.env]
secretGenerator: [{name: env, env: c.env}]
# file: top/a.txt
one
  two
# file: top/b/a.txt
last line without an end
# file: top/c.env
# comment

A=1
  B = 2
""",
    "variables of a file": """\
# file: top/kustomization.yaml
configMapGenerator: [{name: files, envs: [c.env]}]
# file: top/c.env
A=1
  B=two words
C
D="quoted"
""",
    "lists and local objects": """\
# file: top/kustomization.yaml
resources: [list.yaml]
namespace: ns
# file: top/list.yaml
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, annotations: {config.kubernetes.io/local-config: "true"}}}
---
{apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]}
---
# nothing
""",
    "files of patches": """\
# file: top/kustomization.yaml
resources: [object.yaml]
bases: [../base]
patches: [{path: many.yaml}, {path: operations.json, target: {kind: ConfigMap, name: b}}]
patchesStrategicMerge: [merge.yaml]
configurations: [names.yaml]
namePrefix: p-
# file: top/object.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}
---
{apiVersion: example.com/v1, kind: User, metadata: {name: u}, spec: {map: a, maps: [{name: b}]}}
# file: base/kustomization.yml
resources: [object.yaml]
# file: base/object.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {k: v}}
# file: top/many.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {many: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {many: "2"}}
# file: top/operations.json
[{"op": "add", "path": "/data/json", "value": "3"}]
# file: top/merge.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {merge: "4"}}
# file: top/names.yaml
nameReference:
- kind: ConfigMap
  fieldSpecs: [{kind: User, path: spec/map}, {kind: User, path: spec/maps/name}]
""",
    "replacements and transformers in files": """\
# file: top/kustomization.yaml
resources: [object.yaml]
replacements: [{path: one.yaml}, {path: many.yaml}]
transformers: [plugins, prefix.yaml]
# file: top/object.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v, l: w}}
# file: top/one.yaml
source: {kind: ConfigMap, name: a, fieldPath: data.k}
targets: [{select: {kind: ConfigMap}, fieldPaths: [data.l]}]
# file: top/many.yaml
- sourceValue: x
  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k]}]
# file: top/prefix.yaml
{apiVersion: builtin, kind: PrefixSuffixTransformer, metadata: {name: x}, prefix: p-, suffix: -s, fieldSpecs: [{path: metadata/name}]}
# file: top/plugins/kustomization.yaml
resources: [namespace.yaml]
# file: top/plugins/namespace.yaml
{apiVersion: builtin, kind: NamespaceTransformer, metadata: {name: x, namespace: ns}, fieldSpecs: [{path: metadata/namespace, create: true}]}
""",
    "words that were booleans": """\
# file: top/kustomization.yaml
resources: [object.yaml]
# file: top/object.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a, annotations: {x: no, t: true, i: 08, f: 1.50}}
data:
  a: off
  b: 'off'
  c: true
  d: [y, Yes]
""",
    "webhooks and their service": """\
# file: top/kustomization.yaml
resources: [object.yaml]
namespace: ns
namePrefix: p-
# file: top/object.yaml
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: old}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
webhooks: [{name: a, clientConfig: {service: {name: hook, namespace: old}}}, {name: b, clientConfig: {url: "https://a"}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: users.example.com}
spec: {conversion: {webhook: {clientConfig: {service: {name: hook, namespace: old}}}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com}
spec: {service: {name: hook}}
""",
    "nulls under a patch": """\
# file: top/kustomization.yaml
resources: [object.yaml]
patches: [{target: {kind: Pod}, patch: '{apiVersion: v1, kind: Pod, metadata: {name: x, labels: {a: b}}}'}]
# file: top/object.yaml
apiVersion: v1
kind: Pod
metadata: {name: pod, creationTimestamp: null, labels: }
spec:
  affinity: {nodeAffinity: {a: null, b: ~}}
  nodeSelector:
  containers: [{name: c, resources: }]
  tolerations:
  - key:
    operator: Exists
""",
    "a namespace for two": """\
# file: top/kustomization.yaml
resources: [object.yaml]
namespace: ns
# file: top/object.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: y}}
""",
    "a component among resources": """\
# file: top/kustomization.yaml
resources: [../c]
# file: c/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
namespace: ns
""",
    "a kustomization among components": """\
# file: top/kustomization.yaml
components: [../c]
# file: c/kustomization.yaml
namespace: ns
""",
    "an object without a name": """\
# file: top/kustomization.yaml
resources: [object.yaml]
# file: top/object.yaml
{apiVersion: v1, kind: ConfigMap, metadata: {namespace: x}}
""",
    "a circle": """\
# file: top/kustomization.yaml
resources: [../other]
# file: other/kustomization.yaml
resources: [../top]
""",
}


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_are_built_as_kustomize_builds_them(name, tmp_path):
    written(tmp_path, FOLDERS[name])

    assert_same(tmp_path, "top")


def test_what_is_missing_is_unknown_and_not_refused(tmp_path):
    text = "# file: top/kustomization.yaml\nresources: [gone.yaml, object.yaml]\npatches: [{path: gone-too.yaml}]\n"
    written(tmp_path, f"{text}# file: top/object.yaml\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}}}\n")
    build = ours(tmp_path, "top")

    assert theirs(tmp_path, "top")[0] is None
    assert [item.name for item in build.objects] == ["ConfigMap/a"]
    assert len(build.unknown) == 2
    assert build.refused == ()


@pytest.mark.parametrize("text", ["[a]\n[a.b]\n  c = 1\n", "a: b\n"])
def test_a_resource_that_is_no_object_is_refused(tmp_path, text):
    written(tmp_path, f"# file: top/kustomization.yaml\nresources: [a.toml]\n# file: top/a.toml\n{text}")

    assert theirs(tmp_path, "top")[0] is None
    assert ours(tmp_path, "top").refused


def test_a_folder_without_a_kustomization_is_refused(tmp_path):
    written(tmp_path, "# file: top/kustomization.yaml\nresources: [inner]\n# file: top/inner/a.yaml\n{}\n")

    assert theirs(tmp_path, "top")[0] is None
    assert "a folder without a kustomization" in ours(tmp_path, "top").refused[0].what


def test_a_folder_that_has_nothing_but_what_kustomize_refuses_stops_nobody(tmp_path):
    inner = tmp_path / "deploy" / "start"
    inner.mkdir(parents=True)
    (inner / "config.yaml").write_text("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n")

    built = Builder(RepositoryFiles(tmp_path, [tmp_path])).folder("")

    assert built.objects == ()
    assert "no kind, or no name" in built.unknown[0].what
