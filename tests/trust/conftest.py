"""Throw-away keys, made once a session by `ssh-keygen`, and a small world to attack."""

from __future__ import annotations

import pytest

from trust.trust_keys import TestKey, keygen, security_key
from trust.trust_world import World, complete_world

KEY_OPTIONS = {
    "author": ("-t", "ed25519"),
    "reviewer": ("-t", "ed25519"),
    "second": ("-t", "ecdsa", "-b", "256"),
    "third": ("-t", "ecdsa", "-b", "384"),
    "machine": ("-t", "ed25519"),
    "outsider": ("-t", "ed25519"),
    "rsa": ("-t", "rsa", "-b", "3072"),
    "weak": ("-t", "rsa", "-b", "2048"),
    "p521": ("-t", "ecdsa", "-b", "521"),
}


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TestKey]:
    """Give one key of each kind, two of them also as a security key would hold them."""
    folder = tmp_path_factory.mktemp("test-keys")
    made = {name: keygen(folder, name, *options) for name, options in KEY_OPTIONS.items()}
    made["sk"] = security_key(made["outsider"])
    made["sk-ecdsa"] = security_key(made["second"])
    return made


@pytest.fixture
def world(keys: dict[str, TestKey]) -> World:
    """Give an entry that its author and its reviewer signed."""
    return complete_world(keys)
