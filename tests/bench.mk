# Benchmarks: not part of any test, because they measure this machine.
# make bench-cpu            our best CPU convolution against oneDNN (libdnnl-dev), with the ratio
# make bench-cpu ARGS="--shape 256x14x14 --batch 4"
# make bar-million          a database of 1,000,000 trials: how long nntune best takes, how much memory a sweep
# make bar-million ARGS=/tmp/million.db   keeps the database, which takes half a minute to make
# make bar-top              the screen of nntune top on a run of 1,000,000 trials: first frame, sorts, filters, keys, memory
# make bar-top-attached     what a screen costs that shows a running sweep: itself, and the sweep (a quarter of an hour)
.PHONY: bench-cpu bar-million bar-top bar-top-attached
bar-top: $(BIN)
	@python3 tests/bench/bar_top.py $(abspath $(BIN)) $(ARGS)
bar-top-attached: $(BIN)
	@python3 tests/bench/bar_top_attached.py $(abspath $(BIN)) $(ARGS)
bar-million: $(BIN) $(BUILD)/bench/bench_db_million
	@NNTUNE=$(abspath $(BIN)) sh tests/bench/bar_million.sh $(abspath $(BUILD)/bench/bench_db_million) $(ARGS)
BENCH_LIBS_bench_cpu_onednn := -fopenmp -ldnnl
bench-cpu: $(if $(DNNL_H),$(BUILD)/bench/bench_cpu_onednn)
ifeq ($(DNNL_H),)
	@echo "bench-cpu needs oneDNN: apt-get install libdnnl-dev" >&2; exit 1
else
	OMP_PROC_BIND=true OMP_WAIT_POLICY=active $< --bar 0.6 $(ARGS)
endif

# make bar-search           strategies on the recorded spaces in $NNTUNE_SPACES or ../shared/spaces against their bars
# make bar-search ARGS="auto --repeats 10"   one section: auto classic cost wide flight seconds noise warm renamed honest
# make bar-space            how long spaces take to build, against its bars
.PHONY: bar-search bar-space
bar-search: $(BUILD)/bench/bench_search
	$< $(ARGS)
bar-space: $(BUILD)/bench/bench_space
	$<

# make bar-table            what a lookup costs in a table of 10,000 entries, and how long its C header compiles
.PHONY: bar-table
bar-table: $(BUILD)/bench/bench_table
	$<

# make bar-heldout          what a table loses on batches left out of it, on the cpu: about eight minutes
# make bar-heldout ARGS="--device cuda --layer conv3x3 --precision bf16,fp16"
.PHONY: bar-heldout
bar-heldout: $(BIN)
	@python3 tests/bench/bar_heldout.py $(abspath $(BIN)) $(ARGS)

# make bar-cpu-vendor       our convolutions on the cpu against oneDNN, in the same sweeps; ARGS=40 seconds a problem
.PHONY: bar-cpu-vendor
bar-cpu-vendor: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/bench/bar_cpu_vendor.sh $(ARGS)
