# Fuzzing of what reads foreign text.
# make fuzz    each target for SECONDS (default 60) under sanitizers, from tests/fuzz/corpus; FUZZ="t1 expr" for some
FUZZ     ?= $(filter formats t1 expr,$(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))) recorded_space
SECONDS  ?= 60
FUZZ_DIR := $(BUILD)/fuzz
FUZZ_CC  ?= clang
FUZZ_SRC := $(wildcard core/*.c db/formats/*.c autotune/expr*.c autotune/space*.c autotune/recorded*.c)
FUZZ_SAN := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -fprofile-instr-generate -fcoverage-mapping
# What each target is about: lines of these are counted.
FUZZ_COVERS_formats := db/formats
FUZZ_COVERS_t1 := core/t1
FUZZ_COVERS_expr := autotune/expr
FUZZ_COVERS_recorded_space := autotune/recorded

.PHONY: fuzz fuzz-build
fuzz-build: $(FUZZ:%=$(FUZZ_DIR)/fuzz_%)

$(FUZZ_DIR)/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_SRC) $(wildcard core/*.h db/formats/*.h autotune/expr*.h)
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -std=c11 -O1 -g $(CPPFLAGS) $(WARN) $(FUZZ_SAN) -pthread -o $@ $< $(FUZZ_SRC) $(LDLIBS)

# What is found is kept in the build folder; a reduced find belongs into the corpus.
fuzz: fuzz-build
	@failed=; for name in $(FUZZ); do echo "fuzz $$name: $(SECONDS) s"; mkdir -p $(FUZZ_DIR)/found/$$name; \
	    LLVM_PROFILE_FILE=$(FUZZ_DIR)/$$name.profraw $(FUZZ_DIR)/fuzz_$$name -max_total_time=$(SECONDS) -timeout=1 \
	        -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 -verbosity=0 \
	        -artifact_prefix=$(FUZZ_DIR)/$$name- $(FUZZ_DIR)/found/$$name tests/fuzz/corpus/$$name \
	        || failed="$$failed $$name"; done; \
	sh tests/fuzz/coverage.sh $(FUZZ_DIR) $(foreach name,$(FUZZ),$(name)=$(FUZZ_COVERS_$(name))); \
	if [ -n "$$failed" ]; then echo "fuzz: failed:$$failed" >&2; exit 1; fi
