"""JavaScript's patterns: the same verdict, or a refusal that names the place, and never a long wait."""

from __future__ import annotations

import copy
import json
import pickle
import re
import time
from pathlib import Path

import pytest

from plan_mode.errors import PatternError, PlanModeError
from plan_mode.modes.jsregex import MOST_OF_A_PATH, MOST_OF_A_PATTERN, Pattern, translate

# Verdicts of JavaScript itself: `new RegExp(pattern).test(text)`, or the error that it gave. Those of the real
# patterns, found in mode files of the world, were asked for with the flag i where the pattern begins with (?i).
VECTORS = json.loads((Path(__file__).parents[1] / "conformance" / "regex.json").read_text(encoding="utf-8"))
REFERRING = [r"(?<year>\d+)-\k<year>", r"(a)(?:\1)b", r"\1(a)", r"(?:(a)|b)\1", r"(a)?b\1$"]
ROWS = [row for row in VECTORS["rows"] if "matches" in row and row["pattern"] not in REFERRING]
INVALID = [row["pattern"] for row in VECTORS["rows"] if "error" in row and not row["pattern"].startswith("(?i)")]

REFERENCE = "a back-reference can't be used in a rule for files"

DEVIATIONS = {
    "back-references": "A `fileRegex` with a back-reference (`\\1`, `\\k<name>`) is refused with its position; Roo Code takes "
                       "it. No mode file that we know of has one.",
}

UNICODE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


def refusal(pattern: str) -> PatternError:
    with pytest.raises(PatternError) as raised:
        translate(pattern)
    return raised.value


@pytest.mark.parametrize("row", ROWS + VECTORS["real"], ids=lambda row: ascii(row["pattern"]))
def test_javascripts_own_verdicts(row: dict[str, object]) -> None:
    pattern = translate(str(row["pattern"]))
    assert [text for text in VECTORS["texts"] if pattern.matches(text)] == row["matches"]


@pytest.mark.parametrize("pattern", REFERRING)
def test_a_back_reference_is_refused(pattern: str) -> None:
    assert refusal(pattern).reason == REFERENCE


@pytest.mark.parametrize("pattern", INVALID, ids=ascii)
def test_what_javascript_refuses_is_refused(pattern: str) -> None:
    error = refusal(pattern)
    assert 0 <= error.position <= len(pattern)
    assert error.reason
    assert error.hint


# Each line was checked with Node.js 20.
@pytest.mark.parametrize(("pattern", "text", "verdict"), [
    # The end is the end, and lines are no lines without the flag m.
    (r"\.md$", "a.md\n", False),
    (r"^b", "a\nb", False),
    # Dot: four line terminators, and no other control.
    (r"^.$", "\r", False), (r"^.$", "\u2028", False), (r"^.$", "\u2029", False), (r"^.$", "\n", False), (r"^.$", "\x85", True),
    # Classes are ASCII, but for white space.
    (r"\d", "\u0663", False), (r"^\w$", "é", False), (r"\w", "ſ", False), (r"^\W$", "é", True), (r"\bmd\b", "émdé", True),
    (r"^\s$", "\x1c", False), (r"^\s$", "\x85", False), (r"^\s$", "\u180e", False), (r"^\s$", "\u200b", False),
    (r"^[\s]$", "\ufeff", True), (r"^\S$", "\ufeff", False), (r"^[^\s]$", "\u3000", False),
    # \B holds in the empty text.
    (r"\B", "", True), (r"\b", "", False),
    # Groups and names.
    (r"^(?<ext>md)$", "md", True), (r"^(?<$a>x)$", "x", True), (r"\k<n>", "k<n>", True),
    # Numbers that name no group are octal, or digits.
    (r"^\1$", "\x01", True), (r"^\101$", "A", True), (r"^\400$", "\x200", True), (r"^\8$", "8", True),
    (r"^\08$", "\x008", True),
    (r"^(a)\2$", "a\x02", True), (r"^\0$", "\x00", True),
    # Escapes; what means nothing stands for itself.
    (r"^\/$", "/", True), (r"^\A\Z\h\e\p\-$", "AZhep-", True), (r"^\p{2}$", "pp", True), (r"^\u{2}$", "uu", True),
    (r"^\x4D\u004d$", "MM", True), (r"^\x4$", "x4", True), (r"^\u00$", "u00", True), (r"^\cJ\cj$", "\n\n", True),
    (r"^\c$", r"\c", True), (r"^\c1$", r"\c1", True), (r"^[\c]$", "\\", True), (r"^[\c1]$", "\x11", True),
    (r"^[\c_]$", "\x1f", True),
    (r"^\t\n\v\f\r$", "\t\n\v\f\r", True),
    # Braces that are no quantifier.
    (r"^a{,2}$", "a{,2}", True), (r"^a{$", "a{", True), (r"^x{1$", "x{1", True), (r"^{}]$", "{}]", True),
    (r"^a{1}{$", "a{", True),
    (r"^a{0}$", "", True), (r"^a{2,}$", "a", False), (r"a{99999999999999999999}", "a" * 1000, False),
    (r"^a{0,99999999999}$", "aa", True),
    # Classes of characters.
    (r"[]", "a", False), (r"^[]?a$", "a", True), (r"[^]", "\n", True), (r"[^]", "", False), (r"^[\b]$", "\x08", True),
    (r"^[\B]$", "B", True), (r"^[a-\d]$", "-", True), (r"^[\d-z]$", "y", False), (r"^[\w-]$", "-", True),
    (r"^[--/]$", ".", True),
    (r"^[]]$", "]", False), (r"^[[:alpha:]]$", "a]", True), (r"^[\]]$", "]", True), (r"^[A-z]$", "_", True),
    (r"^[\0-\x02]$", "\x01", True),
    # Repetitions of what takes no room.
    (r"^(?=a)*b", "b", True), (r"^(?=a)+b", "b", False), (r"^(?!a){2}b", "b", True), (r"^(?:\b)?-", "-", True),
    (r"(?:^)*b", "ab", True),
    (r"^(?:(?<=a))?b", "b", True), (r"^(?:a?)?$", "a", True),
    (r"(?:(?:ab)+c){2}$", "abcabc", True), (r"(?:(?:ab)+c){2,}$", "abcabc", True), (r"(?:(?:ab)*c){2}(?:ab)*$", "ccc", True),
    (r"^(?:(?:ab)*c){3}$", "abcc", False), (r"^(?:(?:ab)+c){2,3}$", "abc" * 4, False), (r"(?:(?:ab){2}c){2}$", "abab", False),
    (r"^a{0,3}b$", "acb", False), (r"^a{3}b$", "acab", False),
    (r"^(?:a?b*)?c", "abbc", True), (r"^(?:a*|b)?c", "bc", True), (r"a|\b|b?", "", True),
    # Looking around.
    (r"^(?!.*\.test\.).*\.ts$", "a.test.ts", False), (r"(?<!\.test)\.ts$", "a.ts", True), (r"(?<=a|bc)d", "bcd", True),
    (r"(?<!tests?)/", "tests/", False), (r"(?<!tests?)/", "est/", True), (r"(?<=^|/)a", "ba", False),
    (r"(?<=.*x)a", "xa", True),
    (r"(?<=\bfoo)d", "food", True), (r"(?<=(?:a|b){2})c", "abc", True), (r"(?<!a{1,3})b", "aab", False),
    (r"(?<=a(?=b))b", "ab", True),
    # UTF-16: what is no single unit isn't matched by one.
    ("^.$", "😀", False), ("^..$", "😀", True), ("^😀$", "😀", True), ("😀+$", "😀😀", True), ("^😀{2}$", "😀😀", False),
    ("[😀]", "\ud83d", True),
    (r"^\ud83d\ude00$", "😀", True), ("^[^😀]$", "😀", False), (r"\ude00", "😀", True),
    # A search is one, wherever it begins, and with what is kept once it is found.
    (r"a.*b", "a\nab", True), (r"test.*\.ts$", "test\ntest.ts", True), (r"^.*ab?.*c$", "xaabbc", True),
    (r"(abc|b).*d", "abd", True),
    (r"(abc|b).*d", "abcd", True), (r"^[ab]*(ab|b)[ab]*a$", "ba", True), (r"[ab]+a[ab]+c", "aac", False),
    (r"[ab]+a[ab]+c", "aaac", True),
    (r"(^|/)a.*b", "/ab", True), (r"(^|/)a.*b", "xab", False), (r"x(?=.*y.*)z", "xzy", True), (r".+$", "\n", False),
])
def test_a_rule(pattern: str, text: str, verdict: bool) -> None:
    assert translate(pattern).matches(text) is verdict


@pytest.mark.parametrize("low", [0, 1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("more", [0, 1, 2, 3, 4, 7, 12])
def test_a_count(low: int, more: int) -> None:
    for body in ("[ab]", "(?:[ab]c?)"):
        found = translate(f"^{body}{{{low},{low + more}}}x")
        assert [count for count in range(30) if found.matches("ab" * 15)] == []
        assert [count for count in range(30) if found.matches(("ab" * 15)[:count] + "x")] == [*range(low, low + more + 1)]


@pytest.mark.parametrize("character", UNICODE_SPACE, ids=ascii)
def test_white_space(character: str) -> None:
    assert translate(r"^\s\s$").matches(character * 2)


def test_white_space_is_nothing_else() -> None:
    pattern = translate(r"\s")
    assert {chr(unit) for unit in range(0x10000) if pattern.matches(chr(unit))} == {
        *UNICODE_SPACE, *map(chr, range(0x2000, 0x200B))}


@pytest.mark.parametrize(("pattern", "text", "verdict"), [
    (r"(?i)\.MD$", "a.md", True), (r"(?i)[a-c]", "B", True), (r"(?i)[^a]", "A", False), (r"(?i)é", "É", True),
    (r"(?i)^\u00b5$", "μ", True),
    # As JavaScript's flag i has it: no letter outside of ASCII is the same as one inside, and no letter is two.
    (r"(?i)k", "\u212a", False), (r"(?i)^[a-z]$", "ſ", False), (r"(?i)ß", "SS", False), (r"(?i)^\w$", "ſ", False),
    (r"(?i)i", "İ", False),
])
def test_a_leading_i_is_an_extension(pattern: str, text: str, verdict: bool) -> None:
    found = translate(pattern)
    assert found.matches(text) is verdict
    assert found.note == "(?i) isn't JavaScript, and other programs may refuse it; here it means that case doesn't count."


@pytest.mark.parametrize(("pattern", "position", "message"), [
    ("*.md", 0, "The pattern '*.md' can't be used: at position 0, there is nothing before * that it could repeat. "
                "A glob such as *.md is written \\.md$ here; .* stands for any characters, and \\* for a star."),
    ("(?P<n>x)", 0, "The pattern '(?P<n>x)' can't be used: at position 0, Python's (?P is no JavaScript. "
                    "Write (?<name>...) for a named group."),
    ("a++", 2, "The pattern 'a++' can't be used: at position 2, + follows another quantifier. "
               "JavaScript has no possessive quantifiers: leave one of the two signs out, or put (?:...) around what is "
               "repeated."),
    ("a(?i)b", 1, "The pattern 'a(?i)b' can't be used: at position 1, (?i) stands elsewhere than at the start of the pattern. "
                  "Move it to the start, where it covers the whole pattern, or write both cases: [aA]."),
    ("a[b", 1, "The pattern 'a[b' can't be used: at position 1, this [ is never closed. "
               "Add the ], or write \\[ for the character itself."),
    ("a\\", 1, "The pattern 'a\\\\' can't be used: at position 1, the pattern ends in a lone backslash. "
               "Write \\\\ for the character itself."),
    ("(\\w+)*$", 5, "The pattern '(\\\\w+)*$' can't be used: at position 5, the quantifier repeats a part that can match the "
                    "same text in two ways, so that other programs could take for ever. Let each repetition end in a character "
                    "that can't stand elsewhere in it, as in ([^/]+/)*, or drop one of the quantifiers."),
    ("^(?:(?:[ab]x){99}y)*", 13, "The pattern '^(?:(?:[ab]x){99}y)*' can't be used: at position 13, what this quantifier repeats "
                                 "is so long that a match could take too long. Repeat less of the pattern, or fewer times."),
    ("^(\\w+)/\\1$", 7, "The pattern '^(\\\\w+)/\\\\1$' can't be used: at position 7, a back-reference can't be used in a rule "
                       "for files. Write what it refers to once more, or leave it out."),
    ("😀(", 1, "The pattern '😀(' can't be used: at position 1, this ( is never closed. Add the ), "
              "or write \\( for the character itself."),
])
def test_a_whole_message(pattern: str, position: int, message: str) -> None:
    error = refusal(pattern)
    assert (error.pattern, error.position, str(error)) == (pattern, position, message)
    assert isinstance(error, PlanModeError)


@pytest.mark.parametrize(("pattern", "position", "reason"), [
    ("(", 0, "never closed"), ("a)", 1, "without its ("), ("(?>x)", 0, "atomic"), ("(?#x)", 0, "comment"),
    ("(?x)", 0, "kind of group"),
    ("(?", 0, "kind of group"), ("(?<1>a)", 0, "name"), ("(?<n>a)|(?<n>b)", 8, "two groups"),
    ("(?<n>a)\\k<m>", 7, REFERENCE), ("(?<n>a)\\kn", 7, REFERENCE), ("\\k<n>(?<n>a)", 0, REFERENCE),
    ("(?<n>a)[\\k]", 8, "\\k"), ("[b-a]", 1, "wrong order"), ("a{2,1}", 1, "wrong order"),
    ("{1}", 0, "nothing before {"), ("a|*", 2, "nothing before *"), ("^*", 1, "nothing before *"),
    ("\\b+", 2, "nothing before +"),
    ("(?<=a)*", 6, "nothing before *"), ("[a\\", 0, "never closed"), ("a{1}{2}", 4, "follows another"),
    ("(?P=n)", 0, "Python's"),
    ("(" * 41 + ")" * 41, 40, "nested"),
    ("(a)\\1", 3, REFERENCE), ("\\1(a)", 0, REFERENCE), ("(a\\1)", 2, REFERENCE), ("(?<=(a))\\1", 8, REFERENCE),
    ("(a)(b)\\2", 6, REFERENCE), ("(?i)(a)\\1", 7, REFERENCE), ("(?<n>a)\\k<n>", 7, REFERENCE),
])
def test_a_refusal(pattern: str, position: int, reason: str) -> None:
    error = refusal(pattern)
    assert reason in error.reason
    assert error.position == position


TWICE, NOTHING, LONG, INVOLVED = "same text in two ways", "match nothing at all", "is so long", "too involved"


@pytest.mark.parametrize(("pattern", "position", "reason"), [
    ("(a+)+", 4, TWICE), ("(a+)+$", 4, TWICE), ("(a|a)*", 5, TWICE), ("(a|a)*b", 5, TWICE), ("(a|ab|b)*c", 8, TWICE),
    ("(.*a){10}", 5, TWICE), ("(.*/)*x", 5, TWICE), ("([a-z]+)*x", 8, TWICE), ("((a+)b?)*c", 8, TWICE), ("(x+x+)+y", 6, TWICE),
    ("(\\w+\\s?)*$", 8, TWICE), ("(\\d|\\w)+$", 7, TWICE), ("(?:a|b|ab)*c", 10, TWICE), ("(a{1,2}){2,3}b", 8, TWICE),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", 12, TWICE), ("(?:a{20}|a{30})*b", 15, TWICE), ("(?i)(a|A)+", 9, TWICE),
    ("(?:(|)a)*", 8, TWICE), ("(?:(a?|b?)c)*", 12, TWICE), ("(?:(?:ab)*(?:ab)*c)+", 19, TWICE), ("((a+)+|b)", 5, TWICE),
    ("(?=(a+)+b)c", 7, TWICE), ("(?!(?:a|a)+b)c", 10, TWICE), ("(?<=(a|a)+)b", 9, TWICE),
    ("x(?:" + "a?" * 200 + "b)*", 406, TWICE),
    ("(a*)*", 4, NOTHING), ("(a?){2}b", 4, NOTHING), ("((?:a|b?c?)+)*", 11, NOTHING), ("(?:a|\\b)+c", 8, NOTHING),
    ("x(?:" + "|".join(map(chr, range(0x4E00, 0x4EFA))) + ")*", 504, INVOLVED),
    ("(?!(?:" + "|".join(f"{chr(unit)}x" for unit in range(0x4E00, 0x4E96)) + ")*)", 456, INVOLVED),
    ("(?=(?:" + "|".join(f"{chr(unit)}x" for unit in range(0x4E00, 0x4E22)) + ")*)" + "(?=(?:"
     + "|".join(f"{chr(unit)}y" for unit in range(0x4E00, 0x4E22)) + ")*)", 218, INVOLVED),
    ("(?:(?:(?:.{9}x){999}y){999}z){999}", 22, LONG), ("(?:(?:(?:ab)*c){30}d){30}", 12, LONG),
    ("(?=(?:(?:[ab]x){99}y)*)z", 15, LONG), ("^(?:(?:[a-z]{2}-){1,400}/)*x", 17, LONG),
    ("^(?:" + "|".join("a" * count + "b" for count in range(1, 29)) + ")*x", 466, LONG),
])
def test_what_could_take_long_is_refused(pattern: str, position: int, reason: str) -> None:
    started = time.process_time()
    error = refusal(pattern)
    assert time.process_time() - started < 0.5  # the goal is a tenth of it
    assert reason in error.reason
    assert error.position == position


# What people write: a path that matches, and one that doesn't. Each line was checked with Node.js 20.
NATURAL = [
    # Tests, in many languages.
    (r"(^|/)(test_[^/]+|[^/]+_test)\.[a-z]+$", "src/user_test.go", "src/user_tests.go"),
    (r"(^|.*/)(test_.*|.*_test)\.py$", "pkg/test_a.py", "pkg/atest_a.pyc"),
    (r"(^|/)(conftest|test_[a-z0-9_]+|[a-z0-9_]+_test)\.py$", "tests/conftest.py", "tests/contest.py"),
    (r"(tests?/.*|.*_test)\.(c|cc|cpp)$", "src/a_test.cc", "src/a.cc"),
    (r"^src/(?:[^/]+/)*[^/]+\.(test|spec)\.[jt]sx?$", "src/a/b/c.spec.tsx", "src/a/b/c.tsx"),
    (r".*/(__tests__|tests?)/.*\.(ts|tsx)$", "app/__tests__/a.ts", "__tests__/a.ts"),
    (r"^apps/[^/]+/(?:[^/]+/)*__tests__/(?:[^/]+/)*[^/]+\.test\.tsx?$", "apps/a/b/__tests__/c.test.ts", "apps/__tests__/c.ts"),
    (r"\.(test|spec)\.(js|jsx|ts|tsx|mjs|cjs)$", "a.spec.mjs", "a.specs.mjs"),
    (r"(^|/)tests?/(?:[^/]+/)*(?:test_)?[^/]+\.rs$", "crates/a/tests/b.rs", "crates/a/test.rs"),
    (r"(^|/)[A-Z][A-Za-z0-9]*(Test|Tests|IT)\.java$", "src/test/java/UserTest.java", "src/main/java/User.java"),
    (r"^src/(main|test)/(java|kotlin)/([a-z0-9_]+/)*[A-Z]\w*\.(java|kt)$", "src/main/java/a/B.java", "src/main/java/a/b.java"),
    (r"^(.*/)?(tests?|specs?)/(.*/)?[^/]+\.(rb|py|php)$", "lib/specs/models/a.rb", "lib/a_spec.rb"),
    (r"^(.*/|)test/(.*/|)[^/]*\.java$", "a/test/b/C.java", "a/testing/C.java"),
    (r"^.*(\.|_|-)(test|spec)(\.|_|-).*$", "a-test-b", "atest.b"),
    (r".*(test|spec|mock|fixture)s?.*\.(js|ts|py|json)$", "a/fixtures/b.json", "a/fixture/b.xml"),
    (r"(?:^|/)(?:tests?|__tests__|spec)(?:/.*)?$", "a/tests", "a/testsuite"),
    (r"^.*/test/.*/.*Test\.java$", "a/test/b/CTest.java", "a/test/CTest.java"),
    # Words about it.
    (r"^(?:.*/)?(?:README|CHANGELOG)(?:\.[a-z]+)*\.md$", "pkg/README.zh.md", "pkg/MYREADME.md"),
    (r"^docs/(?!.*(draft|wip)).*\.md$", "docs/a/b.md", "docs/wip/b.md"),
    (r"^docs/adr/\d{4}-[a-z0-9]+(-[a-z0-9]+)*\.md$", "docs/adr/0001-use-it.md", "docs/adr/1-use-it.md"),
    (r"^(?=.*/docs/).*\.md$", "a/docs/b.md", "docs/b.md"),
    (r"^docs/([a-z]{2}(-[A-Z]{2})?/)?.*\.md$", "docs/pt-BR/a.md", "doc/pt-BR/a.md"),
    (r"\d{4}-\d{2}-\d{2}-.*\.(md|markdown)$", "_posts/2024-01-02-a.md", "_posts/24-1-2-a.md"),
    (r"^([^/]+/){2,}[^/]+\.md$", "a/b/c.md", "a/c.md"),
    (r"^([^/]+/){0,2}[^/]+\.md$", "a/c.md", "a/b/c/d.md"),
    (r".*(plan|design|spec|architecture).*\.md$", "the-design-of-it.md", "the-sign.md"),
    (r".*a.*b.*c.*d.*e.*\.md$", "xaxbxcxdxex.md", "xaxbxcxex.md"),
    # Configuration.
    (r"[\w-]+(\.[\w-]+)*\.config\.(js|ts)$", "a/next.prod.config.js", "a/config.js"),
    (r"(^|/)tsconfig(\.[a-z]+)*\.json$", "a/tsconfig.build.json", "a/tsconfigs.json"),
    (r"(^|/)\.?eslint(rc|\.config)(\.(js|cjs|mjs|json|ya?ml))?$", ".eslintrc.json", "eslint.js"),
    (r"(^|/)docker-compose(\.[\w-]+)*\.ya?ml$", "docker-compose.dev.yml", "docker-composer.yml"),
    (r".*\.(yml|yaml)$|.*Dockerfile.*", "a/Dockerfile.dev", "a/dockerfile"),
    (r"^\.github/(?:workflows|actions)/(?:[^/]+/)*[^/]+\.ya?ml$", ".github/workflows/a/b.yml", ".github/b.yml"),
    (r"^charts/[^/]+/(values(-\w+)?|Chart)\.ya?ml$", "charts/a/values-prod.yaml", "charts/a/value.yaml"),
    (r"(^|/)V\d+(_\d+)*__\w+\.sql$", "db/V1_2__add_it.sql", "db/V1_2_add_it.sql"),
    (r"(^|/)requirements(-\w+)?\.txt$|(^|/)pyproject\.toml$", "requirements-dev.txt", "requirements.dev.txt"),
    # Sources, and names in them.
    (r"^(?:(?:packages|apps|libs|modules|services|plugins|tools|scripts|examples|tests|src|lib|internal|cmd|pkg)/)+[^/]+\.go$",
     "apps/tools/cmd/main.go", "apps/bin/main.go"),
    (r"^packages/([^/]+/)+package\.json$", "packages/a/b/package.json", "packages/package.json"),
    (r"^(src/)?(components|hooks|pages)/[A-Z]?[A-Za-z]+(/.*)?\.(tsx?|jsx?)$", "src/hooks/useIt/index.ts", "src/hooks/2.ts"),
    (r"[a-z]+(-[a-z]+)*\.component\.(ts|html)$", "app/user-list.component.ts", "app/user-.component.ts"),
    (r"^(?:apps|libs)/(?:[a-z0-9-]+/)+src/(?:lib/)?(?:[a-z0-9-]+\.)+(?:ts|html|scss)$", "libs/a/src/lib/b.c.ts", "libs/src/b.ts"),
    (r"^(?:src|include)/(?:[\w-]+/)*[\w-]+\.(?:c|cc|cpp|h|hpp)$", "include/a/b.hpp", "include/a/b.py"),
    (r"^(?:[\w-]+/)*[\w-]+(?:\.[\w-]+)+$", "a/b-c/d.e.f", "a//b.c"),
    (r"^[\w\-. ]+(/[\w\-. ]+)*\.(md|txt)$", "my notes/a b.txt", "/a.txt"),
    (r"^[a-z0-9]+([._-][a-z0-9]+)*\.(txt|log)$", "a-b_c.log", "a--b.log"),
    (r"(\.[^./]+)+$", "a/b.tar.gz", "a.b/c"),
    (r"^[^/]+$", "Makefile", "a/Makefile"),
    (r"^lib/(.*/)?.*_test\.dart$", "lib/a/b_test.dart", "lib/a/b.dart"),
    (r"^src/app/(.+/)?[a-z-]+\.(component|service)\.spec\.ts$", "src/app/a/b/c.service.spec.ts", "src/app/a/c.service.ts"),
    (r".*[._-](test|spec|mock|fixture)s?[._-].*\.(js|ts|py)$", "a/b.mocks.c.js", "a/bmocks.c.js"),
    (r"^(.*[/\\])?(package|composer|bower)\.json$", "a\\composer.json", "a/xcomposer.json"),
    (r"^(?:[^/]{1,255}/){0,32}[^/]{1,255}\.rst$", "a/b/c.rst", "a//c.rst"),
    (r".*foo.*bar.*\.ts$|.*bar.*foo.*\.ts$", "xbarxfoox.ts", "xbarxfo.ts"),
    # Looking around.
    (r"^(?!.*(test|spec)).*\.(js|ts)$", "src/app.js", "src/app.test.js"),
    (r"^((?!node_modules).)*\.ts$", "src/a.ts", "node_modules/a.ts"),
    (r"^(?:(?!node_modules|dist|build)[^/]+/)*[^/]+\.js$", "src/a/b.js", "src/dist/b.js"),
    (r"^(?!.*node_modules)(?!.*dist)(?!.*build).*\.(js|ts|jsx|tsx)$", "src/a.ts", "dist/a.ts"),
    (r"^(?=.*(test|spec))(?=.*api).*\.(js|ts|py)$", "api/a_test.py", "api/a.py"),
    (r"^.*/(?!index)[^/]+\.ts$", "a/main.ts", "a/index.ts"),
    (r".*(?<!\.d)\.ts$", "a.ts", "a.d.ts"),
    (r"(?<!(^|/)(test|spec)s?/.*)\.(js|ts)$", "src/a.js", "src/tests/b/a.js"),
    (r"^(?!\.git/)(?!node_modules/)(?!dist/).*$", "src/a", "dist/a"),
    # With case that doesn't count.
    (r"(?i)(^|/)(readme|license|changelog)(\.(md|txt|rst))?$", "a/ReadMe.MD", "a/ReadMe.doc"),
]


@pytest.mark.parametrize(("pattern", "path", "other"), NATURAL, ids=[ascii(pattern) for pattern, _, _ in NATURAL])
def test_a_natural_pattern_loads(pattern: str, path: str, other: str) -> None:
    found = translate(pattern)
    assert found.matches(path)
    assert not found.matches(other)


SENSIBLE = [
    r"^(src|docs)/.*\.(md|mdx)$",
    r"^(?!.*(test|spec)).*\.ts$",
    r"(^|/)README(\.[a-z]+)?$",
    r"^docs/.+\.md$",
    r"[^/]+/[^/]+/[^/]+\.md$",
    r"^([^/]+/)*[^/]+\.ts$",
    r"^src/.*/(components|pages)/.*\.(test|spec)\.tsx?$",
    r".*/tests/.*/fixtures/.*\.json$",
    r"(dev|prod|staging).*\.yml$|(dev|prod|staging).*\.json$",
    r"src/([a-z]+/)*[a-z]+\.ts$",
    r"[a-z0-9]+(-[a-z0-9]+)*\.md$",
    r"^(\.?/)?(src|lib)/(.+/)?[^/]+\.(c|m)?[jt]sx?$",
    r"(^|.*/)test_[^/]*\.py$",
    r"(^|/)\.(github|gitlab)/.*\.ya?ml$",
    r"^(?!.*/(node_modules|dist)/)(src|lib)/.*(?<!\.d)\.ts$",
    r"^((?!secret).)*$",
    r"(.*/)?Dockerfile(\..+)?$",
    r"\d{4}-\d{2}-\d{2}.*\.md$",
    r".*(test|spec|mock|fixture)s?.*\.(js|ts)$",
    r"^(?=.*test)(?=.*api).*\.py$",
    r"(\.[a-z]+)+$",
    r"^src/.*/.*/.*\.ts$",
    r"^(.+)/([^/]+)\.(test|spec)\.(tsx?|jsx?)$",
    r".*\.(test|spec)\.(js|ts|mjs)$|.*/__tests__/.*|.*/(cypress|e2e)/.*",
    r"(a|ab)*c",
    # What a matcher that tries one way after the other would take long for, though not for ever.
    r"(.*)(.*)(.*)x",
    r"^\w*\w*\w*\w*!",
    r".*[ab].*[bc].*[cd]+.*e",
    r"(?=.*(?=.*(?=.*x)y)z)a",
    "|".join(["a.*[bc]d+e"] * 40),
    "^" + "(.*,)?" * 73 + "x",
    "^(?:" + "|".join(f"a{letter}b?" for letter in "bcdefghijklmnop") + "|a?/)*!",
]


def long_paths(pattern: str) -> list[str]:
    """Paths of the greatest length that repeat what the pattern is made of, and then disappoint it."""
    words = [*dict.fromkeys(re.findall(r"[A-Za-z]+|[-_./!]", pattern)), "a", "/", "a/", "1", "A", "\n"][:20]
    return [((one + other) * MOST_OF_A_PATH)[:MOST_OF_A_PATH - 1] + end
            for one in words for other in ["", *words[:6]] for end in "!\n"]


@pytest.mark.parametrize(
    "pattern", [row[0] for row in NATURAL] + SENSIBLE + [row["pattern"] for row in VECTORS["real"]], ids=ascii)
def test_a_natural_pattern_is_quick(pattern: str) -> None:
    """What people write took 5 ms at most when this was written. The bound is there for what would take for ever."""
    found = translate(pattern)
    for path in long_paths(pattern):
        started = time.process_time()
        found.matches(path)
        assert time.process_time() - started < 1


def test_lengths() -> None:
    assert translate("^" + "a" * (MOST_OF_A_PATTERN - 1)).matches("a" * MOST_OF_A_PATTERN)
    assert str(refusal("a" * (MOST_OF_A_PATTERN + 1))) == (
        f"The pattern '{'a' * 60}'... can't be used: at position 512, it goes beyond the 512 characters that a pattern may have. "
        "Say it more briefly.")
    everything = translate(".*")
    assert everything.matches("a" * MOST_OF_A_PATH)
    assert not everything.matches("a" * (MOST_OF_A_PATH + 1))
    # As JavaScript counts.
    assert everything.matches("😀" * (MOST_OF_A_PATH // 2))
    assert not everything.matches("😀" * (MOST_OF_A_PATH // 2) + "a")
    assert refusal("😀" * 257).position == 256


def test_a_pattern_is_its_text() -> None:
    one, same, other = translate("a+"), translate("a+"), translate("(?:a)+")
    assert one == same != other
    assert len({one, same, other}) == 2
    assert repr(one) == "Pattern(source='a+', note='')"
    assert copy.deepcopy(one) == one == pickle.loads(pickle.dumps(one))
    assert one.note == ""
    assert isinstance(one, Pattern)


def test_the_empty_pattern_matches_everything() -> None:
    """It is for the caller to refuse, who knows that people mean "nothing" by it."""
    assert translate("").matches("")
    assert translate("").matches("a/b")
