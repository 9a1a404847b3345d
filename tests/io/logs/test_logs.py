"""Logs written by the tools themselves (see fixtures/README.md), and what is refused."""

import contextlib
import json
import random
import shutil
import zipfile
from pathlib import Path

import pytest

from tallystick.errors import FileError, InputError, TallystickError
from tallystick.table import scan
from tallystick.table.logs import sniff_text
from tallystick.table.scanning import detect
from tallystick.table.sources import resolve

FIXTURES = Path(__file__).parent / "fixtures"
ALPHA, ALPHA_GENERATED = sorted((FIXTURES / "lm_eval" / "alpha").iterdir())
[BETA] = (FIXTURES / "lm_eval" / "beta").iterdir()
INSPECT = FIXTURES / "inspect"


def rows(sources, **options):
    with scan([str(one) for one in sources], **options) as table:
        return table.columns, table.relation.fetchall(), table.notes


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (ALPHA, "lm-eval"),
        (INSPECT / "good.eval", "inspect"),
        (INSPECT / "old.json", "inspect"),
        (FIXTURES / "helm" / "acme_small" / "per_instance_stats.json", "helm"),
        (FIXTURES / "openai_evals" / "small.jsonl", "openai-evals"),
        (FIXTURES / "promptfoo" / "two-prompts.json", "promptfoo"),
        (FIXTURES / "promptfoo" / "version-2.json", "promptfoo"),
        (FIXTURES / "promptfoo" / "repeated.jsonl", "promptfoo"),
    ],
)
def test_logs_are_told_by_their_content_whatever_their_name(path, kind, tmp_path):
    copy = tmp_path / "table.csv"
    shutil.copy(path, copy)
    assert detect(resolve(copy)[0]) == kind


def test_plain_tables_are_not_taken_for_logs():
    for head in (
        '{"doc_id": 1, "gpt": 0}',
        '{"version": 2}',
        '[{"instance_id": 1}]',
        '{"spec": 1}',
        "a,b\n1,2\n",
        "item,gpt,claude\n1,yes,no\n",
        '{"item": 1, "gpt": 0}',
        '[{"question": "q"}]',
    ):
        assert sniff_text(head) is None


def test_two_harness_logs_are_two_models_named_by_their_folders():
    columns, found, notes = rows([ALPHA, BETA])
    assert columns == ("item", "alpha", "beta")
    assert len(found) == 6
    scores = [json.loads(line)["acc"] for line in ALPHA.read_text().splitlines()]
    assert [row[1] for row in found] == scores
    assert any("lm-eval" in note for note in notes)


def test_harness_items_are_aligned_by_hash_and_blank_where_one_log_lacks_them(tmp_path):
    part = tmp_path / "gamma" / BETA.name
    part.parent.mkdir()
    part.write_text("\n".join(BETA.read_text().splitlines()[3::-1]) + "\n")
    whole, found = ({row[0]: row[2] for row in rows([ALPHA, one])[1]} for one in (BETA, part))
    assert list(found.values()).count(None) == 2
    assert found == {item: None if found[item] is None else score for item, score in whole.items()}


def test_files_of_one_folder_are_named_after_themselves(tmp_path):
    for name, source in (("old", ALPHA), ("new", BETA)):
        shutil.copy(source, tmp_path / f"{name}.jsonl")
    assert rows([tmp_path / "old.jsonl", tmp_path / "new.jsonl"])[0] == ("item", "old", "new")


def test_several_filters_have_to_be_chosen_between():
    with pytest.raises(
        InputError, match=r"'exact_match,strict-match', 'exact_match,flexible-extract'.*--metric"
    ):
        scan(str(ALPHA_GENERATED))
    _, found, _ = rows([ALPHA_GENERATED], metric="exact_match,strict-match")
    assert [row[1] for row in found] == [0.0] * 6


def test_unequal_filters_are_refused_by_name(tmp_path):
    other = tmp_path / "gamma" / ALPHA_GENERATED.name
    other.parent.mkdir()
    other.write_text(
        ALPHA_GENERATED.read_text()
        .replace("strict-match", "none")
        .replace("flexible-extract", "loose")
    )
    with pytest.raises(InputError, match="nothing in common"):
        scan([str(ALPHA_GENERATED), str(other)])


def test_a_harness_log_without_hashes_is_of_another_version(tmp_path):
    old = tmp_path / "samples_sums.jsonl"
    old.write_text(ALPHA.read_text().replace('"doc_hash"', '"hash"'))
    with pytest.raises(FileError, match=r"no 'doc_hash'.*another version"):
        scan(str(old))


def test_one_model_twice_is_refused(tmp_path):
    copy = tmp_path / "alpha" / ALPHA.name
    copy.parent.mkdir()
    shutil.copy(ALPHA, copy)
    with pytest.raises(InputError, match="both hold model 'alpha'"):
        scan([str(ALPHA), str(copy)])


def test_inspect_archives_and_json_can_be_mixed():
    columns, found, _ = rows(
        [INSPECT / "old.json", INSPECT / "new.json", INSPECT / "good.eval"], metric="match"
    )
    assert columns == ("item", "mockllm/old", "mockllm/new", "mockllm/good")
    assert [row[1:] for row in found] == [(1, 1, 1), (0, 1, 1), (1, 1, 0), (0, 1, 1)]


def test_epochs_are_replicates_of_the_sample():
    columns, found, _ = rows([INSPECT / "twice.eval", INSPECT / "good.eval"], metric="includes")
    assert columns[:2] == ("item", "replicate")
    assert [row[1] for row in found] == [1, 2] * 4
    assert [a[2] + b[2] for a, b in zip(found[::2], found[1::2], strict=True)] == [2, 1, 1, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [({"version": 1}, "version 1, version 2 is read"), ({"status": "error"}, "ended with 'error'")],
)
def test_inspect_logs_of_another_version_or_of_a_failed_run_are_refused(change, words, tmp_path):
    log = json.loads((INSPECT / "old.json").read_text()) | change
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(FileError, match=words):
        scan(str(path), metric="match")


def test_an_unfinished_archive_is_refused(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", "{}")
        archive.writestr("samples/q0_epoch_1.json", "{}")
    with pytest.raises(FileError, match="no header"):
        scan(str(path))


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "log.eval"
    content = bytearray((INSPECT / "good.eval").read_bytes())
    start = content.index(b"samples/q0_epoch_1.json") + 60  # inside the packed sample
    content[start : start + 60] = bytes(60)
    path.write_bytes(content)
    with pytest.raises(FileError):
        scan(str(path), metric="match")


def test_helm_runs_are_read_without_their_perturbations():
    paths = [
        FIXTURES / "helm" / f"acme_{size}" / "per_instance_stats.json"
        for size in ("small", "large")
    ]
    columns, found, _ = rows(paths, metric="exact_match")
    assert columns == ("item", "acme_small", "acme_large")
    assert found == [("id0", 1, 1), ("id1", 1, 1), ("id2", 0, 0), ("id3", 0, 1)]
    stats = json.loads(paths[0].read_text())
    assert sum("perturbation" in record for record in stats) == 4  # as many again, in lower case


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("helm/acme_small/per_instance_stats.json", r"'num_references'.*'exact_match'.*--metric"),
        ("inspect/good.eval", r"'match', 'includes'.*--metric"),
    ],
)
def test_several_scores_have_to_be_chosen_between(name, words):
    with pytest.raises(InputError, match=words):
        scan(str(FIXTURES / name))
    with pytest.raises(InputError, match="no score 'f1'"):
        scan(str(FIXTURES / name), metric="f1")


def test_a_helm_folder_names_the_model_and_the_task(tmp_path):
    folder = tmp_path / "sums:level=1,model=acme_small"
    folder.mkdir()
    shutil.copy(FIXTURES / "helm" / "acme_small" / "per_instance_stats.json", folder)
    columns, found, _ = rows([folder / "per_instance_stats.json"], metric="exact_match")
    assert columns == ("item", "acme_small")
    assert found[0][0] == "id0"


def test_openai_evals_are_scored_by_their_match_events(tmp_path):
    paths = [FIXTURES / "openai_evals" / f"{size}.jsonl" for size in ("small", "large")]
    columns, found, _ = rows(paths)
    assert columns == ("item", "small", "large")
    assert {row[0]: row[1:] for row in found} == {
        "sums.dev.0": (1, 1),
        "sums.dev.1": (1, 1),
        "sums.dev.2": (0, 0),
        "sums.dev.3": (0, 1),
        "sums.dev.4": (1, 1),
        "sums.dev.5": (1, 1),
    }
    cut = tmp_path / "cut.jsonl"
    cut.write_text(
        "\n".join(line for line in paths[0].read_text().splitlines() if "final_report" not in line)
    )
    with pytest.raises(FileError, match="did not finish"):
        scan(str(cut))


def test_a_metric_is_for_logs_only(tmp_path):
    (tmp_path / "s.csv").write_text("x,y\n1,0\n")
    with pytest.raises(InputError, match="is for evaluation logs"):
        scan(str(tmp_path / "s.csv"), metric="acc")


def inner(value, path=()):
    for key in value if isinstance(value, dict) else range(len(value)):
        yield (*path, key)
        if isinstance(value[key], dict | list):
            yield from inner(value[key], (*path, key))


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.json")), ids=lambda one: one.parent.name)
def test_a_field_of_another_kind_is_refused_or_says_nothing(path, tmp_path):
    draw = random.Random(0)
    text = path.read_text()
    places = list(inner(json.loads(text)))
    for _ in range(40):
        held = at = json.loads(text)
        *above, last = draw.choice(places)
        for key in above:
            at = at[key]
        at[last] = draw.choice([None, [], {}, "x", 3, [1], {"a": 1}])
        (tmp_path / path.name).write_text(json.dumps(held))
        with contextlib.suppress(TallystickError):
            scan(str(tmp_path / path.name)).close()
