"""What a file beside the output would do to those who deliver it, told by its name.

Sources: argo-cd:util/app/discovery and reposerver/repository (build tools, `.argocd-source*.yaml`),
kustomize:api/konfig (names of kustomizations), fluxcd/source-controller (`.sourceignore`),
fluxcd/kustomize-controller (a folder without a kustomization gets one of all its manifests).
"""

from __future__ import annotations

_KUSTOMIZATIONS = frozenset(("kustomization", "kustomization.yaml", "kustomization.yml"))
_OF_CHARTS = frozenset(("chart.yaml", "chart.yml", "chart.lock", "requirements.yaml", ".helmignore", "helmfile.yaml"))
_OF_CHARTS_ENDINGS = (".tpl", ".gotmpl", ".tgz")
_JSONNET_ENDINGS = (".jsonnet", ".libsonnet")
_JSONNET = frozenset(("jsonnetfile.json", "jsonnetfile.lock.json"))
_PLUGINS = frozenset(
    ("plugin.yaml", "plugin.yml", "kcl.mod", "tanka.json", "cue.mod", "devspace.yaml", "skaffold.yaml")
)
_PLUGIN_ENDINGS = (".cue", ".star", ".k", ".lua", ".sh", ".py", ".js", ".ts")
_MANIFESTS = (".yaml", ".yml", ".json")
_OF_GIT = (".gitattributes", ".gitmodules", ".gitignore", ".lfsconfig", ".git")
_IGNORE = (".sourceignore", ".krmignore")


def what_it_does(path: str) -> str:
    """Of a file in a delivered folder that nothing generated, in words that follow its name."""
    parts = path.casefold().split("/")
    name = parts[-1].strip(". ") if parts[-1].strip(". ") in _KUSTOMIZATIONS else parts[-1]
    if name in _KUSTOMIZATIONS:
        return "is a kustomization of its own: what it names would be applied, and could change what is generated"
    if name.startswith(".argocd"):
        return "would override the source of an Argo CD Application: its images, patches, parameters or build tool"
    if name in _OF_CHARTS or name.endswith(_OF_CHARTS_ENDINGS) or "templates" in parts[:-1] or "charts" in parts[:-1]:
        return "would be rendered by Helm, as a chart or as a part of one"
    if name.startswith("values") and name.endswith(_MANIFESTS):
        return "looks like Helm values that no profile gives"
    if name in _JSONNET or name.endswith(_JSONNET_ENDINGS):
        return "would be evaluated as Jsonnet, and applied"
    if name in _PLUGINS or name.endswith(_PLUGIN_ENDINGS):
        return "would make Argo CD choose a plugin, or be run by one"
    if name in _IGNORE:
        return "would hide generated files from Flux, which then builds the folder without them"
    if name in _OF_GIT:
        return "would change what git, reviewers and delivery see of the generated files"
    if name.endswith(_MANIFESTS):
        return "is a manifest that no profile explains: where the folder is applied as it stands, so is this"
    return "is not generated from a profile"
