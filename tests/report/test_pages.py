"""The page of every verb, written by the command line and opened in a real browser."""

import base64
import json

import click
import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.report import write_page
from tallystick.table import write_csv
from tests.generated import generate
from tests.report.conftest import HOSTILE, result

LONGEST = 2_000_000

# What each verb is asked; FOLDER holds the generated tables.
COMMANDS = {
    "audit": ["FOLDER/compare.csv"],
    "bound": ["FOLDER/bound.csv", "--prediction", "classifier", "--truth", "truth"],
    "compare": ["FOLDER/compare.csv", "--truth", "truth"],
    "dynamic analyse": ["FOLDER/dynamic.csv", "--truth", "gold"],
    "dynamic simulate": [
        *"--learner random --epsilon .1 --rounds 4 --rollouts 20".split(),
    ],
    "dynamic theory": ["--epsilon", ".1", "--rounds", "4"],
    "judge": ["FOLDER/judge.csv", "--truth", "gold"],
    "plan": ["--difference", ".05", "--disagreement", ".2"],
    "shift": [
        *"--data FOLDER/shift.csv --truth truth --old pred_old --api replay:pred_new --budget 60".split(),
    ],
    "tally": ["FOLDER/judge.csv", "--columns", "gpt,claude"],
}
ROWS = 300
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def leaves(command, path=()):
    """Every verb of the command line, with its options."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*path, name))
    else:
        yield " ".join(path), {option for parameter in command.params for option in parameter.opts}


VERBS = dict(leaves(app))


def test_every_verb_writes_a_page_and_is_opened_here():
    # demo always writes one, and these conclude nothing
    without = {"demo", "doctor", "explain", "look", "merge", "serve check", "serve key"}
    assert {name for name, options in VERBS.items() if "--html" not in options} == without
    # These need more than a table to run here; their pages are written in their own tests.
    elsewhere = without | {"ask", "label", "score", "shift baseline"}
    assert set(COMMANDS) == set(VERBS) - elsewhere


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Small tables such as people bring, and two tallies."""
    made = tmp_path_factory.mktemp("tables")
    for question in ("compare", "judge", "bound", "shift", "dynamic"):
        table = generate(question, rng=0)
        n = len(table["item"])
        # all rounds
        some = range(0, n, max(1, n // ROWS)) if question == "dynamic" else range(ROWS)
        few = {
            name: [values[i] for i in some]
            for name, values in table.items()
            if name not in ("model_d", "model_e")
        }
        write_csv(made / f"{question}.csv", few)
    for name in ("one", "two"):
        run(
            "tally",
            str(made / "judge.csv"),
            "--columns",
            "gpt,claude",
            "-o",
            str(made / f"{name}.tally"),
        )
    return made


def run(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done


def drawn(visit):
    """For each figure: how many marks it shows, and whether they take up room."""
    return visit.evaluate("""
      [...document.querySelectorAll('figure')].map(figure => {
        for (let at = figure; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
        const marks = [...figure.querySelectorAll('svg circle, svg line, svg path, svg rect, svg text.cell')];
        return marks.filter(mark => {
          const box = mark.getBoundingClientRect(); return box.width + box.height > 0;
        }).length;
      })""")


def assert_sound(visit, page):
    assert page.stat().st_size < LONGEST
    assert [url for url in visit.requests if not url.startswith("data:")] == [
        page.resolve().as_uri()
    ]
    assert visit.complaints == []


@pytest.mark.parametrize("verb", sorted(COMMANDS))
def test_the_page_of_the_verb_is_drawn_without_error_or_request(verb, browser, folder, tmp_path):
    page = tmp_path / "page.html"
    arguments = [word.replace("FOLDER", str(folder)) for word in COMMANDS[verb]]
    out = run(*verb.split(), *arguments, "--html", str(page), "--json")
    with browser.visit(page) as visit:
        assert_sound(visit, page)
        for mode in ("light", "dark"):
            visit.prefer(color_scheme=mode)
            marks = drawn(visit)
            assert all(count >= 3 for count in marks), marks
            # A tally is a table of patterns and has no picture.
            assert bool(marks) == (verb not in ("tally", "plan"))
            assert visit.evaluate(OVERFLOW) == 0
        said = json.loads(out.stdout)
        heading = visit.evaluate("document.querySelector('h1').innerText")
        # The heading may leave out what another line says, such as which way is better.
        assert said["verdict"].replace("\u00a0", " ")[:24] == heading.replace("\u00a0", " ")[:24]
        twin = visit.evaluate("document.querySelector('a[download]').href")
        assert json.loads(base64.b64decode(twin.split(",", 1)[1])) == said


def test_a_demo_writes_a_page_that_is_drawn(browser, tmp_path):
    run("demo", "compare", "--out", str(tmp_path))
    with browser.visit(tmp_path / "compare.html") as visit:
        assert_sound(visit, tmp_path / "compare.html")
        assert min(drawn(visit)) >= 3


def test_a_hostile_result_is_drawn_and_does_nothing(browser, tmp_path):
    page = tmp_path / "<img src=x onerror=alert(1)>.html"
    write_page(page, result(HOSTILE))
    with browser.visit(page) as visit:
        assert_sound(visit, page)
        assert len(drawn(visit)) == 3
        foreign = "document.querySelectorAll('iframe, object, embed, img, [onerror]').length"
        assert visit.evaluate(f"{foreign} + document.scripts.length") == 1, "our own script alone"
        assert visit.evaluate("document.querySelector('h1').innerText").startswith(
            "<script>alert(1)</script>"
        )


def test_a_script_smuggled_into_the_page_would_be_blocked_by_its_policy(browser, tmp_path):
    page = tmp_path / "page.html"
    write_page(page, result(["a", "b"]))
    hole = "<script>document.title = 'ran'</script><img src='https://example.org/x.png'></main>"
    page.write_text(page.read_text(encoding="utf-8").replace("</main>", hole), encoding="utf-8")
    with browser.visit(page, patient=False) as visit:
        assert visit.evaluate("document.title") == "a leads · tallystick drawn"
        assert len(visit.complaints) >= 2
