"""What watches the server: `GET /health`, and the alerts and the dashboard for its metrics."""

import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pbm.mail.sending import flush
from pbm.mail.transports import Transport, Undelivered
from pbm.service.health import word_for_fault
from pbm.service.metrics import Metrics

from helpers.database import sql
from helpers.packages import install
from helpers.patience import until
from helpers.web import serving

MONITORING = Path(__file__).parent.parent / "docs/monitoring"
NEEDS_PROMETHEUS = pytest.mark.skipif(
    os.environ.get("PBM_TEST_PROMETHEUS") != "1",
    reason="this installs Prometheus: PBM_TEST_PROMETHEUS=1 bin/test, as root, runs it",
)
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SECONDS_IN_BETWEEN = [0, 29 * 60, 31 * 60, 24 * 3600]


class Way(Transport):
    """A way for mails out, which takes none while it has a *problem*."""

    def __init__(self, problem=None):
        self.problem = problem

    def send(self, message, sender, recipient, name):
        if self.problem:
            raise self.problem


CLOSED = Way(Undelivered("the relay does not answer", for_all=True))
UNWANTED = Way(Undelivered("450 come again", by_recipient=True))


def words_while(club, way=None):
    """What the health is after each of these times, if the mails that are due are tried then."""
    began, words = club.time, []
    for seconds in SECONDS_IN_BETWEEN:
        club.time = began + timedelta(seconds=seconds)
        if way:
            flush(club.server, way)
        words.append(word_for_fault(club.store, club.time))
    return words


# GET /health


def test_all_is_well_while_mails_leave(waiting):
    assert words_while(waiting, Way()) == ["", "", "", ""]


def test_a_server_whose_mails_nobody_sends_is_ill_after_half_an_hour(waiting):
    assert words_while(waiting) == ["", "", "mail", "mail"]


def test_a_server_whose_relay_does_not_answer_is_ill_after_half_an_hour(waiting):
    assert words_while(waiting, CLOSED) == ["", "", "mail", "mail"]


def test_mails_that_their_readers_servers_do_not_take_are_no_fault_of_ours(waiting):
    assert words_while(waiting, UNWANTED) == ["", "", "", ""]


def test_the_server_is_well_again_when_a_mail_has_left(waiting):
    assert words_while(waiting, CLOSED)[-1] == "mail"
    waiting.time += timedelta(days=1)
    flush(waiting.server, Way())
    assert word_for_fault(waiting.store, waiting.time) == ""


def test_a_database_that_cannot_be_written_is_named(waiting, monkeypatch):
    monkeypatch.setattr(type(waiting.store.health), "objection", lambda _: "the disk is full")
    assert word_for_fault(waiting.store, waiting.time) == "database"


def test_health_is_told_by_http(shell):
    shell.sign_up("alice", "bob", has_mail=True)
    shell.environment["PBM_TRANSPORT"] = "smtp://127.0.0.1:1"  # where nobody listens
    with serving(shell) as server:
        status, _, text = server.ask("GET", "/health")
        assert (status, text) == (200, "ok\n")
        assert server.ask("POST", "/health")[0] == 405
        shell.run("spiro", "challenge", "alice", "bob")
        sql(shell.folder / "pbm.db", "UPDATE outbox SET queued = '2026-11-01T12:00:00+00:00'")
        until(lambda: server.ask("GET", "/health")[::2] == (503, "mail\n"))


# Prometheus


@pytest.fixture(scope="module")
def promtool():
    """Runs promtool of Prometheus with these words, and returns what it says."""
    install("PBM_TEST_PROMETHEUS", "promtool", "prometheus")

    def run(*words):
        done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def queries():
    """The queries of the dashboard."""
    dashboard = json.loads((MONITORING / "grafana.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def test_the_alerts_and_the_dashboard_ask_for_figures_that_there_are(club):
    figures = {
        sample.name for family in Metrics(club.store.path, lambda: NOW).registry.collect() for sample in family.samples
    }
    asked = re.findall(
        r"\bpbm_\w+", "\n".join([*queries(), *re.findall("expr: (.*)", (MONITORING / "alerts.yml").read_text())])
    )
    # a counter by words, and a histogram, have samples only once something was counted
    known = figures | {"pbm_mails_total", "pbm_mail_seconds_bucket", "pbm_lock_seconds_bucket"}
    assert {*asked} <= known
    assert len(asked) > 10


ALERTS_TESTED = """
rule_files: [RULES]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'up{job="pbm"}', values: "1x60"}
      - {series: "pbm_database_usable", values: "1x60"}
      - {series: "pbm_outbox_oldest_seconds", values: "86400x60"}
    alert_rule_test:
      - {eval_time: 60m, alertname: PbmIsDown}
      - {eval_time: 60m, alertname: PbmDatabaseIsUnusable}
      - {eval_time: 60m, alertname: PbmMailWaits}
  - interval: 1m
    input_series:
      - {series: 'up{job="pbm"}', values: "0x60"}
    alert_rule_test:
      - {eval_time: 4m, alertname: PbmIsDown}
      - eval_time: 6m
        alertname: PbmIsDown
        exp_alerts: [EXPECTED_DOWN]
  - interval: 1m
    alert_rule_test:
      - eval_time: 6m
        alertname: PbmIsDown
        exp_alerts: [EXPECTED_DOWN]
  - interval: 1m
    input_series:
      - {series: "pbm_outbox_oldest_seconds", values: "86401x60"}
      - {series: "pbm_database_usable", values: "0x60"}
    alert_rule_test:
      - {eval_time: 14m, alertname: PbmMailWaits}
      - eval_time: 16m
        alertname: PbmMailWaits
        exp_alerts: [EXPECTED_MAIL]
      - eval_time: 3m
        alertname: PbmDatabaseIsUnusable
        exp_alerts: [EXPECTED_DATABASE]
"""


@NEEDS_PROMETHEUS
def test_the_alerts_are_given_when_they_should_be(promtool, tmp_path):
    rules = MONITORING / "alerts.yml"
    assert "3 rules found" in promtool("check", "rules", str(rules))
    texts = dict(re.findall(r"alert: (\w+)\n.*?annotations:\n(.*?)(?=\n      -|\Z)", rules.read_text(), re.DOTALL))
    given = {
        "EXPECTED_DOWN": ("PbmIsDown", {"severity": "critical", "job": "pbm"}),
        "EXPECTED_MAIL": ("PbmMailWaits", {"severity": "warning"}),
        "EXPECTED_DATABASE": ("PbmDatabaseIsUnusable", {"severity": "critical"}),
    }
    story = ALERTS_TESTED.replace("RULES", str(rules))
    for name, (alert, labels) in given.items():
        annotations = dict(re.findall(r"(\w+): (.*)", texts[alert]))
        story = story.replace(name, json.dumps({"exp_labels": labels, "exp_annotations": annotations}))
    path = tmp_path / "story.yml"
    path.write_text(story)
    assert "SUCCESS" in promtool("test", "rules", str(path))


@NEEDS_PROMETHEUS
def test_every_query_of_the_dashboard_is_one(promtool, tmp_path):
    rules = [{"record": f"pbm:{number}", "expr": query} for number, query in enumerate(queries())]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "pbm", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", str(path))
