"""Pass: what the version of the engine means for what is generated, where the profile names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.engines import ENGINE_TOO_OLD, ENGINE_VERSION
from poolsmith.core.diagnostics.message_text import joined
from poolsmith.core.facts.versions import is_older
from poolsmith.gpu.catalog.engines import engine_facts, is_known

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan

_MOST = 9
_POINTER = "/spec/delivery/version"


def judge_engine(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    delivery = plan.cluster.spec.delivery
    if delivery.version is None:
        return plan
    engine, version = delivery.engine.value, delivery.version.removeprefix("v")
    known = engine_facts(engine)
    least = known.get("least")
    if least is not None and is_older(version, least["version"]):
        message = f"{known['name']} {version} is older than what is generated needs: {least['says']}"
        facts.report_cluster(ENGINE_TOO_OLD, _POINTER, message, help=f"upgrade to {least['version']} or later")
    elif not is_known(engine, version):
        versions = joined(list(known["versions"]), _MOST)
        message = f"the catalog knows {known['name']} {versions}: what {version} does is unknown"
        facts.report_cluster(ENGINE_VERSION, _POINTER, message, help="leave it out, or add its facts to the catalog")
    return plan
