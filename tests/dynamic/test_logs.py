"""Logs as people have them, with the commands that they type, and answers counted beside them."""

import json

import numpy as np
import pytest

from tallystick.cli import main

N = 300


@pytest.fixture
def said(capsys, tmp_path, monkeypatch):
    """Write a file into an empty folder, run ``dynamic analyse`` on it, return code, JSON, errors."""
    monkeypatch.chdir(tmp_path)

    def run(name, text, *options):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(SystemExit) as end:
            main(["dynamic", "analyse", name, *options, "--json"])
        printed = capsys.readouterr()
        return end.value.code or 0, json.loads(printed.out) if printed.out else None, printed.err

    return run


def models(seed=1, shifts=(0.0, 0.1, 0.5)):
    """Three rounds' models on the same items, the last one clearly better: True is right."""
    rng = np.random.default_rng(seed)
    hard = rng.standard_normal(N)
    return [0.8 * hard + 0.6 * rng.standard_normal(N) < 0.7 + shift for shift in shifts]


def lines(*rows, mark=","):
    return "\n".join(mark.join(map(str, row)) for row in rows) + "\n"


def is_paired(body, first, last):
    """Say whether an answer has the change that was counted beside it, settled as it should be."""
    change = body["change"]
    assert change["paired"] is True
    assert change["estimate"] == pytest.approx(last.mean() - first.mean())
    assert change["settled"] == "better"
    assert body["rounds"][-1]["accuracy"] == pytest.approx(last.mean())
    return True


def test_1_a_sheet_of_0_and_1_with_one_column_per_round(said):
    right = models()
    rows = [(f"q{k}", *(int(one[k]) for one in right)) for k in range(N)]
    code, body, err = said("sheet.csv", lines(("id", "base", "round1", "round2"), *rows))
    assert code == 0, err
    assert (body["kind"], body["models"]) == ("path", ["base", "round1", "round2"])
    assert is_paired(body, right[0], right[2])
    assert "did not say" not in body["verdict"]
    assert body["held_out"] is False
    assert any("does not say that its items were held out" in text for text in body["warnings"])
    assert body["advice"]["gain"]["interval"] is None


def test_2_right_and_wrong_in_words_with_blanks_and_a_column_of_metadata(said):
    rng, right = np.random.default_rng(3), models()
    blank = rng.random((3, N)) < 0.02
    words = [["" if b else "Right" if r else "wrong" for r, b in zip(*pair, strict=True)]
             for pair in zip(right, blank, strict=True)]  # fmt: skip
    cached = rng.integers(0, 2, N)
    rows = [(k, 1 + k // 100, *(one[k] for one in words), cached[k]) for k in range(N)]
    head = ("Question ID", "Round", "bert", "roberta", "deberta", "cached")
    code, _, err = said("words.csv", lines(head, *rows))
    assert code == 2
    assert "tallystick dynamic analyse words.csv --json --models bert,roberta,deberta\n" in err
    code, body, err = said("words.csv", None, "--models", "bert,roberta,deberta")
    assert code == 0, err
    assert (body["kind"], body["latest"]) == ("panel", "deberta")
    own = right[2][200:][~blank[2][200:]]
    assert body["rounds"][2]["accuracy"] == pytest.approx(own.mean())
    assert body["rounds"][2]["items"] == own.size
    assert "no change of the model alone" in body["verdict"]
    assert f"{blank.sum()} of 900 answers are missing" in err


def test_3_answers_beside_a_truth_vote_by_plurality(said):
    rng, right = np.random.default_rng(4), models()
    names = np.array(["Positive", "negative", "neutral"])
    truth = rng.integers(0, 3, N)
    said_ = [np.where(one, truth, (truth + rng.integers(1, 3, N)) % 3) for one in right]
    rows = [(k, names[truth[k]].upper(), *(names[one[k]] for one in said_)) for k in range(N)]
    code, body, err = said("dynasent.csv", lines(("uid", "gold_label", "m_a", "m_b", "m_c"), *rows))
    assert code == 0, err
    counts = np.stack([(np.array(said_) == k).sum(axis=0) for k in range(3)])
    top = counts == counts.max(axis=0)
    wrong = 1 - top[truth, np.arange(N)] / top.sum(axis=0)
    assert body["vote"]["rule"] == "plurality"
    assert body["vote"]["risk"] == pytest.approx(wrong.mean())
    assert body["vote"]["change"]["estimate"] == pytest.approx((1 - wrong).mean() - right[2].mean())
    assert body["rounds"][0]["accuracy"] == pytest.approx(right[2].mean())


@pytest.mark.parametrize(("top", "bar"), [(1, ".5"), (100, "50")])
def test_4_scores_need_a_bar_which_is_asked_for(said, top, bar):
    rng, right = np.random.default_rng(5), models()
    score = [
        np.round(np.clip(0.5 + 0.3 * (2 * r - 1) + 0.05 * rng.standard_normal(N), 0, 1), 3)
        for r in right
    ]
    score[0][:2] = 0, 1
    rows = [(k, *(round(top * one[k], 3) for one in score)) for k in range(N)]
    code, _, err = said("scores.csv", lines(("item", "v1", "v2", "v3"), *rows))
    assert code == 2
    assert f"tallystick dynamic analyse scores.csv --json --bar {bar}\n" in err
    code, body, err = said("scores.csv", None, "--bar", bar)
    assert code == 0, err
    assert is_paired(body, score[0] >= 0.5, score[2] >= 0.5)
    assert f"an answer is right from {float(bar):g} on (--bar)" in err


def test_a_loss_is_right_below_the_bar(said):
    rng, right = np.random.default_rng(5), models()
    loss = [np.round(2 - 1.5 * r + 0.2 * rng.random(N), 3) for r in right]
    rows = [(k, *(one[k] for one in loss)) for k in range(N)]
    head = ("item", "r1_loss", "r2_loss", "r3_loss")
    code, body, err = said("loss.csv", lines(head, *rows), "--bar", "1")
    assert code == 0, err
    assert is_paired(body, loss[0] <= 1, loss[2] <= 1)
    assert "lower is better" in err


def test_5_item_round_correct_and_nothing_else(said):
    right = models()
    rows = [(f"q{k}", t + 1, int(one[k])) for t, one in enumerate(right) for k in range(N)]
    text = lines(("item", "round", "correct"), *rows, mark=";")
    code, body, err = said("log.csv", text, "--all-held-out")
    assert code == 0, err
    assert body["kind"] == "path"
    assert is_paired(body, right[0], right[2])
    assert body["verdict"].startswith("The latest model (the model of round 3) is right on ")
    assert "held-out items: better than round 1" in body["verdict"]
    assert body["vote"]["rule"] == "more than half"


@pytest.mark.parametrize("column", ["wrong", "error", "is_wrong"])
def test_6_a_column_of_errors_is_turned_round_and_held_out_items_are_chosen(said, column):
    right = models()
    rows = [(f"h{k}", f"R{t + 9}", f"m-r{t + 9}", "no" if one[k] else "yes", "TRUE")
            for t, one in enumerate(right) for k in range(N)]  # fmt: skip
    rows += [
        (f"c{t}-{k}", f"R{t + 9}", f"m-r{t + 9}", "yes", "FALSE")
        for t in range(3)
        for k in range(40)
    ]
    head = ("example_id", "Round", "Model", column, "held_out")
    code, body, err = said("long.csv", lines(head, *rows))
    assert code == 0, err
    assert [one["round"] for one in body["rounds"]] == ["R9", "R10", "R11"]
    assert is_paired(body, right[0], right[2])
    assert f"'{column}' says wrong: it is turned round" in err
    assert body["n_items"] == N
    assert "900 of 1,020 rows are held out" in err


def test_7_rounds_with_items_of_their_own_say_nothing_of_the_model(said):
    right = models(shifts=(0.9, 0.5, -0.2))
    rows = [
        (f"{t}-{k}", t + 1, f"m{t}", "pass" if one[k] else "fail")
        for t, one in enumerate(right)
        for k in range(N)
    ]
    code, body, err = said("own.csv", lines(("id", "round", "model", "passed"), *rows))
    assert code == 0, err
    assert body["kind"] == "rounds"
    assert body["change"]["paired"] is False
    assert body["change"]["settled"] == "worse"
    assert body["change"]["estimate"] == pytest.approx(right[2].mean() - right[0].mean())
    assert "no change of the model alone" in body["verdict"]
    assert body["vote"] is None


def attempts():
    rng = np.random.default_rng(6)
    fooled = rng.random(600) < 0.3
    valid = np.where(fooled, np.where(rng.random(600) < 0.8, "valid", "invalid"), "")
    head = ["Worker ID", "round", "fooled", "validated", "payment"]
    rows = [
        [f"w{k % 20}", 1 + k // 200, str(bool(fooled[k])).upper(), valid[k], 0.5]
        for k in range(600)
    ]
    return head, rows, fooled & (valid == "valid")


def test_8_attempts_are_counted_exactly_in_any_order_of_rows(said):
    head, rows, won = attempts()
    mixed = [rows[k] for k in np.random.default_rng(0).permutation(600)]
    for table in (rows, mixed):
        code, body, err = said("attempts.csv", lines(head, *table))
        assert code == 0, err
        assert [one["success"]["successes"] for one in body["rounds"]] == [
            int(won[k : k + 200].sum()) for k in (0, 200, 400)
        ]
        assert [one["success"]["attempts"] for one in body["rounds"]] == [200] * 3
        assert body["annotators"] == 20
        assert body["rounds"][0]["cost"] == pytest.approx(100 / won[:200].sum())


def test_9_an_export_of_dynabench(said):
    rng = np.random.default_rng(7)
    fooled = rng.random(300) < 0.4
    votes = [
        ["correct"] * int(rng.integers(0, 4)) + ["incorrect"] * int(rng.integers(0, 2))
        for _ in fooled
    ]
    rows = [
        {
            "id": k, "metadata_json": json.dumps({"annotator_id": f"w{k % 15}"}), "target_pred": "1",
            "model_preds": "0.2|0.8", "target_model": "roberta-r1", "model_wrong": bool(fooled[k]),
            "retracted": k % 50 == 0, "flagged": False, "time_elapsed": "0:01:30",
            "context": {"id": 7, "r_realid": 11 + k // 150},
            "validations": [[vote, "user", f"v{j}"] for j, vote in enumerate(votes[k])],
        }
        for k in range(300)
    ]  # fmt: skip
    code, body, err = said("export.jsonl", "\n".join(map(json.dumps, rows)))
    assert code == 0, err
    won = np.array([
        fooled[k] and k % 50 != 0 and votes[k].count("correct") > votes[k].count("incorrect") for k in range(300)
    ])  # fmt: skip
    assert [one["round"] for one in body["rounds"]] == [11, 12]
    assert [one["success"]["successes"] for one in body["rounds"]] == [
        won[:150].sum(),
        won[150:].sum(),
    ]
    assert body["annotators"] == 15


def test_10_a_red_team_that_names_nobody_gets_no_interval(said):
    rng = np.random.default_rng(8)
    broke = rng.random(100) < 0.2
    rows = [(k, "m", "jailbroken" if b else "refused") for k, b in enumerate(broke)]
    code, body, err = said("red.csv", lines(("attempt_id", "model", "outcome"), *rows))
    assert code == 0, err
    assert body["rounds"][0]["success"]["successes"] == broke.sum()
    assert body["rounds"][0]["success"]["interval"] is None
    assert body["decision"] == "unknowable"


# -- mistakes that people make


def test_a_timeout_among_right_and_wrong_is_asked_about(said):
    right = models()
    rows = [[k, t + 1, int(one[k])] for t, one in enumerate(right) for k in range(N)]
    rows[5][2] = "timeout"
    text = lines(("item", "round", "correct"), *rows)
    code, _, err = said("log.csv", text)
    assert code == 2
    assert "row 6" in err
    assert "--missing=timeout" in err
    assert "--never-true=timeout" in err
    code, body, err = said("log.csv", None, "--missing=timeout")
    assert (code, body["n_items"]) == (0, N - 1), err
    code, body, err = said("log.csv", None, "--never-true=timeout")
    assert (code, body["n_items"]) == (0, N), err
    first = right[0].copy()
    first[5] = False
    assert body["rounds"][0]["accuracy"] == pytest.approx(first.mean())


def test_rounds_whose_names_say_no_order_get_no_change(said):
    right = models()
    names = ("pilot", "main", "extra")
    rows = [(k, names[t], int(one[k])) for t, one in enumerate(right) for k in range(N)]
    code, body, err = said("log.csv", lines(("item", "round", "correct"), *rows))
    assert code == 0, err
    assert body["change"] is None
    assert "do not say their order" in body["unknown"]["change"]
    assert "since" not in body["verdict"]
    assert "better" not in body["verdict"].partition("Certain")[0]


def test_copied_rows_are_dropped_and_contradictions_refused(said):
    right = models()
    rows = [(k, t + 1, int(one[k])) for t, one in enumerate(right) for k in range(N)]
    code, body, err = said("log.csv", lines(("item", "round", "correct"), *rows, *rows[:7]))
    assert code == 0, err
    assert "7 rows say the same as a row before" in err
    assert is_paired(body, right[0], right[2])
    code, _, err = said(
        "log.csv", lines(("item", "round", "correct"), *rows, (0, 1, int(not right[0][0])))
    )
    assert code == 1
    assert "item '0' has two rows in '1' that say different things" in err or "two rows" in err


def test_a_success_that_nobody_explains_is_asked_about(said):
    right = models()
    rows = [(k, t + 1, int(one[k])) for t, one in enumerate(right) for k in range(N)]
    code, _, err = said("log.csv", lines(("item", "round", "success"), *rows))
    assert code == 2
    assert "--correct success" in err
    code, body, err = said("log.csv", None, "--correct", "success")
    assert code == 0, err
    assert is_paired(body, right[0], right[2])


def test_a_model_in_the_loop_has_no_vote_and_is_not_judged_by_its_own_round(said):
    right = models()
    loop = np.zeros(N, dtype=bool)
    rows = [
        (k, int(right[0][k]), int(right[1][k]), int(right[2][k]), int(loop[k])) for k in range(N)
    ]
    code, body, err = said(
        "log.csv",
        lines(("id", "bert", "xlnet", "big", "looped"), *rows),
        "--models",
        "bert,xlnet,big,looped",
    )
    assert code == 0, err
    assert body["rounds"][0]["by_design"] is True
    assert "by design" in body["verdict"]
    assert any("It has no vote" in text for text in body["warnings"])
    code, body, err = said("log.csv", None, "--models", "looped,bert,xlnet,big")
    assert body["vote"]["models"] == ["bert", "xlnet", "big"]


def test_two_models_with_a_history_each_are_not_mixed(said):
    right = models()
    rows = [
        (k, t + 1, m, int(one[k])) for t, one in enumerate(right) for m in "ab" for k in range(N)
    ]
    code, _, err = said("log.csv", lines(("item", "round", "model", "correct"), *rows))
    assert code == 1
    assert "keep the rows of one model" in err


def test_the_order_of_rows_changes_nothing(said):
    right = models()
    rows = [(f"q{k}", t + 1, int(one[k])) for t, one in enumerate(right) for k in range(N)]
    head = ("item", "round", "correct")
    code, body, err = said("log.csv", lines(head, *rows))
    assert code == 0, err
    order = np.random.default_rng(0).permutation(len(rows))
    code, mixed, err = said("log.csv", lines(head, *[rows[k] for k in order]))
    assert code == 0, err
    for name in ("rounds", "change", "vote", "advice", "verdict"):
        assert body[name] == mixed[name], name


def test_right_and_wrong_exchanged_turn_every_answer(said):
    right = models()
    head = ("item", "round", "correct")
    rows = [(k, t + 1, int(one[k])) for t, one in enumerate(right) for k in range(N)]
    _, body, _ = said("log.csv", lines(head, *rows))
    _, turned, _ = said("log.csv", lines(("item", "round", "wrong"), *rows))
    assert turned["change"]["estimate"] == pytest.approx(-body["change"]["estimate"])
    assert (body["change"]["settled"], turned["change"]["settled"]) == ("better", "worse")
    assert turned["rounds"][0]["accuracy"] == pytest.approx(1 - body["rounds"][0]["accuracy"])


def test_columns_called_correct_are_no_answers_to_a_truth_of_0_and_1(said):
    right = models()
    label = np.random.default_rng(9).integers(0, 2, N)
    rows = [(k, label[k], *(int(one[k]) for one in right)) for k in range(N)]
    head = ("id", "label", "r1_correct", "r2_correct", "r3_correct")
    code, body, err = said("sheet.csv", lines(head, *rows))
    assert code == 0, err
    assert is_paired(body, right[0], right[2])


def test_a_latency_beside_scores_is_asked_about_and_averages_are_refused(said):
    rng, right = np.random.default_rng(5), models()
    score = [np.round(0.8 * r + 0.2 * rng.random(N), 3) for r in right]
    rows = [(k, *(one[k] for one in score), rng.integers(200, 900)) for k in range(N)]
    code, _, err = said(
        "s.csv", lines(("item", "r1", "r2", "r3", "latency_ms"), *rows), "--bar", ".5"
    )
    assert code == 2
    assert "--models r1,r2,r3" in err
    code, body, err = said("s.csv", None, "--bar", ".5", "--models", "r1,r2,r3")
    assert code == 0, err
    assert is_paired(body, score[0] >= 0.5, score[2] >= 0.5)
    table = lines(("round", "accuracy"), (1, 0.81), (2, 0.84), (3, 0.86))
    code, _, err = said("averages.csv", table, "--bar", ".5")
    assert code == 1
    assert "these are averages" in err


def test_the_latest_of_rounds_models_is_that_of_the_last_round_wherever_its_column_stands(said):
    right = models()
    rows = [
        (k, 1 + k // 100, int(right[2][k]), int(right[0][k]), int(right[1][k])) for k in range(N)
    ]
    code, body, err = said("sheet.csv", lines(("id", "round", "r3", "r1", "r2"), *rows))
    assert code == 0, err
    assert (body["kind"], body["latest"]) == ("panel", "r3")
    assert body["rounds"][2]["accuracy"] == pytest.approx(right[2][200:].mean())
