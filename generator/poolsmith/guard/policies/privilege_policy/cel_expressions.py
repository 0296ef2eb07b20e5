"""The fixed expressions of the privilege policy, in the CEL of Kubernetes 1.30.

They turn each container of a pod into texts: who it is (`key`), which privileges it wants (`wants`, the tokens of the
ledger) and what else it has that would let somebody run code of their own (`has`). The data says which texts belong
to which key. `poolsmith.guard.ledger.claims.pod_claims` makes the same texts of predicted pods.

Lists have no `flatten` in Kubernetes 1.30 and values no `cel.bind`: a list of one with `map` replaces the latter.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from poolsmith.guard.ledger.claims.pod_fields import (
    CONTAINER_FIELDS_WITHOUT_CLAIM,
    CONTEXT_FIELDS_WITHOUT_CLAIM,
    MESSAGE_PATH,
    POD_CONTEXT_FIELDS_WITHOUT_CLAIM,
    POD_FIELDS_WITHOUT_CLAIM,
    TOKEN_VOLUME,
)
from poolsmith.kubernetes.pods.well_known import (
    PRIVILEGED_ANNOTATIONS,
    RUNTIME_ANNOTATIONS,
    TOKEN_PATH,
    VOLUMES_WITHOUT_PRIVILEGE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


_WIDTH = 110
_SPACELESS = "string({}).replace('%', '%25').replace(' ', '%20')"
"""Of texts that are followed by a word and another text."""
_BARLESS = "string({}).replace('%', '%25').replace('|', '%7C')"
"""Of texts that are joined with bars."""
_NAME = "string({}).replace('%', '%25').replace('<', '%3C')"
"""Of variables; what follows their name begins with = or <."""

_LOOSENED = """h.own.?capabilities.?add.orValue([]).map(n, 'capability:' + string(n))
      + (h.seccomp.?type.orValue('') == 'Unconfined' ? ['seccomp:unconfined'] : [])
      + (h.appArmor.?type.orValue('') == 'Unconfined'
         || variables.pod.metadata.?annotations.orValue({})
              [?'container.apparmor.security.beta.kubernetes.io/' + h.it.name].orValue('') == 'unconfined'
         ? ['apparmor:unconfined'] : [])
      + h.seLinux.filter(t, t.startsWith('type:')).map(t, 'selinux:' + string(t).substring(5))
      + (h.own.?procMount.orValue('') == 'Unmasked' ? ['proc-mount:unmasked'] : [])"""
"""What a security context takes away of a container's confinement, as tokens of the ledger."""


def _listed(values: Iterable[str], indent: str) -> str:
    """A list of texts that hold neither quotes nor backslashes, over several lines."""
    lines = wrap(", ".join(f"'{value}'" for value in values), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "[\n" + "".join(f"{indent}  {line}\n" for line in lines) + f"{indent}]"


def _images(of: str) -> str:
    return (
        f"{of}.spec.containers.map(c, [string(c.name), string(c.image)])\n"
        f"   + {of}.spec.?initContainers.orValue([]).map(c, [string(c.name), string(c.image)])\n"
        f"   + {of}.spec.?ephemeralContainers.orValue([]).map(c, [string(c.name), string(c.image)])"
    )


CHANGES_CONTAINERS = f"""\
// an update that changes no container, no image and no annotation that is looked at passes: labels, finalizers
request.operation != 'UPDATE'
|| {_images("object")}
   != {_images("oldObject")}
|| object.metadata.?annotations.orValue({{}}).filter(k, {_listed(PRIVILEGED_ANNOTATIONS + RUNTIME_ANNOTATIONS, "  ")}
  .exists(word, k.contains(word)))
  .exists(k, !(k in oldObject.metadata.?annotations.orValue({{}}))
    || oldObject.metadata.annotations[k] != object.metadata.annotations[k])
"""

POD = """\
// untyped: fields are looked at by name
dyn(object)
"""

ACCOUNT = """\
request.namespace + '/' + variables.pod.spec.?serviceAccountName.orValue('default')
"""

WHOLE = """\
// what containers do not say themselves
variables.pod.spec.?securityContext.orValue({})
"""

CONTAINERS = """\
variables.pod.spec.?initContainers.orValue([]).map(c, {'sort': dyn('init'), 'it': dyn(c)})
+ variables.pod.spec.containers.map(c, {'sort': dyn('main'), 'it': dyn(c)})
+ variables.pod.spec.?ephemeralContainers.orValue([]).map(c, {'sort': dyn('ephemeral'), 'it': dyn(c)})
"""

VOLUMES = f"""\
// host: the path of a host path volume, else empty; source: what any other volume holds
variables.pod.spec.?volumes.orValue([]).map(v, {{
  'name': string(v.name),
  'host': has(v.hostPath) ? {_SPACELESS.format("v.hostPath.path")} : '',
  'kind': v.filter(k, k != 'name').map(k, string(k)).join('|'),
  'source':
    has(v.configMap) ?
      'config-map:' + v.configMap.?name.orValue('')
      + v.configMap.?items.orValue([]).map(i, '[' + i.key + '=' + {_SPACELESS.format("i.path")} + ']').join('')
    : has(v.secret) ?
      'secret:' + v.secret.?secretName.orValue('')
      + v.secret.?items.orValue([]).map(i, '[' + i.key + '=' + {_SPACELESS.format("i.path")} + ']').join('')
    : has(v.persistentVolumeClaim) ?
      'persistent-volume-claim:' + string(v.persistentVolumeClaim.claimName)
    : has(v.emptyDir) ?
      'empty-dir'
    // what the API server itself adds for the service account
    : has(v.projected) && v.projected.?sources.orValue([]).all(s,
        has(s.serviceAccountToken) ?
          s.serviceAccountToken.path == 'token' && s.serviceAccountToken.?audience.orValue('') == ''
        : has(s.configMap) ?
          s.configMap.?name.orValue('') == 'kube-root-ca.crt'
          && s.configMap.?items.orValue([]).all(i, i.key == i.path)
        : has(s.downwardAPI) && s.downwardAPI.?items.orValue([]).all(i,
            i.path == 'namespace' && i.?fieldRef.?fieldPath.orValue('') == 'metadata.namespace')
      ) ?
      '{TOKEN_VOLUME}'
    : v.filter(k, k != 'name').map(k, string(k)).join('|')
}})
"""

UNMOUNTED = f"""\
variables.volumes.filter(v,
  v.source != '{TOKEN_VOLUME}'
  && !variables.containers.exists(c, c.it.?volumeMounts.orValue([]).exists(m, m.name == v.name))
)
"""

POD_WANTS = f"""\
(variables.pod.spec.?hostPID.orValue(false) ? ['host-pid'] : [])
+ (variables.pod.spec.?hostIPC.orValue(false) ? ['host-ipc'] : [])
+ (variables.pod.spec.?hostNetwork.orValue(false) ? ['host-network'] : [])
+ variables.whole.?sysctls.orValue([]).map(s, 'sysctl:' + string(s.name))
+ variables.unmounted.filter(v, v.host != '').map(v, 'host-path:' + v.host + ':rw:none')
+ variables.volumes.filter(v, v.host == '' && !(v.kind in {_listed(VOLUMES_WITHOUT_PRIVILEGE, "  ")}
  )).map(v, 'volume:' + v.kind)
// annotations by which container runtimes give devices, mounts and the like
+ variables.pod.metadata.?annotations.orValue({{}}).filter(k, {_listed(PRIVILEGED_ANNOTATIONS, "  ")}
  .exists(word, k.contains(word)))
  .map(k, 'annotation:' + string(k) + '=' + string(variables.pod.metadata.annotations[k]))
"""

POD_HAS = f"""\
// each field but those that are looked at elsewhere, and those that run no code of somebody else's
variables.pod.spec.filter(k, !(k in {_listed(POD_FIELDS_WITHOUT_CLAIM, "  ")}
  )).map(k, 'pod:' + string(k) + (type(variables.pod.spec[k]) == string ? '=' + string(variables.pod.spec[k]) : ''))
+ (variables.pod.spec.?shareProcessNamespace.orValue(false) ? ['pod:shareProcessNamespace'] : [])
+ variables.whole.filter(k, !(k in {_listed(POD_CONTEXT_FIELDS_WITHOUT_CLAIM, "  ")}
  )).map(k, 'pod:securityContext.' + string(k)
    + (type(variables.whole[k]) == int ? '=' + string(variables.whole[k]) : ''))
// annotations that container runtimes act on
+ variables.pod.metadata.?annotations.orValue({{}}).filter(k, {_listed(RUNTIME_ANNOTATIONS, "  ")}
  .exists(word, k.contains(word)))
  .map(k, 'annotation:' + string(k) + '=' + string(variables.pod.metadata.annotations[k]))
+ variables.unmounted.filter(v, v.host == '').map(v, 'volume:' + v.source)
// which devices: a claim, or the template of one
+ variables.pod.spec.?resourceClaims.orValue([]).map(c, 'claim:' + {_NAME.format("c.name")}
    + c.filter(k, k != 'name').map(k, '<' + string(k) + (type(c[k]) == string ? '=' + string(c[k]) : '')).join(''))
"""

HOLDERS = f"""\
// each container with what its own security context and the pod's come to
variables.containers.map(c, [c.it.?securityContext.orValue({{}})].map(own, {{
  'sort': c.sort,
  'it': c.it,
  'own': dyn(own),
  // neither digest nor tag, but the port of its registry
  'repository': dyn([string(c.it.image).split('@')[0]].map(i,
    [i.split('/')].map(p, p[p.size() - 1]).map(last,
      last == '' ? i : i.substring(0, i.size() - last.size()) + last.split(':')[0])[0]
  )[0]),
  'privileged': dyn(
    own.?privileged.orValue(false)
    || own.?windowsOptions.?hostProcess.or(variables.whole.?windowsOptions.?hostProcess).orValue(false)
  ),
  // -1: not said
  'user': dyn(own.?runAsUser.or(variables.whole.?runAsUser).orValue(-1)),
  'group': dyn(own.?runAsGroup.or(variables.whole.?runAsGroup).orValue(-1)),
  'mustBeRoot': dyn(!own.?runAsNonRoot.or(variables.whole.?runAsNonRoot).orValue(true)),
  'neverRoot': dyn(own.?runAsNonRoot.or(variables.whole.?runAsNonRoot).orValue(false)),
  'appArmor': dyn(own.?appArmorProfile.or(variables.whole.?appArmorProfile).orValue({{}})),
  'seccomp': dyn(own.?seccompProfile.or(variables.whole.?seccompProfile).orValue({{}})),
  // field by field: of an empty block, the runtime takes what the pod has
  'seLinux': dyn(['type', 'user', 'role', 'level'].map(f,
    [f, string(own.?seLinuxOptions[?f].or(variables.whole.?seLinuxOptions[?f]).orValue(''))]
  ).filter(p, p[1] != '').map(p, p[0] + ':' + p[1])),
  'mounts': dyn(c.it.?volumeMounts.orValue([]).map(m,
    variables.volumes.filter(v, v.name == m.name).map(v,
      (v.host == '' ?
        'mount:' + v.source
        : 'host-path:' + v.host
          + (m.?readOnly.orValue(false) ? ':ro' : ':rw')
          + (m.?mountPropagation.orValue('None') == 'Bidirectional' ? ':bidirectional'
             : m.?mountPropagation.orValue('None') == 'HostToContainer' ? ':host-to-container'
             : ':none'))
      + ' at ' + {_SPACELESS.format("m.mountPath")}
      + (m.?subPath.orValue('') == '' ? '' : ' subPath ' + {_SPACELESS.format("m.subPath")})
      + (m.?subPathExpr.orValue('') == '' ? '' : ' subPathExpr ' + {_SPACELESS.format("m.subPathExpr")})
    )[0]
  ))
}})[0])
"""

ASKED = f"""\
variables.holders.map(h, {{
  'name': [string(h.it.name)],
  // sort|namespace/account|name|repository|c:<each word of the command>|a:<each argument>
  'key': [
    (
      [string(h.sort), variables.account, string(h.it.name)]
      + [{_BARLESS.format("h.repository")}]
      + h.it.?command.orValue([]).map(w, 'c:' + {_BARLESS.format("w")})
      + h.it.?args.orValue([]).map(w, 'a:' + {_BARLESS.format("w")})
    ).join('|')
  ],
  // tokens of the ledger
  'wants':
    (h.privileged ? ['privileged'] :
      (h.own.?allowPrivilegeEscalation.orValue(true) ? ['allow-escalation'] : [])
      + {_LOOSENED}
    )
    + (h.user == 0 || (h.user == -1 && h.mustBeRoot) ? ['run-as-root'] : [])
    // a pod in the network of its node has the ports of its containers there
    + (variables.pod.spec.?hostNetwork.orValue(false) ? [] :
        h.it.?ports.orValue([]).filter(p, p.?hostPort.orValue(0) != 0).map(p, 'host-port:' + string(p.hostPort)))
    + h.mounts.map(m, string(m)).filter(m, m.startsWith('host-path:'))
    + variables.podWants,
  // what else tells it from a container with other code
  'has':
    h.mounts.map(m, string(m)).filter(m, m.startsWith('mount:') && m != 'mount:{TOKEN_VOLUME} at {TOKEN_PATH}')
    + h.it.?env.orValue([]).map(e, 'env:' + {_NAME.format("e.name")} + (
        !has(e.valueFrom) ? '=' + e.?value.orValue('')
        : has(e.valueFrom.fieldRef) ? '<field:' + string(e.valueFrom.fieldRef.fieldPath)
        : has(e.valueFrom.secretKeyRef) ?
          '<secret:' + e.valueFrom.secretKeyRef.?name.orValue('') + '/' + string(e.valueFrom.secretKeyRef.key)
        : has(e.valueFrom.configMapKeyRef) ?
          '<config-map:' + e.valueFrom.configMapKeyRef.?name.orValue('') + '/' + string(e.valueFrom.configMapKeyRef.key)
        : '<' + e.valueFrom.map(k, string(k)).join('|')
      ))
    + h.it.?envFrom.orValue([]).map(e, 'env-from:' + e.?prefix.orValue('') + '<'
        + e.filter(k, k != 'prefix').map(k, string(k) + ':' + e[k].?name.orValue('')).join('|'))
    + ['livenessProbe', 'readinessProbe', 'startupProbe'].filter(p, p in h.it && has(h.it[p].exec)).map(p,
        p + ':' + h.it[p].exec.?command.orValue([])
          .map(w, {_BARLESS.format("w")}).join('|')
      )
    + ['livenessProbe', 'readinessProbe', 'startupProbe'].filter(p,
        p in h.it && h.it[p].?httpGet.?host.orValue('') + h.it[p].?tcpSocket.?host.orValue('') != ''
      ).map(p, p + '<other host')
    + ['postStart', 'preStop'].filter(p, p in h.it.?lifecycle.orValue({{}})).map(p,
        p + ':' + (has(h.it.lifecycle[p].exec)
          ? h.it.lifecycle[p].exec.?command.orValue([])
              .map(w, {_BARLESS.format("w")}).join('|')
          : '<' + h.it.lifecycle[p].map(k, string(k)).join('|')
            + h.it.lifecycle[p].?httpGet.?host.orValue('') + h.it.lifecycle[p].?tcpSocket.?host.orValue(''))
      )
    + h.it.filter(k, !(k in {_listed(CONTAINER_FIELDS_WITHOUT_CLAIM, "      ")}
      )).map(k, 'field:' + string(k) + (type(h.it[k]) == string ? '=' + string(h.it[k]) : ''))
      // a file is mounted there
      .filter(t, t != 'field:terminationMessagePath={MESSAGE_PATH}')
    + h.it.?resources.?claims.orValue([]).map(c, 'claims:' + {_NAME.format("c.name")}
        + (c.?request.orValue('') == '' ? '' : '<' + string(c.request)))
    + h.own.filter(k, !(k in {_listed(CONTEXT_FIELDS_WITHOUT_CLAIM, "      ")}
      )).map(k, 'field:securityContext.' + string(k))
    // ports of a pod in the network of its node
    + (variables.pod.spec.?hostNetwork.orValue(false) ?
        h.it.?ports.orValue([]).filter(p, p.?hostPort.orValue(0) != 0).map(p, 'host-port:' + string(p.hostPort)) : [])
    // what a privileged container has anyway: no privilege more, but another container
    + (h.privileged ? ({_LOOSENED}).map(t, 'also:' + t) :
      ('ALL' in h.own.?capabilities.?drop.orValue([]) ? [] : ['default-capabilities'])
      + (h.own.?readOnlyRootFilesystem.orValue(false) ? [] : ['writable-root'])
      + (h.user > 0 ? ['user:' + string(h.user)] : [])
      + (h.user == -1 && !h.neverRoot ? ['user-of-image'] : [])
      + (h.group == -1 ? [] : ['group:' + string(h.group)])
      + [h.seccomp.?localhostProfile.orValue('')].filter(t, t != '').map(t, 'seccomp:' + string(t))
      + [h.appArmor.?localhostProfile.orValue('')].filter(t, t != '').map(t, 'appArmor:' + string(t))
      + h.seLinux.filter(t, !t.startsWith('type:')).map(t, 'selinux-' + string(t))
    )
    + variables.podHas
}})
"""

RESERVED = """\
// where a service account or an image of a predicted workload is used, every container must be a known one
variables.account in variables.accounts
|| variables.holders.exists(h, h.repository in variables.repositories)
"""

PROBLEMS = """\
// the first of each container; `known` are the texts of its key: one list, or none
variables.asked.map(a,
  [
    variables.identities.filter(i, a.key[0] in i).map(i, i[a.key[0]])
      .map(f, variables.forms.filter(o, f in o).map(o, o[f])[0])
  ].map(known,
    !variables.reserved ? a.wants.map(t, ' wants ' + t + ', which no PrivilegeGrant gives it')
    : known.size() == 0 ?
      a.wants.map(t, ' wants ' + t + ', which no PrivilegeGrant gives to ' + a.key[0])
      + [' is not predicted: ' + a.key[0]]
    : a.wants.filter(t, !(t in known[0])).map(t, ' wants ' + t + ', which no PrivilegeGrant gives it')
      // env:NAME stands for any value of it
      + a.has.filter(t, !(t in known[0] || (t.startsWith('env:') && t.split('=')[0] in known[0])))
        .map(t, ' has ' + t + ', which it is not predicted to have')
  )[0].map(t, 'container ' + a.name[0] + ' of service account ' + variables.account + t)
).filter(texts, texts.size() > 0).map(texts, texts[0].replace('\\n', ' ').replace('\\r', ' '))
"""

VALID = """\
variables.problems.size() == 0
"""

MESSAGE = """\
[variables.problems.map(t, t.size() > 400 ? t.substring(0, 400) + '...' : t)].map(texts,
  texts.size() > 2 ? texts[0] + '; ' + texts[1] + '; and ' + string(texts.size() - 2) + ' more containers'
  : texts.join('; ')
)[0] + '; see policies/privileges/'
"""

AUDIT = """\
[variables.problems.join('; ')].map(t, t.size() > 4000 ? t.substring(0, 4000) + '...' : t)[0]
"""
