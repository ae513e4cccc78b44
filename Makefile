# Everything a fresh machine needs is Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
EXTRAS := dev,gymnax,sb3,envpool,mujoco,ray,trackers

.PHONY: install demo test lint types layers docs package unit short-isas test-isas browser bench bench-throughput bench-probe \
	bench-callback bench-vectors bench-rules agreement calibration live-coverage parity dialects-live post replay \
	replicate dqn soak soak-keys scale bench-sweep proving-ground test-oldest versions \
	outputs retrained-outputs clean

install: .venv/installed

# What a user gets. Python compiles what it imports, so pip need not compile everything.
.venv/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --no-compile -e .
	touch $@

.venv/installed: .venv/core
	$(PIP) torch
	$(PIP) -e '.[$(EXTRAS)]'
	touch $@

demo: .venv/core
	$(BIN)/nbyt advise CartPole-v1 --batch 2048 --seed 0 --out runs/demo --force

# Checks that only read the code go side by side; tests use all cores by themselves.
test: install
	$(MAKE) -j 4 lint types layers docs package
	$(MAKE) unit
	$(MAKE) short-isas

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy
	$(BIN)/mypy --strict examples/from_python.py examples/custom_env.py

layers: install
	$(BIN)/lint-imports

# The documentation site, in site/; a link that leads nowhere is an error.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Wheel and sdist, in an environment that has nothing else; prints sizes and seconds.
package: install
	$(BIN)/python -m benchmarks.package.run

unit: install browser
	$(BIN)/pytest -n 2 --dist loadscope --no-loadscope-reorder --durations 15

# A minute: what must have learnt something has learnt it on an old CPU too, and on none that is here.
short-isas: install
	$(BIN)/python -m benchmarks.isas.run --short

# An hour or two: everything that trains, as every CPU up to this one would run it.
test-isas: install
	$(BIN)/python -m benchmarks.isas.run
	$(BIN)/python -m benchmarks.isas.report

# The core tests with the oldest versions that pyproject.toml allows.
# Left out is what needs an extra and does not skip itself without it.
NEED_EXTRAS := tests/integrations tests/examples $(wildcard tests/gradients/engines/test_torch*.py)
test-oldest: .venv-oldest/installed
	.venv-oldest/bin/pytest -n 2 $(addprefix --ignore=,$(NEED_EXTRAS)) \
		--deselect tests/test_imports.py::test_every_module_imports

.venv-oldest/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		beartype hypothesis playwright pytest pytest-xdist
	.venv-oldest/bin/python -m benchmarks.versions.bounds >.venv-oldest/constraints.txt
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check \
		-c .venv-oldest/constraints.txt -e '.[gymnax]'
	touch $@

# docs/versions.md: the oldest and the newest tested version of each dependency.
versions: install
	$(BIN)/python -m benchmarks.versions.report

# The tests of the page look at it in Debian's Chromium; without one they are skipped, loudly.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
browser:
	@command -v chromium >/dev/null || ($(SUDO) apt-get update -qq && \
		$(SUDO) apt-get install -y -qq --no-install-recommends chromium) || \
		echo "no chromium, and it could not be installed: the page is not tested in a browser" >&2

bench: bench-throughput bench-probe

# Half a minute: what stepping a batched simulator through nbyt adds to it.
bench-vectors: install
	$(BIN)/python -m benchmarks.vectors.run
	$(BIN)/python -m benchmarks.throughput.report

# An hour: trainings with planted faults and healthy ones; it can be stopped and goes on.
bench-rules: install
	$(BIN)/python -m benchmarks.rules.run
	$(BIN)/python -m benchmarks.rules.report

bench-throughput: .venv-bench/installed
	.venv-bench/bin/python -m benchmarks.throughput.run
	.venv-bench/bin/python -m benchmarks.throughput.report

bench-probe: .venv-bench/installed
	.venv-bench/bin/python -m benchmarks.probe.run
	.venv-bench/bin/python -m benchmarks.probe.report

# About ten minutes.
bench-callback: install
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

# About a quarter of an hour on two cores; it can be stopped, and the same command goes on.
post: install
	$(BIN)/nbyt reproduce post --seed 0 --out runs/post
	$(BIN)/python -m benchmarks.studies.publish runs/post

# About a quarter of an hour on two cores; it can be stopped, and the same command goes on.
replay: install
	$(BIN)/nbyt reproduce replay --seed 0 --out runs/replay
	$(BIN)/python -m benchmarks.studies.publish runs/replay

# About ten minutes: the post's central measurements, by code that shares nothing with the study's.
replicate: install
	$(BIN)/python -m benchmarks.replicate.run
	$(BIN)/python -m benchmarks.replicate.report

# DQN: does it solve its tasks, learn as SB3's does, how fast it is, what a draw costs.
dqn: install
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.dqn.parity
	$(BIN)/python -m benchmarks.dqn.solves
	$(BIN)/python -m benchmarks.dqn.run
	$(BIN)/python -m benchmarks.dqn.report

# Hours; it can be stopped, and the same command goes on. A first look: PROVING=--quick.
PROVING ?=
proving-ground: install
	$(BIN)/pip install --quiet --disable-pip-version-check -r benchmarks/requirements-proving.txt
	$(BIN)/python -m benchmarks.proving.run $(PROVING)
	$(BIN)/python -m benchmarks.proving.live
	$(BIN)/python -m benchmarks.proving.prior
	$(BIN)/python -m benchmarks.proving.report

# The outputs on the pages, from commands and trainings; `make outputs` after a change of words.
outputs: install
	$(BIN)/python -m benchmarks.site.outputs --write

# A minute or two more: what rests on trainings is trained again.
retrained-outputs: install
	$(BIN)/python -m benchmarks.site.outputs --train --write

# About an hour; it can be stopped, and the same command goes on.
calibration: install
	$(BIN)/python -m benchmarks.calibration.run
	$(BIN)/python -m benchmarks.calibration.report

# About eight minutes: the intervals of single batches, as a probe inside a training has them.
live-coverage: install
	$(BIN)/python -m benchmarks.live.run
	$(BIN)/python -m benchmarks.calibration.report

# About a quarter of an hour: many seeds in one program, beside one after the other.
bench-sweep: install
	$(BIN)/python -m benchmarks.sweep.run
	$(BIN)/python -m benchmarks.throughput.report

# About an hour: kills, full disks, hostile envs, files and settings; it can be stopped, and
# the same command goes on. `make soak AGAIN=--again` begins anew.
soak: install
	$(BIN)/python -m benchmarks.soak.run $(AGAIN)
	$(BIN)/python -m benchmarks.soak.report

# About twenty minutes: every key of an advice and of a study, wrong in two ways.
soak-keys: install
	$(BIN)/python -m benchmarks.soak.mutations --every 2 --only advice.json,study.json >every_key.json
	mv every_key.json benchmarks/soak/every_key.json
	$(BIN)/python -m benchmarks.soak.report

# About a quarter of an hour: trainings in a minute and what is sent, in processes and on Ray.
scale: install
	$(BIN)/python -m benchmarks.sweep.scale
	$(BIN)/python -m benchmarks.sweep.scale_report

agreement: install
	$(BIN)/python -m benchmarks.agreement.run
	$(BIN)/python -m benchmarks.agreement.report

parity: install
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.parity.run
	$(BIN)/python -m benchmarks.parity.report

dialects-live: .venv-dialects/installed
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

clean:
	rm -rf .cache .venv .venv-bench .venv-dialects .venv-oldest .mypy_cache .ruff_cache .pytest_cache .hypothesis
