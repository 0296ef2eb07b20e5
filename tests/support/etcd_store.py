"""The store of an API server, put back to what it was before anybody asked for anything.

It is done in etcd, below the running server: that sees what is gone as it sees any change. What the server's own
controllers write all the time is left to them.
"""

from __future__ import annotations

import base64
import json
import urllib.request
from time import monotonic, sleep
from typing import Any

from support.api_client import ApiClient

_MOST_OPERATIONS = 100
"""Of a transaction; etcd takes 128."""
_SECONDS = 20.0
_DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions/"
_OF_THE_SERVER = ("leases/", "masterleases/", "apiregistration.k8s.io/", "flowschemas/", "prioritylevelconfigurations/")
_NAMESPACES = b"namespaces/"
_NOT_FOUND = 404
_POLICIES = "validatingadmissionpolic"
"""As the keys of policies and of their bindings have it."""
_NAME = "canary"
_API = "admissionregistration.k8s.io/v1"
_CANARY: list[dict[str, Any]] = [
    {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": _NAME},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
                ]
            },
            "validations": [{"expression": f"object.metadata.name != '{_NAME}'"}],
        },
    },
    {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": _NAME},
        "spec": {"policyName": _NAME, "validationActions": ["Deny"]},
    },
]
_REFUSED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": _NAME, "namespace": "default"},
}


class EmptyStore:
    """Keys below a prefix, as they are now."""

    def __init__(self, etcd: str, prefix: str) -> None:
        self._etcd = etcd
        self._prefix = prefix.encode()
        self._first = self._held()

    def restore(self, client: ApiClient) -> bool:
        """Whether the server has no definition more than at first, and answers; what was added or changed is undone."""
        held = self._held()
        groups = {_group(key) for key in held.keys() - self._first.keys() if self._is_definition(key)}
        self._change(
            [
                *({"requestDeleteRange": {"key": _text(key)}} for key in held.keys() - self._first.keys()),
                *(
                    {"requestPut": {"key": _text(key), "value": self._first[key]}}
                    for key in self._first
                    if held.get(key) != self._first[key] and not self._is_of_the_server(key)
                ),
            ]
        )
        try:
            return (
                _await(lambda: groups.isdisjoint(_served(client)))
                and self._has_forgotten_policies(held, client)
                and self._has_forgotten_namespaces(held, client)
            )
        except OSError:
            return False
        finally:
            client.close()

    def _has_forgotten_policies(self, held: dict[bytes, str], client: ApiClient) -> bool:
        """The server compiles admission policies now and then, all of them at once: once a newer one is in force, those
        before it are no more; and the newer one goes the same way."""
        if not any(_POLICIES.encode() in key for key in held.keys() - self._first.keys()):
            return True
        for item in _CANARY:
            if not client.create(item).taken:
                return False
        if not _await(lambda: not client.create(_REFUSED, dry_run=True).taken):
            return False
        held = self._held()
        self._change([{"requestDeleteRange": {"key": _text(key)}} for key in held if _POLICIES.encode() in key])
        return _await(lambda: client.create(_REFUSED, dry_run=True).taken)

    def _has_forgotten_namespaces(self, held: dict[bytes, str], client: ApiClient) -> bool:
        """One that was about to be deleted takes nothing, for as long as the server remembers that."""
        gone = [key for key in held.keys() - self._first.keys() if key.startswith(self._prefix + _NAMESPACES)]
        probes = ({**_REFUSED, "metadata": {"name": _NAME, "namespace": _last(key)}} for key in gone)
        return all(
            _await(lambda probe=probe: client.create(probe, dry_run=True).status == _NOT_FOUND) for probe in probes
        )

    def _is_definition(self, key: bytes) -> bool:
        return key.startswith(self._prefix + _DEFINITIONS.encode())

    def _is_of_the_server(self, key: bytes) -> bool:
        return any(part.encode() in key for part in _OF_THE_SERVER)

    def _held(self) -> dict[bytes, str]:
        """Values, in base64, by their keys."""
        end = self._prefix[:-1] + bytes([self._prefix[-1] + 1])
        found = self._asked("range", {"key": _text(self._prefix), "range_end": _text(end)})
        return {base64.b64decode(item["key"]): item.get("value", "") for item in found.get("kvs", ())}

    def _change(self, operations: list[dict[str, Any]]) -> None:
        for start in range(0, len(operations), _MOST_OPERATIONS):
            self._asked("txn", {"success": operations[start : start + _MOST_OPERATIONS]})

    def _asked(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(f"{self._etcd}/v3/kv/{what}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode()


def _last(key: bytes) -> str:
    return key.decode().rpartition("/")[2]


def _group(key: bytes) -> str:
    """Of the name of a definition: `clusterpolicies.nvidia.com`."""
    return _last(key).partition(".")[2]


def _served(client: ApiClient) -> set[str]:
    return {item["name"] for item in client.request("GET", "/apis").body.get("groups", ())}


def _await(is_so: Any) -> bool:
    ends = monotonic() + _SECONDS
    while not is_so():
        if monotonic() > ends:
            return False
        sleep(0.05)
    return True
