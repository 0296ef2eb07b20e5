"""What a person chose stands among the first lines, whatever a release, new pools or a base bring beside it."""

from __future__ import annotations

import random
import re

import pytest

from change.diff.projects import A100, H100, changes, cluster, pool, project
from poolsmith.change.diff.change_sections import Part, Weight
from poolsmith.change.diff.change_summary import change_view
from poolsmith.interface.report.diff_markdown import diff_report as as_markdown
from poolsmith.interface.report.diff_text import diff_report as as_text
from poolsmith.interface.report.formats import ReportContext
from poolsmith.interface.report.html import diff_report as as_html

CONTEXT = ReportContext(tool="poolsmith")
NAMES = ("lab", "one", "two")
MOST = 5
CHOSEN = [
    # value that a person wrote, as the report calls it
    ("{dcgmExporter: {hostNetwork: true}}", "dcgmExporter.hostNetwork"),
    ("{devicePlugin: {hostNetwork: true}}", "devicePlugin.hostNetwork"),
    ("{dcgmExporter: {hostPID: true}}", "dcgmExporter.hostPID"),
    ("{hostPaths: {rootFS: /host}}", "hostPaths.rootFS"),
    ("{validator: {plugin: {env: [{name: WITH_WORKLOAD, value: 'true'}]}}}", "validator.plugin.env"),
    ("{toolkit: {env: [{name: EDITED, value: x}]}}", "toolkit.env"),
    ("{operator: {cleanupCRD: true}}", "operator.cleanupCRD"),
    ("{daemonsets: {tolerations: [{operator: Exists}]}}", "daemonsets.tolerations"),
]


def mixed(repository, number, values):
    """Another release, new pools and a new cluster, many pools changed alike; and on one cluster what somebody chose."""
    draw = random.Random(number)
    victim = draw.choice(NAMES)
    for name in NAMES:
        release = draw.choice(("v26.3.3", "v26.7.0"))
        own = values if name == victim else ""
        repository.write({f"profiles/{name}/cluster.yaml": cluster(name, release=release, values=own)})
        for new in range(draw.choice((0, 1, 6))):
            product = draw.choice((A100, H100))
            repository.write({f"profiles/{name}/new{new}.yaml": pool(f"new{new}", product=product)})
        if draw.random() < 0.5:
            edited = pool("a", driver="{source: container, version: 580.159.03}")
            repository.write({f"profiles/{name}/a.yaml": edited})
    if draw.random() < 0.5:
        repository.write(project("a", "b", next=("a", "b")))
        repository.write({f"profiles/{victim}/cluster.yaml": cluster(victim, release="v26.7.0", values=values)})


def rank(lines, words):
    """Of the first line that has the words; the first line has rank 1."""
    return next((number for number, line in enumerate(lines, 1) if words in line), len(lines) + 1)


@pytest.mark.rows(4, "a mixture takes a second; each value and each number is seen first")
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize(("values", "path"), CHOSEN, ids=[path for _, path in CHOSEN])
def test_it_is_among_the_first_lines(repository_of, values, path, number):
    repository = repository_of(project("a", "b", one=("a", "b"), two=("a",)))
    mixed(repository, number, values)
    report = changes(repository)
    text = as_text(report, CONTEXT).splitlines()[2:]
    markdown = [line for line in as_markdown(report, CONTEXT).splitlines() if line.startswith("- ")]
    html = re.findall(r'<li class="hit.*?</li>', as_html(report, CONTEXT), re.DOTALL)

    assert rank(text, path) <= MOST, text[: MOST + 1]
    assert rank(markdown, path) <= MOST, markdown[: MOST + 1]
    assert rank(html, path) <= MOST


def written(report):
    (section,) = (section for section in change_view(report).sections if section.part is Part.WRITTEN)
    return section.points


def test_each_line_says_what_comes_of_it(repository_of):
    repository = repository_of(project("a", "b"))
    values = "{dcgmExporter: {hostNetwork: true}, devicePlugin: {env: [{name: NOTHING, value: x}]}}"
    repository.write({"profiles/lab/cluster.yaml": cluster(release="v26.7.0", values=values)})
    repository.write({"profiles/lab/c.yaml": pool("c", product=H100)})
    network, plugin, pools, release = written(changes(repository))

    assert "`dcgmExporter.hostNetwork` is now `true`: `nvidia-dcgm-exporter` may now use the network" in network.words
    assert "`devicePlugin.env`" in plugin.words
    assert plugin.words.endswith("~2 workloads restart")
    assert "pool `c` is new, like `a` but for `gpu.product` (" in pools.words
    assert "privileges that other pools have too" in pools.words
    assert "goes from `v26.3.3` to `v26.7.0`" in release.words
    assert "drivers replaced" in release.words


def test_pools_that_come_alike_are_one_line(repository_of):
    repository = repository_of(project("a"))
    repository.write({f"profiles/lab/n{number}.yaml": pool(f"n{number}", product=H100) for number in range(30)})
    (point,) = written(changes(repository))

    assert point.words.startswith("pools `n0`, `n1`, `n10`, `n11` and 26 more are new, like `a` but for `gpu.product`")


def test_a_line_without_effect_comes_last(repository_of):
    repository = repository_of(project("a"))
    edited = cluster(release="v26.7.0").replace('version: "1.33"', 'version: "1.34"')
    repository.write({"profiles/lab/cluster.yaml": edited})
    release, kubernetes = written(changes(repository))

    assert "`v26.7.0`" in release.words
    assert "kubernetes.version" in kubernetes.words
    assert kubernetes.weight is Weight.PLAIN
