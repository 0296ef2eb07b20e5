"""Many changes of Helm values in one pull request: each has to be named all the same, and one run judges a hundred."""

from __future__ import annotations

from dataclasses import replace

from pull_requests.fleet import Change, values_edit

AT_ONCE = 120
"""More take longer together than apart: each run looks for all that were not named before."""
_NAME = "gained"
"""What the tables call most objects; the operator takes none that is made twice."""


def batches(changes):
    """Changes of one cluster whose value paths don't touch each other, put together; sorted by cluster.

    Text that leaves its place is left out: nothing else can be seen beside it.
    """
    found: list[tuple[Change, ...]] = []
    for change in changes:
        if _leaves_its_place(change):
            continue
        for number, batch in enumerate(found):
            if (
                batch[0].cluster == change.cluster
                and len(batch) < AT_ONCE
                and all(_agree(one, change) for one in batch)
            ):
                found[number] = (*batch, change)
                break
        else:
            found.append((change,))
    return sorted(found, key=lambda batch: (batch[0].cluster, -len(batch), batch[0].name))


def together(batch):
    """One pull request of a batch."""
    values = {}
    for change in batch:
        for path, value in change.values:
            values[path] = _beside(values.get(path, []), value) if path == "extraObjects" else value
    return replace(batch[0], name=f"{len(batch)} at once", edit=values_edit(batch[0].cluster, values))


def _beside(objects, more):
    """One list of objects, those of one name told apart by a number."""
    return [*objects, *(_numbered(item, number) for number, item in enumerate(more, len(objects)))]


def _numbered(item, number):
    if not isinstance(item, dict) or item.get("metadata", {}).get("name") != _NAME:
        return item
    return {**item, "metadata": {**item["metadata"], "name": f"{_NAME}-{number}"}}


def _leaves_its_place(change):
    return any("\n" in str(value) or "\\n" in repr(value) for _, value in change.values)


def _agree(one, other):
    return all(
        mine == yours or mine[0] == "extraObjects" or not _touch(mine[0], yours[0])
        for mine in one.values
        for yours in other.values
    )


def _touch(one, other):
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
