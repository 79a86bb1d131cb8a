"""The registry of people: every fault with its code, two people always two, nothing taken back."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest

from measured_glossary.problem import Checked, Place
from measured_glossary.source import Source, decode
from measured_glossary.trust.alike import odd_characters, readings
from measured_glossary.trust.registry import Registry, judging, read_registry, rollbacks
from trust.trust_keys import TestKey, security_key
from trust.trust_world import World, person, unsigned_world

Spoil = Callable[[World], object]


def source_of(text: str) -> Source:
    """Give a registry's text as a file."""
    source = decode("glossary/people.yml", text.encode()).value
    assert source is not None
    return source


def read(world: World) -> Checked[Registry]:
    """Read a world's registry."""
    return read_registry(source_of(world.registry_text()))


@pytest.fixture
def registry_world(keys: dict[str, TestKey]) -> World:
    """Give a good registry to spoil."""
    return unsigned_world(keys)


def test_a_good_registry_is_read(registry_world: World) -> None:
    """People, keys and what they may are read as values."""
    registry = read(registry_world).value
    assert registry is not None
    assert [p.id for p in registry.people] == [
        "test-author",
        "test-reviewer",
        "test-second",
        "test-machine",
    ]
    author = registry.person("test-author")
    assert author is not None
    assert author.may == {"author", "review", "check"}
    assert author.covers("Any area")
    assert registry.owner(author.keys[0].public.material) == author
    assert registry.sha256 == source_of(registry_world.registry_text()).sha256


def test_an_empty_registry_is_one(registry_world: World) -> None:
    """A new project has an id and nobody who signs."""
    registry = read_registry(source_of("project: new-glossary\n")).value
    assert registry is not None
    assert registry.people == ()


DAYS = {
    "the day before the first": ("2025-12-31", "not yet valid"),
    "the first day": ("2026-01-01", "live"),
    "the last day": ("2026-06-30", "live"),
    "the day after the last": ("2026-07-01", "expired"),
}


@pytest.mark.parametrize("name", DAYS)
def test_both_ends_of_a_keys_days_count(registry_world: World, name: str) -> None:
    """A key may sign from its first day to its last, both included."""
    day, state = DAYS[name]
    registry_world.person("author")["keys"][0]["not_after"] = "2026-06-30"
    registry = registry_world.registry()
    key = registry.people[0].keys[0]
    assert key.state(datetime.date.fromisoformat(day)) == state


def _key_line(who: str, change: Callable[[str], str]) -> Spoil:
    def spoil(world: World) -> None:
        key = world.person(who)["keys"][0]
        key["key"] = change(key["key"])

    return spoil


def _set(who: str, **changes: object) -> Spoil:
    return lambda world: world.person(who).update(changes)


def _key_set(who: str, **changes: object) -> Spoil:
    return lambda world: world.person(who)["keys"][0].update(changes)


def _same_point(world: World) -> None:
    world.people.append(person("outsider", world.keys["outsider"]))
    world.people.append(person("stranger", security_key(world.keys["outsider"])))


def _same_ecdsa_point(world: World) -> None:
    world.people.append(person("stranger", world.keys["sk-ecdsa"]))


FAULTS: dict[str, tuple[Spoil, str]] = {
    # keys
    "a key of garbage": (_key_line("author", lambda _: "ssh-ed25519 AAAA"), "key-malformed"),
    "a key cut short": (_key_line("author", lambda k: k[:-8]), "key-malformed"),
    "a weak key": (lambda w: w.people.append(person("weak", w.keys["weak"])), "key-weak"),
    "a key on P-521": (lambda w: w.people.append(person("p", w.keys["p521"])), "key-type"),
    "a key with options": (
        _key_line("author", lambda k: f'namespaces="*" {k}'),
        "key-malformed",
    ),
    "one key of two people": (
        lambda w: w.people.append(person("twin", w.keys["author"])),
        "people-shared-key",
    ),
    "a key twice of one person": (
        lambda w: w.person("author")["keys"].append(dict(w.person("author")["keys"][0])),
        "people-shared-key",
    ),
    "one point under two key types": (_same_point, "people-shared-key"),
    "one ECDSA point under two key types": (_same_ecdsa_point, "people-shared-key"),
    "a person's key for a machine": (
        lambda w: w.person("machine")["keys"].append(
            {"key": w.keys["author"].line, "not_before": "2026-01-01"}
        ),
        "people-shared-key",
    ),
    "a key that ends before it begins": (
        _key_set("author", not_after="2025-01-01"),
        "people-key-dates",
    ),
    "a key without a first day": (
        lambda w: w.person("author")["keys"][0].pop("not_before"),
        "people-field",
    ),
    "a day that is none": (_key_set("author", not_before="2026-02-30"), "people-field"),
    "a day in another form": (_key_set("author", not_before="1 Jan 2026"), "people-field"),
    "a day with a time": (_key_set("author", not_before="2026-01-01T00:00"), "people-field"),
    # people
    "an unknown field": (_set("author", trusted="yes"), "people-field"),
    "no id": (lambda w: w.person("author").pop("id"), "people-field"),
    "an id in capitals": (_set("author", id="Test-Author"), "people-field"),
    "an id with a space": (_set("author", id="test author"), "people-field"),
    "an id with two hyphens": (_set("author", id="test--author"), "people-field"),
    "an id that ends in a hyphen": (_set("author", id="test-author-"), "people-field"),
    "an id of Cyrillic letters": (_set("author", id="аuthor"), "people-field"),
    "an id that is a path": (_set("author", id="../author"), "people-field"),
    "an id of forty letters": (_set("author", id="a" * 40), "people-field"),
    "an id with a line end": (_set("author", id="test-author\n"), "people-field"),
    "an id that stands for nobody": (_set("author", id="pending"), "people-field"),
    "the same id twice": (
        lambda w: w.people.append(person("other", w.keys["outsider"], id="test-author")),
        "people-look-alike",
    ),
    "an unknown kind": (_set("author", kind="team"), "people-field"),
    "an unknown role": (_set("author", may=["publish"]), "people-field"),
    "no role": (_set("author", may=[]), "people-field"),
    "a human who measures": (_set("author", may=["author", "measure"]), "people-role"),
    "a machine that reviews": (_set("machine", may=["measure", "review"]), "people-role"),
    "a machine that writes": (_set("machine", may=["author"]), "people-role"),
    "a human without areas": (_set("author", areas=[]), "people-areas"),
    "a voucher who is nobody": (_set("reviewer", vouched_by="test-nobody"), "people-voucher"),
    "a voucher for oneself": (_set("reviewer", vouched_by="test-reviewer"), "people-voucher"),
    "a machine that vouches": (_set("reviewer", vouched_by="test-machine"), "people-voucher"),
    "two who vouch for one another": (
        lambda w: (
            _set("reviewer", vouched_by="test-second")(w),
            _set("second", vouched_by="test-reviewer")(w),
        ),
        "people-voucher",
    ),
    # names
    "a name in other capitals": (_set("second", name="TEST AUTHOR"), "people-look-alike"),
    "a name without its space": (_set("second", name="TestAuthor"), "people-look-alike"),
    "a name with a hyphen": (_set("second", name="Test-Author"), "people-look-alike"),
    "a name with an accent": (_set("second", name="Test Áuthor"), "people-look-alike"),
    "a name in full-width letters": (_set("second", name="Ｔest Author"), "people-look-alike"),
    "a name with a Cyrillic letter": (_set("second", name="Test Аuthor"), "people-look-alike"),
    "a name in mathematical letters": (_set("second", name="𝐓est Author"), "people-look-alike"),
    "a name that is another's id": (_set("second", name="test-author"), "people-look-alike"),
    "an id that reads like another": (_set("second", id="test-auth0r"), "people-look-alike"),
    "a name that mixes scripts": (_set("second", name="Tеst Second"), "people-name"),
    "a name with a zero-width space": (_set("second", name="Test\u200bSecond"), "people-name"),
    "a name with a bidi override": (_set("second", name="Test \u202eSecond"), "people-name"),
    "a name with a soft hyphen": (_set("second", name="Test Sec\u00adond"), "people-name"),
    "a name with a joiner": (_set("second", name="Test Sec\u034fond"), "people-name"),
    "a name with an invisible letter": (_set("second", name="Test\u3164Second"), "people-name"),
    "a name with a variation selector": (_set("second", name="Test\ufe0f Second"), "people-name"),
    "a name with a tab": (_set("second", name="Test\tSecond"), "people-name"),
    "a name with a line end": (_set("second", name="Test\nSecond"), "people-name"),
    "a name with a wide space": (_set("second", name="Test\u3000Second"), "people-name"),
    "a name with two spaces": (_set("second", name="Test  Second"), "people-name"),
    "a name with a space at its end": (_set("second", name="Test Second "), "people-name"),
    "a name in decomposed form": (_set("second", name="Test Se\u0301cond"), "people-name"),
    "a name with HTML": (_set("second", name="<b>Test</b>"), "people-name"),
    "a name with a script": (_set("second", name="<script>x</script>"), "people-name"),
    "a name with a link": (_set("second", name="[Test](javascript:x)"), "people-name"),
    "a name with a check mark": (_set("second", name="Test Second ✓"), "people-name"),
    "a name of spaces": (_set("second", name=" "), "people-name"),
    "no name": (_set("second", name=""), "people-field"),
    "a name of 81 letters": (_set("second", name="T" * 81), "people-field"),
    # the rest of the file
    "a project id in capitals": (lambda w: setattr(w, "project", "Glossary"), "people-field"),
    "a project id that is a path": (lambda w: setattr(w, "project", "../x"), "people-field"),
    "a revoked key of garbage": (
        lambda w: w.revoked.append({"key": "SHA256:abc", "on": "2026-01-01", "reason": "lost"}),
        "key-malformed",
    ),
    "a revocation without a reason": (
        lambda w: w.revoked.append({"key": w.keys["author"].line, "on": "2026-01-01"}),
        "people-field",
    ),
    "a revocation twice": (
        lambda w: w.revoked.extend(
            [{"key": w.keys[k].line, "on": "2026-01-01", "reason": "x"} for k in ("sk", "outsider")]
        ),
        "people-doubled",
    ),
    "a manifest that is none": (
        lambda w: w.withdrawn.append({"manifest": "abc", "on": "2026-01-01", "reason": "x"}),
        "people-field",
    ),
    "a manifest withdrawn twice": (
        lambda w: w.withdrawn.extend(
            {"manifest": "0" * 64, "on": "2026-01-01", "reason": reason} for reason in "xy"
        ),
        "people-doubled",
    ),
    "a reason that hides text": (
        lambda w: w.withdrawn.append(
            {"manifest": "0" * 64, "on": "2026-01-01", "reason": "x\u202ey"}
        ),
        "people-field",
    ),
    "a reason with HTML": (
        lambda w: w.withdrawn.append(
            {"manifest": "0" * 64, "on": "2026-01-01", "reason": "<script>x"}
        ),
        "people-field",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_refuses_the_whole_registry(registry_world: World, name: str) -> None:
    """One fault anywhere and there is no registry, only the problem with its code and line."""
    spoil, code = FAULTS[name]
    spoil(registry_world)
    text = registry_world.registry_text()
    decoded = decode("glossary/people.yml", text.encode())
    refused = read_registry(decoded.value) if decoded.value else None
    problems = (*decoded.problems, *(refused.problems if refused else ()))
    assert refused is None or refused.value is None
    assert code in {p.code for p in problems} or "hidden-character" in {p.code for p in problems}
    assert all(problem.place.line for problem in problems)


TEXTS = {
    "the number NO": ("project: NO\n", "people-field"),
    "a bare list": ("- project\n", "people-field"),
    "nothing": ("", "people-field"),
    "two documents": ("project: a\n---\nproject: b\n", "yaml-documents"),
    "a key twice": ("project: a\nproject: b\n", "yaml-duplicate-key"),
    "an anchor": ("project: &a a\n", "yaml-anchor"),
    "a tag": ("project: !!str a\n", "yaml-tag"),
    "a Python object": ("project: !!python/object:os.system x\n", "yaml-tag"),
    "a merge of aliases": ("project: a\npeople: *x\n", "yaml-anchor"),
    "deep nesting": ("project: a\npeople: " + "[" * 50 + "]" * 50 + "\n", "yaml-depth"),
    "more than 64 KiB": ("project: a\n#" + "x" * (64 << 10) + "\n", "yaml-too-large"),
    "a field of nobody": ("project: a\nadmins: []\n", "people-field"),
    "people as a text": ("project: a\npeople: everybody\n", "people-field"),
    "broken YAML": ("project: [a\n", "yaml-syntax"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_is_no_registry_is_refused(name: str) -> None:
    """A registry is strict YAML with known fields; anything else has its code."""
    text, code = TEXTS[name]
    refused = read_registry(source_of(text))
    assert refused.value is None
    assert code in {problem.code for problem in refused.problems}


def test_all_faults_are_told_at_once(registry_world: World) -> None:
    """Faults of several people come in one go, each at its own line and column."""
    registry_world.person("author")["vouched_by"] = "test-nobody"
    del registry_world.person("reviewer")["vouched_by"]
    registry_world.person("second")["name"] = "Test  Second"
    registry_world.person("machine")["may"] = ["review"]
    problems = read(registry_world).problems
    assert [p.code for p in problems] == ["people-voucher", "people-name", "people-role"]
    assert len({p.place.line for p in problems}) == len(problems)


# ── names that look alike ────────────────────────────────────────────────────────────────────

ALIKE = [
    ("Alice", "AIice", "a capital I for a small l"),
    ("Test", "Тest", "a Cyrillic capital Te"),
    ("anna", "аnna", "a Cyrillic a"),
    ("Omar", "Οmar", "a Greek capital Omicron"),
    ("Morn", "Mom", "r and n for m"),
    ("Bob", "B0b", "a zero for an o"),
    ("Bill", "Bi11", "ones for l"),
    ("STRASSE", "Straße", "a sharp s"),
    ("Jose", "José", "an accent"),
    ("Ali", "Alı", "a dotless i"),
    ("Finn", "ﬁnn", "a ligature"),
    ("Ann Lee", "Annlee", "a space"),
    ("O'Neil", "O’Neil", "an apostrophe"),
    ("Test", "𝕋𝕖𝕤𝕥", "mathematical letters"),
    ("Test", "Ⓣⓔⓢⓣ", "letters in circles"),
]


@pytest.mark.parametrize(("one", "other", "how"), ALIKE, ids=[how for *_, how in ALIKE])
def test_look_alikes_share_a_reading(one: str, other: str, how: str) -> None:
    """Names that differ as said read alike, in both directions."""
    assert readings(one) & readings(other), how
    assert readings(other) & readings(one)


UNLIKE = [("Test Author", "Test Reviewer"), ("राम", "रमा"), ("Anna", "Hanna"), ("李", "王")]


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_different_names_stay_different(one: str, other: str) -> None:
    """Names a reader tells apart share no reading, in any script."""
    assert not readings(one) & readings(other)


@pytest.mark.parametrize("name", ["Test Author", "José Müller-O’Neil", "राम", "李明", "J. R. Test"])
def test_ordinary_names_are_expected(name: str) -> None:
    """Names of many scripts, with accents, hyphens and apostrophes, are nothing odd."""
    assert odd_characters(name) == ""


# ── which registry judges ────────────────────────────────────────────────────────────────────


def test_a_pinned_registry_is_the_one_with_the_digest(registry_world: World) -> None:
    """With the digest that is pinned, the registry is read and says so."""
    registry_world.project = "real-glossary"
    source = source_of(registry_world.registry_text())
    registry = judging(source, pin=source.sha256, ref="origin/main").value
    assert registry is not None
    assert (registry.pinned, registry.ref) == (True, "origin/main")


@pytest.mark.parametrize("pin", ["0" * 64, "0", "x", "sha256:" + "0" * 64])
def test_another_registry_than_the_pinned_one_is_refused(registry_world: World, pin: str) -> None:
    """One byte more or a pin that is no digest, and no registry judges."""
    refused = judging(source_of(registry_world.registry_text()), pin=pin)
    assert refused.value is None
    assert [p.code for p in refused.problems] == ["registry-pin"]


@pytest.mark.parametrize("project", ["test-glossary", "demo-glossary"])
def test_production_refuses_a_test_project(registry_world: World, project: str) -> None:
    """A test's or demonstration's registry judges locally, never where something is published."""
    registry_world.project = project
    source = source_of(registry_world.registry_text())
    local = judging(source).value
    assert local is not None
    assert not local.pinned
    for refused in (judging(source, pin=source.sha256), judging(source, production=True)):
        assert [p.code for p in refused.problems] == ["test-project"]
        assert refused.value is None


# ── nothing is taken back ────────────────────────────────────────────────────────────────────


def _settled(world: World) -> World:
    world.revoked.append({"key": world.keys["rsa"].line, "on": "2026-02-01", "reason": "lost"})
    world.withdrawn.append({"manifest": "1" * 64, "on": "2026-02-01", "reason": "wrong"})
    return world


ROLLBACKS: dict[str, tuple[Spoil, list[str]]] = {
    "nothing changed": (lambda w: None, []),
    "a person added": (lambda w: w.people.append(person("new", w.keys["third"])), []),
    "a revocation added": (
        lambda w: w.revoked.append(
            {"key": w.keys["third"].line, "on": "2026-03-01", "reason": "lost"}
        ),
        [],
    ),
    "a revocation dropped": (lambda w: setattr(w, "revoked", []), ["revocation-dropped"]),
    "a withdrawal dropped": (lambda w: setattr(w, "withdrawn", []), ["withdrawal-dropped"]),
    "both dropped": (
        lambda w: w.__dict__.update(revoked=[], withdrawn=[]),
        ["revocation-dropped", "withdrawal-dropped"],
    ),
    "another project": (lambda w: setattr(w, "project", "test-other"), ["project-changed"]),
    "a key handed to another": (
        lambda w: w.person("second").update(keys=w.person("author").pop("keys")),
        ["key-passed-on"],
    ),
}


@pytest.mark.parametrize("name", ROLLBACKS)
def test_a_registry_rolled_back_is_told(keys: dict[str, TestKey], name: str) -> None:
    """Against the registry that judges, a proposed one may add and may not take back."""
    change, codes = ROLLBACKS[name]
    trusted = _settled(unsigned_world(keys)).registry()
    proposed = _settled(unsigned_world(keys))
    change(proposed)
    assert [p.code for p in rollbacks(trusted, proposed.registry())] == codes


def test_a_revocation_of_the_same_point_is_kept(keys: dict[str, TestKey]) -> None:
    """Writing a revoked key under its other type is no way of dropping the revocation."""
    worlds = [unsigned_world(keys), unsigned_world(keys)]
    for world, kind in zip(worlds, ("sk", "outsider"), strict=True):
        line = keys[kind].line
        world.revoked.append({"key": line, "on": "2026-02-01", "reason": "lost"})
    assert rollbacks(worlds[0].registry(), worlds[1].registry()) == ()


def test_a_key_knows_its_line(registry_world: World) -> None:
    """Every key keeps the place where it stands, for the messages about it."""
    keys_read = [key for p in registry_world.registry().people for key in p.keys]
    lines = registry_world.registry_text().splitlines()
    for key in keys_read:
        assert isinstance(key.place, Place)
        assert key.public.line in lines[key.place.line - 1]
