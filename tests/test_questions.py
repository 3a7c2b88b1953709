"""How often an agent may ask, when a question still stands, and what counts as evidence."""

from __future__ import annotations

import threading

import pytest

from plan_mode.errors import Refusal
from plan_mode.host.consent import Answer
from plan_mode.questions import _MOST_PENDING, _MOST_REMEMBERED, MOST_A_TURN, Questions

YES, NO, NOBODY = (Answer(outcome, "directive") for outcome in ("accepted", "declined", "timed-out"))


@pytest.fixture
def questions() -> Questions:
    return Questions()


def refused(questions: Questions, session: str = "s", target: str = "t") -> str:
    try:
        with questions.asking(session, target):
            return ""
    except Refusal as exc:
        return exc.rule


# -- how often

def test_so_many_a_turn(questions: Questions) -> None:
    assert [refused(questions, target=str(number)) for number in range(MOST_A_TURN + 1)] == [""] * MOST_A_TURN + ["asked-enough"]
    assert refused(questions, "other") == ""
    questions.begin_turn("s")
    assert refused(questions) == ""


def test_the_end_of_a_turn_isnt_the_persons_word(questions: Questions) -> None:
    for number in range(MOST_A_TURN):
        refused(questions, target=str(number))
    questions.end_turn("s")
    assert refused(questions) == "asked-enough"


def test_what_was_declined(questions: Questions) -> None:
    with questions.asking("s", "t") as question:
        questions.answered(question, NO)
    assert (refused(questions), refused(questions, target="u"), refused(questions, "other")) == ("declined-before", "", "")
    questions.begin_turn("s")
    assert refused(questions) == ""


def test_what_nobody_answered(questions: Questions) -> None:
    """A late answer in words would be taken for one to the next question."""
    with questions.asking("s", "t") as question:
        questions.answered(question, NOBODY)
    assert [refused(questions), refused(questions, target="u"), refused(questions, "other")] == [*["unanswered-before"] * 2, ""]
    questions.begin_turn("s")
    assert refused(questions) == ""


@pytest.mark.parametrize("answer", [NO, NOBODY])
def test_an_answer_to_a_question_of_an_earlier_turn(answer: Answer, questions: Questions) -> None:
    with questions.asking("s", "t") as question:
        questions.begin_turn("s")
        questions.answered(question, answer)
    assert refused(questions) == ""


# -- one at a time

def test_one_at_a_time(questions: Questions) -> None:
    with questions.asking("s", "t"):
        assert [refused(questions), refused(questions, target="u"), refused(questions, "other")] == [*["being-asked"] * 2, ""]
    assert refused(questions) == ""


def test_of_many_that_ask_at_once_one_does(questions: Questions) -> None:
    ready, release, found = threading.Barrier(8), threading.Event(), []

    def ask() -> None:
        ready.wait(10)
        try:
            with questions.asking("s", "t"):
                found.append("")
                release.wait(10)
        except Refusal as exc:
            found.append(exc.rule)
            if found.count("being-asked") == 7:
                release.set()
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == ["", *["being-asked"] * 7]


@pytest.mark.parametrize("ends", ["begin_turn", "end_turn"])
def test_a_question_that_is_withdrawn(ends: str, questions: Questions) -> None:
    with questions.asking("s", "t", "s") as question, questions.asking("other", "t", "other") as other:
        assert question.stands()
        getattr(questions, ends)("s")
        assert (question.stands(), other.stands()) == (False, True)
    assert refused(questions) == ""


def test_a_failure_while_asking_leaves_no_question_open(questions: Questions) -> None:
    with pytest.raises(ZeroDivisionError), questions.asking("s", "t"):
        raise ZeroDivisionError
    assert refused(questions) == ""


# -- evidence

def test_evidence_counts_once(questions: Questions) -> None:
    asked = questions.announce("s", "c", "t", "subject")
    questions.witness(asked.nonce, YES)
    found = questions.evidence("s", "c")
    assert found is not None
    assert (found.subject, found.answer, found.question.stands()) == ("subject", YES, True)
    assert questions.evidence("s", "c") is None


@pytest.mark.parametrize(("session", "call"), [("other", "c"), ("s", "other"), ("", ""), ("s", ""), ("", "c")])
def test_evidence_is_for_its_call(session: str, call: str, questions: Questions) -> None:
    questions.witness(questions.announce("s", "c", "t", "subject").nonce, YES)
    assert questions.evidence(session, call) is None


def test_without_a_witness_there_is_no_answer(questions: Questions) -> None:
    questions.announce("s", "c", "t", "subject")
    found = questions.evidence("s", "c")
    assert found is not None
    assert found.answer is None


@pytest.mark.parametrize("key", ["", "x", "plugin_rule:x", "0" * 16])
def test_a_wrong_key_witnesses_nothing(key: str, questions: Questions) -> None:
    questions.announce("s", "c", "t", "subject")
    questions.witness(key, YES)
    found = questions.evidence("s", "c")
    assert found is not None
    assert found.answer is None


def test_a_key_that_is_used_again(questions: Questions) -> None:
    nonce = questions.announce("s", "c", "t", "subject").nonce
    questions.witness(nonce, YES)
    questions.evidence("s", "c")
    questions.announce("s", "c", "t", "subject")
    questions.witness(nonce, YES)
    found = questions.evidence("s", "c")
    assert found is not None
    assert found.answer is None


@pytest.mark.parametrize(("first", "second"), [(NO, YES), (NOBODY, YES), (YES, NO)])
def test_the_first_answer_counts(first: Answer, second: Answer, questions: Questions) -> None:
    nonce = questions.announce("s", "c", "t", "subject").nonce
    questions.witness(nonce, first)
    questions.witness(nonce, second)
    found = questions.evidence("s", "c")
    assert found is not None
    assert found.answer == first


def test_a_no_by_directive_is_remembered(questions: Questions) -> None:
    questions.witness(questions.announce("s", "c", "t", "subject").nonce, NO)
    assert refused(questions) == "declined-before"


@pytest.mark.parametrize("ends", ["begin_turn", "end_turn"])
def test_evidence_of_a_turn_that_is_over(ends: str, questions: Questions) -> None:
    questions.witness(questions.announce("s", "c", "t", "subject", "s").nonce, YES)
    getattr(questions, ends)("s")
    found = questions.evidence("s", "c")
    assert found is not None
    assert not found.question.stands()


def test_one_that_was_never_put_gives_way(questions: Questions) -> None:
    """What the host refuses by itself it tells nobody."""
    first = questions.announce("s", "c", "t", "subject")
    second = questions.announce("s", "d", "u", "subject")
    assert (first.stands(), second.stands()) == (False, True)


def test_the_question_that_was_put_last_counts(questions: Questions) -> None:
    questions.witness(questions.announce("s", "c", "t", "first").nonce, YES)
    second = questions.announce("s", "c", "t", "second")
    found = questions.evidence("s", "c")
    assert found is not None
    assert (found.subject, found.answer, found.question) == ("second", None, second)


# -- memory

def test_nothing_grows_without_bound(questions: Questions) -> None:
    for number in range(_MOST_REMEMBERED + 50):
        question = questions.announce(f"s{number}", "c", "t", "subject")
        questions.witness(question.nonce, YES)
    assert (len(questions._turns), len(questions._pending)) == (_MOST_REMEMBERED, _MOST_PENDING)
    assert questions.evidence("s0", "c") is None
    assert questions.evidence(f"s{_MOST_REMEMBERED + 49}", "c") is not None
