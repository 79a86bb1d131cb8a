# Two targets set everything up by themselves on a machine with Python 3.11+, make and git:
#   make preview   the site with its drafts, in preview/, and what each entry still needs
#   make test      the tests, with a browser for those that look at pages
# A stamp in .venv/ remembers each installation, so a second run starts at once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help preview test site serve demo screenshots check format clean

BIN := .venv/bin
STAMPS := .venv/stamps
PIP_INSTALL = $(BIN)/python -m pip install --quiet --editable

# Where this is set, each process of ours would compile all of the package anew.
unexport PYTHONDONTWRITEBYTECODE

# Material prints its end of life at each build; docs/decisions/0001-engine-and-adapter.md has our answer.
export NO_MKDOCS_2_WARNING := 1

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 18

preview: $(STAMPS)/site ## Build the site with its drafts into preview/, then show what is missing
	$(BIN)/glossary preview
	$(BIN)/glossary status

test: export GLOSSARY_REQUIRE_ZENSICAL := 1
test: $(STAMPS)/test $(STAMPS)/browser ## Run the tests; ARGS="-k name" narrows them
	$(if $(ARGS),,$(BIN)/python -O -m pytest --quiet tests/trust)
	GLOSSARY_BROWSER="$$(cat $(STAMPS)/browser)" GLOSSARY_AXE="$$(bash ci/axe.sh .cache)" \
		$(BIN)/python -m pytest $(ARGS)

screenshots: $(STAMPS)/test $(STAMPS)/browser ## Make pictures of the site, wide and narrow, light and dark
	GLOSSARY_BROWSER="$$(cat $(STAMPS)/browser)" $(BIN)/python tests/browser/screenshots.py

site: $(STAMPS)/site ## Build what is published into site/
	$(BIN)/mkdocs build

serve: $(STAMPS)/site ## Show the site with its drafts, and follow edits
	$(BIN)/mkdocs serve

demo: $(STAMPS)/site ## Show the gate at work, with throw-away keys on a copy of the project
	bash ci/demo.sh $(BIN)

check: $(STAMPS)/lint ## Lint, check formatting, types, workflows and shell scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	bash ci/types.sh $(BIN)/mypy
	$(BIN)/actionlint
	$(BIN)/shellcheck .ci/run ci/*.sh

format: $(STAMPS)/lint ## Format the Python files
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

clean: ## Delete what was built; .venv stays
	rm -rf site preview build dist .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(STAMPS)/venv:
	bash ci/venv.sh .venv
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/site: pyproject.toml $(STAMPS)/venv
	$(PIP_INSTALL) ".[$$(bash ci/extras.sh)]"
	touch $@

$(STAMPS)/test: pyproject.toml $(STAMPS)/site
	$(PIP_INSTALL) ".[test]"
	touch $@

$(STAMPS)/lint: pyproject.toml $(STAMPS)/test
	$(PIP_INSTALL) ".[lint]"
	touch $@

$(STAMPS)/browser: ci/browser.sh $(STAMPS)/test
	bash ci/browser.sh $(BIN)/python > $@
