"""Policies and requests whose verdicts Kubernetes' own evaluator has given; record.py asks it, recorded/ holds the answers.

Each question is named by what it shows; the names are the lines of the specification.
"""

from __future__ import annotations

import copy

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "tier": "front"}},
    "spec": {
        "replicas": 5,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]},
        },
    },
}
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "namespace": "shop"},
    "data": {"max": "3"},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"env": "prod"}}}
ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}}
WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop"},
    "spec": {"size": 3},
}
DEPLOYMENTS = {
    "operations": ["CREATE", "UPDATE"],
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "resources": ["deployments"],
}
ANYTHING = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
EVERYTHING = ANYTHING | {"resources": ["*/*"]}


def policy(*validations, rules=(ANYTHING,), match=None, name="p", **spec):
    """Validations are expressions, or whole entries."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": list(rules)} | (match or {}),
            "validations": [item if isinstance(item, dict) else {"expression": item} for item in validations],
            **spec,
        },
    }


def binding(actions=("Deny",), name="b", policy_name="p", **spec):
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": policy_name, "validationActions": list(actions), **spec},
    }


def changed(body, *path, to):
    """A copy with one value more; `to` None takes it away."""
    copied = copy.deepcopy(body)
    node = copied
    for key in path[:-1]:
        node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
    if to is None:
        node.pop(path[-1], None)
    else:
        node[path[-1]] = to
    return copied


def ask(asked, body=DEPLOYMENT, **rest):
    return {"policy": asked, "object": body, "namespaceObject": NAMESPACE, **rest}


def rule(**parts):
    return policy("false", rules=[DEPLOYMENTS | parts])


def message(expression, text=None, source="false", **rest):
    entry = {"expression": source, "messageExpression": expression} | ({"message": text} if text is not None else {})
    return policy(entry, **rest)


def annotated(value, validation="true", **spec):
    return policy(validation, auditAnnotations=[{"key": "k", "valueExpression": value}], **spec)


def condition(*expressions, **spec):
    conditions = [{"name": f"c{index}", "expression": text} for index, text in enumerate(expressions)]
    return policy("false", matchConditions=conditions, **spec)


def variable(*pairs, validations=("variables.a",), **spec):
    return policy(*validations, variables=[{"name": name, "expression": text} for name, text in pairs], **spec)


LONG = "'" + "x" * 5121 + "'"
KIB = "'" + "x" * 5120 + "'"

QUESTIONS = {
    # results
    "a true validation allows": ask(policy("object.spec.replicas == 5")),
    "a false validation denies": ask(policy("object.spec.replicas <= 3")),
    "all validations run": ask(policy("false", "true", "object.nothing.here == 1", "false")),
    "an error denies under Fail": ask(policy("object.nothing == 1")),
    "an error admits under Ignore": ask(policy("object.nothing == 1", failurePolicy="Ignore")),
    "a false result denies under Ignore": ask(policy("false", failurePolicy="Ignore")),
    "an error is absorbed by or": ask(policy("object.nothing == 1 || true")),
    "an error is absorbed by and": ask(policy("object.nothing == 1 && false")),
    "a missing key is absent, not null": ask(policy("!has(object.spec.paused)")),
    # static
    "dyn is no bool": ask(policy("object.spec.paused")),
    "dyn is no bool under Ignore": ask(policy("object.spec.paused", failurePolicy="Ignore")),
    "a compile error spoils its own validation only": ask(policy("object.spec.replicas + 1", "true")),
    "a string is no bool": ask(policy("'true'")),
    "a name that is not declared": ask(policy("objekt.spec.replicas == 1")),
    "a function that is not there": ask(policy("object.metadata.name.reverse() == 'x'")),
    "params without a paramKind": ask(policy("params == null")),
    "an unknown field of request": ask(policy("request.object.spec.replicas == 5")),
    "a literal list of mixed types": ask(policy("object.spec.replicas in [1, 'two']")),
    "a syntax error": ask(policy("object.spec.replicas ==")),
    "the type of a variable holds": ask(variable(("a", "object.metadata.name + 'x'"), validations=("variables.a == 1",))),
    "a variable that is not declared": ask(variable(("a", "true"), validations=("variables.b",))),
    "a later variable": ask(variable(("a", "variables.b"), ("b", "true"))),
    "a message expression that is no string falls back": ask(message("1 + 1", "plain")),
    "a message expression that does not compile falls back": ask(message("objekt", "plain")),
    "a message expression of dyn falls back": ask(message("object.metadata.name", "plain")),
    "a conditional of string and null is dyn": ask(annotated("has(object.a) ? object.a : null")),
    # match conditions
    "a false match condition skips": ask(condition("false")),
    "true match conditions do not": ask(condition("true", "object.spec.replicas == 5")),
    "a false condition wins over an error before it": ask(condition("object.nothing == 1", "false")),
    "a false condition wins over an error after it": ask(condition("false", "object.nothing == 1")),
    "an error in a condition denies under Fail": ask(condition("object.nothing == 1", "true")),
    "two errors in conditions": ask(condition("object.nothing == 1", "object.nobody == 1")),
    "an error in a condition skips under Ignore": ask(condition("object.nothing == 1", failurePolicy="Ignore")),
    "a compile error in a condition": ask(condition("object.spec.replicas", "true")),
    "a condition may use variables": ask(
        policy(
            "false",
            variables=[{"name": "a", "expression": "object.spec.replicas > 3"}],
            matchConditions=[{"name": "c", "expression": "!variables.a"}],
        )
    ),
    "conditions do not see the namespace": ask(condition("namespaceObject == null")),
    "a condition that needs the namespace fails": ask(condition("namespaceObject.metadata.name == 'shop'")),
    # variables
    "an unused variable that fails does no harm": ask(variable(("a", "object.nothing"), validations=("true",))),
    "a variable that fails is an error where it is used": ask(variable(("a", "object.nothing == 1"))),
    "a variable that fails is absorbed under or": ask(
        variable(("a", "object.nothing == 1"), validations=("variables.a || true",))
    ),
    "variables use earlier ones": ask(
        variable(("b", "object.spec.replicas"), ("a", "variables.b * 2 == 10"), validations=("variables.a",))
    ),
    "a variable that is never reached is not evaluated": ask(
        variable(("a", "1 / (object.spec.replicas - 5) == 1"), validations=("true || variables.a",))
    ),
    # messages
    "the expression where there is no message": ask(policy("  object.spec.replicas <= 3\n")),
    "the message, trimmed": ask(policy({"expression": "false", "message": "  too many \n"})),
    "the message expression over the message": ask(message("'got ' + string(object.spec.replicas)", "plain")),
    "a message expression is trimmed": ask(message("'  got it \\t'")),
    "a blank message expression falls back": ask(message("'   '", "plain")),
    "an empty message expression falls back to the expression": ask(message("''")),
    "a message of two lines falls back": ask(message("'one\\ntwo'", "plain")),
    "a line break at the end is trimmed": ask(message("'one\\n'", "plain")),
    "a message of 5 KiB": ask(message(KIB, "plain")),
    "a longer message falls back": ask(message(LONG, "plain")),
    "an error in the message falls back": ask(message("string(object.nothing)", "plain")),
    "no authorizer in a message": ask(message("string(authorizer == null)", "plain")),
    "a message may use variables": ask(
        variable(
            ("a", "object.spec.replicas"),
            validations=({"expression": "variables.a < 3", "messageExpression": "'got ' + string(variables.a)"},),
        )
    ),
    "a reason": ask(policy({"expression": "false", "reason": "Forbidden"})),
    # audit annotations
    "an annotation": ask(annotated("'replicas: ' + string(object.spec.replicas)")),
    "an annotation is trimmed": ask(annotated("'  x '")),
    "a blank annotation is left out": ask(annotated("' '")),
    "a null annotation is left out": ask(annotated("null")),
    "an annotation that fails": ask(annotated("string(object.nothing)")),
    "an annotation that fails under Ignore": ask(annotated("string(object.nothing)", failurePolicy="Ignore")),
    "an annotation of bool": ask(annotated("true")),
    "an annotation beside a denial": ask(annotated("'x'", validation="false")),
    # matchConstraints
    "operations": ask(rule(operations=["DELETE"])),
    "any operation": ask(rule(operations=["*"])),
    "groups": ask(rule(apiGroups=["batch"])),
    "any group": ask(rule(apiGroups=["*"])),
    "the core group": ask(rule(apiGroups=[""])),
    "versions, exactly": ask(policy("false", rules=[DEPLOYMENTS | {"apiVersions": ["v1beta1"]}], match={"matchPolicy": "Exact"})),
    "resources": ask(rule(resources=["daemonsets"])),
    "any resource": ask(rule(resources=["*"])),
    "any resource and subresource": ask(rule(resources=["*/*"])),
    "a resource with its subresources": ask(rule(resources=["deployments/*"])),
    "a subresource is another resource": ask(rule(resources=["deployments"]), subresource="scale"),
    "a subresource": ask(rule(resources=["deployments/scale"]), subresource="scale"),
    "a subresource of any resource": ask(rule(resources=["*/scale"]), subresource="scale"),
    "any resource is none of its subresources": ask(rule(resources=["*"]), subresource="scale"),
    "any subresource too": ask(rule(resources=["*/*"]), subresource="scale"),
    "a resource name": ask(rule(resourceNames=["web"])),
    "another resource name": ask(rule(resourceNames=["api"])),
    "namespaced": ask(rule(scope="Namespaced")),
    "cluster-wide": ask(rule(scope="Cluster")),
    "a cluster-wide kind is not namespaced": ask(policy("false", rules=[ANYTHING | {"scope": "Namespaced"}]), ROLE),
    "a cluster-wide kind": ask(policy("false", rules=[ANYTHING | {"scope": "Cluster"}]), ROLE),
    "a Namespace is cluster-wide": ask(
        policy("false", rules=[ANYTHING | {"scope": "Cluster"}]), NAMESPACE, namespace="shop", name="shop"
    ),
    "the second rule counts as well": ask(policy("false", rules=[DEPLOYMENTS | {"operations": ["DELETE"]}, DEPLOYMENTS])),
    "an excluded resource": ask(policy("false", match={"excludeResourceRules": [DEPLOYMENTS]})),
    "an excluded name": ask(policy("false", match={"excludeResourceRules": [DEPLOYMENTS | {"resourceNames": ["web"]}]})),
    "another excluded name": ask(policy("false", match={"excludeResourceRules": [DEPLOYMENTS | {"resourceNames": ["api"]}]})),
    "a namespace selector": ask(policy("false", match={"namespaceSelector": {"matchLabels": {"env": "prod"}}})),
    "a namespace selector that does not fit": ask(policy("false", match={"namespaceSelector": {"matchLabels": {"env": "dev"}}})),
    "a namespace selector and a cluster-wide kind": ask(
        policy("false", match={"namespaceSelector": {"matchLabels": {"env": "dev"}}}), ROLE
    ),
    "a namespace selector and a Namespace": ask(
        policy("false", match={"namespaceSelector": {"matchLabels": {"env": "dev"}}}), NAMESPACE, namespace="shop", name="shop"
    ),
    "an object selector": ask(policy("false", match={"objectSelector": {"matchLabels": {"tier": "front"}}})),
    "an object selector that does not fit": ask(policy("false", match={"objectSelector": {"matchLabels": {"tier": "back"}}})),
    "an object selector fits the old object": ask(
        policy("false", match={"objectSelector": {"matchLabels": {"tier": "back"}}}),
        operation="UPDATE",
        oldObject=changed(DEPLOYMENT, "metadata", "labels", to={"tier": "back"}),
    ),
    "Exists": ask(policy("false", match={"objectSelector": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}})),
    "DoesNotExist": ask(
        policy("false", match={"objectSelector": {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}})
    ),
    "NotIn fits an absent label": ask(
        policy("false", match={"objectSelector": {"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["a"]}]}})
    ),
    "In does not": ask(
        policy("false", match={"objectSelector": {"matchExpressions": [{"key": "x", "operator": "In", "values": ["a"]}]}})
    ),
    "a rule for pods does not see a Deployment": ask(
        policy("false", rules=[{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}])
    ),
    # bindings
    "a binding narrows by namespace": ask(
        policy("false"), bindings=[binding(matchResources={"namespaceSelector": {"matchLabels": {"env": "dev"}}})]
    ),
    "a binding narrows by resource": ask(
        policy("false"), bindings=[binding(matchResources={"resourceRules": [DEPLOYMENTS | {"resources": ["daemonsets"]}]})]
    ),
    "a binding that fits": ask(policy("false"), bindings=[binding(matchResources={"resourceRules": [DEPLOYMENTS]})]),
    "a binding never widens": ask(
        policy("false", rules=[DEPLOYMENTS | {"resources": ["daemonsets"]}]),
        bindings=[binding(matchResources={"resourceRules": [ANYTHING]})],
    ),
    # objects and request
    "oldObject is null on CREATE": ask(policy("oldObject == null")),
    "object is null on DELETE": ask(policy("object == null && oldObject.spec.replicas == 5"), None, oldObject=DEPLOYMENT, operation="DELETE"),
    "both on UPDATE": ask(
        policy("object.spec.replicas - oldObject.spec.replicas == 4"),
        oldObject=changed(DEPLOYMENT, "spec", "replicas", to=1),
        operation="UPDATE",
    ),
    "has of null is false": ask(policy("!has(oldObject.spec)")),
    "a field of null is an error": ask(policy("oldObject.spec.replicas == 1")),
    "an optional field of null is none": ask(policy("!oldObject.?spec.hasValue()")),
    "request names the resource": ask(
        policy("request.resource.group == 'apps' && request.resource.resource == 'deployments' && request.kind.kind == 'Deployment'")
    ),
    "request names operation, name and namespace": ask(
        policy("request.operation == 'CREATE' && request.name == 'web' && request.namespace == 'shop'")
    ),
    "subResource is absent when empty": ask(policy("request.subResource == ''")),
    "has subResource is false when empty": ask(policy("!has(request.subResource)")),
    "a subresource is there": ask(policy("request.subResource == 'scale'", rules=[EVERYTHING]), subresource="scale"),
    "options are there and null": ask(policy("request.options == null")),
    "dryRun is false": ask(policy("request.dryRun == false")),
    "a user": ask(policy("request.userInfo.username == 'jane' && 'dev' in request.userInfo.groups"), userInfo={"Name": "jane", "Groups": ["dev"]}),
    "uid is absent when empty": ask(policy("request.userInfo.uid == ''"), userInfo={"Name": "jane"}),
    "extra is absent when empty": ask(policy("has(request.userInfo.extra)"), userInfo={"Name": "jane"}),
    "the name is absent where it is generated": ask(
        policy("!has(request.name)"), changed(changed(DEPLOYMENT, "metadata", "name", to=None), "metadata", "generateName", to="web-")
    ),
    # namespaceObject
    "the namespace": ask(policy("namespaceObject.metadata.name == 'shop' && namespaceObject.metadata.labels['env'] == 'prod'")),
    "no namespace for a cluster-wide kind": ask(policy("namespaceObject == null"), ROLE, namespaceObject=None),
    "empty annotations are absent": ask(policy("'x' in namespaceObject.metadata.annotations")),
    "has of empty annotations is false": ask(policy("!has(namespaceObject.metadata.annotations)")),
    # params
    "params": ask(
        policy("object.spec.replicas <= int(params.data.max)", paramKind={"apiVersion": "v1", "kind": "ConfigMap"}), params=CONFIG
    ),
    "params that pass": ask(
        policy("object.spec.replicas <= int(params.data.max)", paramKind={"apiVersion": "v1", "kind": "ConfigMap"}),
        params=changed(CONFIG, "data", "max", to="9"),
    ),
    "params may be null": ask(policy("params == null", paramKind={"apiVersion": "v1", "kind": "ConfigMap"})),
    "a field of null params is an error": ask(policy("params.data.max == '3'", paramKind={"apiVersion": "v1", "kind": "ConfigMap"})),
    "conditions and messages may use params": ask(
        policy(
            {"expression": "false", "messageExpression": "'at most ' + params.data.max"},
            paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
            matchConditions=[{"name": "c", "expression": "params.data.max == '3'"}],
        ),
        params=CONFIG,
    ),
    # native objects
    "an explicit false is absent": ask(
        policy("!has(object.spec.template.spec.hostNetwork)"), changed(DEPLOYMENT, "spec", "template", "spec", "hostNetwork", to=False)
    ),
    "an empty selector is absent": ask(
        policy("!has(object.spec.template.spec.nodeSelector)"), changed(DEPLOYMENT, "spec", "template", "spec", "nodeSelector", to={})
    ),
    "an empty security context stays": ask(
        policy("has(object.spec.template.spec.securityContext)"), changed(DEPLOYMENT, "spec", "template", "spec", "securityContext", to={})
    ),
    "quantities are canonical": ask(
        policy("object.spec.template.spec.containers[0].resources.limits.cpu == '1'"),
        changed(
            DEPLOYMENT,
            "spec",
            "template",
            "spec",
            "containers",
            to=[{"name": "main", "image": "a", "resources": {"limits": {"cpu": "1000m"}}}],
        ),
    ),
    "status appears": ask(policy("has(object.status)")),
    "a custom resource stays as it is": ask(policy("object.spec.flag == false"), changed(WIDGET, "spec", "flag", to=False)),
    "a custom resource keeps its empties": ask(policy("has(object.spec.labels)"), changed(WIDGET, "spec", "labels", to={})),
    "absent fields of a custom resource": ask(policy("object.spec.size == 3 && !has(object.status)"), WIDGET),
}  # fmt: skip
