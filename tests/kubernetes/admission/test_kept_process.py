"""A process that is kept for the next policies and requests: it saves time, and changes no answer and no limit."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import time

import pytest

from poolsmith.kubernetes.admission.policy_reading import read_policies
from poolsmith.kubernetes.admission.request import make_request
from poolsmith.kubernetes.admission.resources import Resources
from poolsmith.kubernetes.admission_run import process
from poolsmith.kubernetes.admission_run.process import Limits, Part, Standby, Stopped, Supervisor
from poolsmith.kubernetes.admission_run.run import PolicyJob, run_policies
from poolsmith.kubernetes.admission_run.work import KeptPolicies
from poolsmith.kubernetes.cel import engine_problem
from poolsmith.kubernetes.objects_file import placed_objects

HELD = []


def told(words):
    """Parts that a letter of JSON names; HELD is what they have left in the child."""
    return [
        Part(word.partition(" ")[0], lambda tick, word=word: WORK[word.partition(" ")[2] or "pid"]()) for word in words
    ]


def loop():
    while True:
        pass


def hoard():
    HELD.append(b"x" * (200 << 20))
    return "hoarded"


WORK = {
    "pid": os.getpid,
    "hoard": hoard,
    "need": lambda: len(b"x" * (200 << 20)),
    "loop": loop,
    "crash": lambda: ctypes.string_at(0),
    "raise": lambda: 1 // 0,
}


@pytest.fixture
def standby():
    with contextlib.closing(Standby(lambda letter: told(json.loads(letter)))) as found:
        yield found


def done(standby, *words, **limits):
    supervisor = Supervisor(told(words), Limits(**limits), standby, lambda: json.dumps(words).encode())
    with contextlib.closing(supervisor):
        return supervisor.results()


def test_the_next_parts_are_done_by_the_same_process(standby):
    first = done(standby, "a", "b")
    second = done(standby, "c")

    assert {*first, *second} == {first[0]}
    assert first[0] != os.getpid()


def test_a_long_letter_comes_whole(standby):
    (pid,) = done(standby, "a")
    words = [f"{'x' * 100_000}{index}" for index in range(20)]

    assert done(standby, *words) == [pid] * 20


@pytest.mark.parametrize(
    ("what", "why"),
    [("crash", "the engine crashed (SIGSEGV)"), ("raise", "the engine gave up: internal error, ZeroDivisionError at ")],
)
def test_whoever_ends_a_kept_process_is_blamed_by_a_new_one(standby, what, why):
    (before,) = done(standby, "a")
    first, bad, last = done(standby, "a", f"bad {what}", "b")
    (after,) = done(standby, "c")

    assert isinstance(bad, Stopped)
    assert bad.why.startswith(why)
    assert (first, last == after) == (before, True)


def test_a_kept_process_that_takes_too_long_is_stopped(standby):
    done(standby, "a")
    bad, fine = done(standby, "bad loop", "a", step=0.5, blamed=60.0)

    assert bad == Stopped("one evaluation took more than 0.5 seconds")
    assert isinstance(fine, int)


def test_nobody_is_blamed_for_the_memory_that_earlier_work_has_left(standby):
    limits = {"memory": 300 << 20}
    done(standby, "a hoard", **limits)

    assert done(standby, "b need", "c", **limits)[0] == 200 << 20


def test_a_process_that_was_killed_meanwhile_is_replaced(standby):
    (before,) = done(standby, "a")
    os.kill(before, signal.SIGKILL)
    time.sleep(0.05)
    (after,) = done(standby, "a")

    assert isinstance(after, int)
    assert after != before


def test_a_process_that_does_not_read_is_given_up(standby):
    (before,) = done(standby, "a")
    os.kill(before, signal.SIGSTOP)
    (after,) = done(standby, f"a{'x' * (1 << 20)}", step=0.3)

    assert after != before


def test_a_process_is_kept_for_so_many_letters(standby, monkeypatch):
    monkeypatch.setattr(process, "_MOST_LETTERS", 2)
    pids = [done(standby, "a")[0] for _ in range(6)]

    assert [pids.index(pid) for pid in pids] == [0, 0, 0, 3, 3, 3]


def test_after_closing_nothing_runs(standby):
    (pid,) = done(standby, "a")
    standby.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_who_wants_no_results_ends_the_process(standby):
    (pid,) = done(standby, "a")
    Supervisor(told(["a loop"]), Limits(), standby, lambda: b'["a loop"]').close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert done(standby, "a") != [pid]


needs_engine = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")


def policy(name, expression, **spec):
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
                ]
            },
            "validations": [{"expression": expression}],
            **spec,
        },
    }


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "x"}, "data": {"k": name}}


def read(kubernetes, *bodies):
    text = "---\n".join(json.dumps(item) + "\n" for item in bodies)
    found = placed_objects("p.yaml", text)
    assert isinstance(found, tuple)
    return read_policies(found, kubernetes)[0], Resources(kubernetes)


PARAM = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "param"}, "data": {"k": "b"}}
SETS = [
    (policy("p", "object.data.k != 'b'"),),
    (policy("p", "object.data.k != 'c'"), policy("q", "object.data.k.size() > 1")),
    (policy("p", "object.data.k != params.data.k", paramKind={"apiVersion": "v1", "kind": "ConfigMap"}), PARAM),
    (policy("p", "no.such"), policy("q", "object.metadata.name.startsWith('a')")),
]


@needs_engine
def test_a_kept_process_says_of_every_set_and_version_what_a_new_one_says():
    with contextlib.closing(KeptPolicies()) as kept:
        for round_ in range(2):
            for kubernetes in ("1.30", "1.34"):
                for bodies in SETS:
                    policies, resources = read(kubernetes, *bodies)
                    names = ("a", "b", "cc") if round_ else ("b", "c")
                    requests = [make_request(config_map(name), resources) for name in names]
                    job = PolicyJob(policies, requests, resources, kept=kept)
                    with contextlib.closing(job):
                        found = job.finish()

                    assert found == run_policies(policies, requests, resources)
                    assert not found.stopped


@needs_engine
def test_the_same_policies_are_compiled_once():
    policies, resources = read("1.34", *SETS[1])
    with contextlib.closing(KeptPolicies()) as kept:
        first = PolicyJob(policies, [make_request(config_map("a"), resources)], resources, kept=kept)
        with contextlib.closing(first):
            first.finish()
        compiled = kept.compiled(policies, resources, imply_bindings=True)
        again, same = read("1.34", *SETS[1])

        assert kept.compiled(again, same, imply_bindings=True) is compiled
        assert kept.compiled(again, same, imply_bindings=False) is not compiled
