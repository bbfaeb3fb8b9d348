# Benchmarks: not part of any test, because they measure this machine.
# make bench-cpu            our best CPU convolution against oneDNN (libdnnl-dev), with the ratio
# make bench-cpu ARGS="--shape 256x14x14 --batch 4"
.PHONY: bench-cpu
BENCH_LIBS_bench_cpu_onednn := -fopenmp -ldnnl
bench-cpu: $(if $(DNNL_H),$(BUILD)/bench/bench_cpu_onednn)
ifeq ($(DNNL_H),)
	@echo "bench-cpu needs oneDNN: apt-get install libdnnl-dev" >&2; exit 1
else
	OMP_PROC_BIND=true OMP_WAIT_POLICY=active $< --bar 0.6 $(ARGS)
endif
