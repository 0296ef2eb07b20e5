"""Values about drivers that no driver listens to, because each pool has a driver object of its own.

The operator takes drivers from NVIDIADriver objects then, and most of what the values say of them reaches nothing. What
reaches something is not in a table: the prediction is asked what is different without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes.compatibility import FIELD_WITHOUT_EFFECT
from poolsmith.core.sources import pointer as pointers
from poolsmith.fleet.plan.user_values import VALUES
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.guard.ledger.origins import is_users, without_value

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion import Installation
    from poolsmith.fleet.plan.plan import ValuePath
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.guard.ledger.prediction import Prediction, Predictions

_OF_DRIVERS = ("driver", "gds", "gdrcopy")
_NOT_IN_OBJECTS = (("driver", "upgradePolicy"), ("driver", "nvidiaDriverCRD"))
"""What the operator goes by itself: no object shows it."""
_MOST = 24
_GROUP = "nvidia.com/"


def idle_driver_values(prediction: Prediction, loaded: LoadedCluster, predictions: Predictions) -> list[Diagnostic]:
    """One for each value of the user that changes nothing of what is predicted, at its line."""
    file = loaded.file
    if file is None or prediction.plan.driver_mode is not DriverMode.NVIDIA_DRIVER:
        return []
    asked = [setting.path for setting in prediction.plan.values if is_users(setting) and _may_be_idle(setting.path)]
    if not asked:
        return []
    made = _made(prediction.installation)
    found = []
    for path in asked[:_MOST]:
        without = predictions.with_values(prediction, without_value(prediction.shared.given.values, path)).installation
        if without.errors or _made(without) != made:
            continue
        found.append(
            diagnose(
                FIELD_WITHOUT_EFFECT,
                f"`{'.'.join(path)}` has no effect: with `driverMode: nvidia-driver` each pool has a driver object of "
                "its own, and takes nothing from the values",
                file.locate(pointers.join(VALUES, *path)),
                help="remove it; write what a pool's driver needs under `driver` in its profile",
                subject=prediction.plan.name,
            )
        )
    return found


def _may_be_idle(path: ValuePath) -> bool:
    return path[0] in _OF_DRIVERS and path[:2] not in _NOT_IN_OBJECTS


def _made(installation: Installation) -> list[dict[str, Any]]:
    """What runs, and with which rights: the operator's own resources are what it is told, not what it does."""
    return [item for item in installation.objects if not str(item.get("apiVersion", "")).startswith(_GROUP)]
