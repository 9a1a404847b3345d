"""The files of real data: the right roles without options, or a named question; never a wrong
guess."""

from fnmatch import fnmatchcase

import pytest

from tallystick.errors import FileError, InputError
from tallystick.table import scan
from tallystick.verbs.audit import audit
from tests.data.detect.seen import seen

CROWD = {"item": "item", "truth": "truth"}
API = {"item": "item_id", "truth": "true"}
RULES = {"truth": "y", "missing": ("-1",), "slices": ("split",)}

ROLES = {
    "judge/bluebirds.csv.gz": ({**CROWD}, "w*", 39),
    "judge/rte.csv.gz": ({**CROWD}, "w*", 164),
    "judge/dog.csv.gz": ({**CROWD}, "w*", 109),
    "judge/llmbar_swap0.csv.gz": ({**CROWD}, "*/*", 65),
    "judge/adult_lr_judges.csv.gz": ({**CROWD}, "lr_*", 4),
    "judge/mushroom_lr_judges.csv.gz": ({**CROWD}, "lr_*", 7),
    "judge/twonorm_lr_judges.csv.gz": ({**CROWD}, "lr_*", 6),
    "shift/frugalml_2020_AUDIOMNIST.csv.gz": ({**API}, "pred_*", 4),
    "shift/frugalml_2020_COMMAND.csv.gz": ({**API}, "pred_*", 4),
    "shift/frugalml_2020_DIGIT.csv.gz": ({**API}, "pred_*", 4),
    "shift/frugalml_2020_EXPW.csv.gz": ({**API}, "pred_*", 4),
    "shift/frugalml_2020_FERPLUS.csv.gz": ({**API}, "pred_*", 4),
    "shift/frugalml_2020_IMDB.csv.gz": ({**API}, "pred_*", 4),
    "shift/frugalml_2020_WAIMAI.csv.gz": ({**API}, "pred_*", 4),
    "shift/frugalml_2020_YELP.csv.gz": ({**API}, "pred_*", 4),
    "bound/youtube.parquet": ({**RULES, "item": None}, "lf_*", 10),
    "bound/sms.parquet": ({**RULES, "item": None}, "lf_*", 73),
    "bound/chemprot.parquet": ({**RULES, "item": "id"}, "lf_*", 26),
    "bound/hate_speech.parquet": ({"item": "id", "truth": "y", "missing": ()}, "lf_*", 2),
    "bound/youtube_llama2_labels.parquet": ({**RULES, "item": None}, "llama_*", 3),
    "dynamic/anli_dev_rounds_8models.csv.gz": (
        {"item": "uid", "truth": "gold", "round": "round", "validators": "verifier_labels"},
        "*-*",
        8,
    ),
}
QUESTIONS = {
    "compare/helm_lite_binary.parquet": "--models or --judges",
    "shift/llmdrift_2023_03_vs_06.csv.gz": "--item",
    "shift/semisynthetic_2020_to_2021.csv.gz": "--item",
    "judge/adult.data.gz": "--judges",
    "dynamic/snli_devtest.tsv.gz": "--judges",
    "score/arena_4systems.csv.gz": "--item",
}
REFUSED = {
    "judge/agaricus-lepiota.data.gz": (InputError, "put a line with column names above it"),
    "bound/youtube_minilm.npz": (FileError, "NumPy archive"),
    "dynamic/cifar10_60k_jpeg.npz": (FileError, "NumPy archive"),
}


@pytest.mark.parametrize("name", ROLES)
def test_the_roles_are_right_without_options(name, shared_data):
    roles, pattern, votes = ROLES[name]
    with scan(shared_data / name) as table:
        reading = seen(table)
        assert reading.questions == ()
        assert {role: getattr(reading, role) for role in roles} == roles
        assert list(reading.votes) == [
            column for column in table.columns if fnmatchcase(column, pattern)
        ]
        assert len(reading.votes) == votes
        assert (
            reading.old
            is reading.new
            is reading.weight
            is reading.prediction
            is reading.score
            is None
        )


def test_win_rates_are_scores_of_models(shared_data):
    with scan(shared_data / "compare/alpaca_eval2_winrate_805x.parquet") as table:
        reading = seen(table)
        assert reading.questions == ()
        assert (reading.item, reading.slices, reading.truth, reading.votes) == (
            "item_id",
            ("dataset",),
            None,
            (),
        )
        assert set(reading.scores) == set(table.columns) - {"item_id", "dataset"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_cannot_be_told_is_asked_by_the_name_of_the_option(name, shared_data):
    with scan(shared_data / name) as table:
        assert [question.option for question in seen(table).questions] == [QUESTIONS[name]]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_by_the_reader(name, shared_data):
    error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        scan(shared_data / name)


def test_no_file_is_forgotten(shared_data):
    files = {str(path.relative_to(shared_data)) for path in shared_data.glob("*/*")}
    known = {*ROLES, *QUESTIONS, *REFUSED, "compare/alpaca_eval2_winrate_805x.parquet"}
    assert files == known


def test_an_answer_to_the_question_lets_it_run(shared_data):
    with scan(shared_data / "shift/semisynthetic_2020_to_2021.csv.gz") as table:
        reading = seen(table, rows_are_items=True)
        assert (reading.truth, reading.confidence) == ("true", "conf_2020")
        assert (reading.old, reading.new) == ("pred_2020_real", "pred_2021_simulated")
    with scan(shared_data / "compare/helm_lite_binary.parquet") as table:
        result = audit(table, models=("*",))
        assert [part.verb for part in result.sections] == ["compare"]
        assert result.sections[0].to_dict()["contenders"] == ["openai_gpt-4-0613"]
