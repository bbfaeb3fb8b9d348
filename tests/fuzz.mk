# Fuzzing of what reads foreign text.
# make fuzz    each reader for SECONDS (default 60; the bar is 600) under sanitizers; FUZZ="t1 expr" for some
FUZZ_ALL := t4 kernel_tuner ktt csv json t1 expr recorded_space bundle
FUZZ     ?= $(FUZZ_ALL)
SECONDS  ?= 60
FUZZ_DIR := $(BUILD)/fuzz
FUZZ_CC  ?= clang
FUZZ_SRC := $(wildcard core/*.c db/formats/*.c autotune/expr*.c autotune/space*.c autotune/recorded*.c) \
	$(RUNTIME_C)
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(FUZZ_DIR)/%.o)
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fprofile-instr-generate -fcoverage-mapping
FUZZ_CFLAGS := -std=c11 -O1 -g $(CPPFLAGS) $(WARN) $(FUZZ_SAN) -pthread
# The program of each reader, and the sources whose lines are counted.
FUZZ_PROGRAM = $(FUZZ_DIR)/fuzz_$(if $(filter t4 kernel_tuner ktt csv json,$(1)),formats,$(1))
FUZZ_READER_t4 := db/formats/t4.c
FUZZ_READER_kernel_tuner := db/formats/kernel_tuner.c
FUZZ_READER_ktt := db/formats/ktt.c
FUZZ_READER_csv := db/formats/csv.c
FUZZ_READER_json := db/formats/own_json.c
FUZZ_READER_t1 := core/t1
FUZZ_READER_expr := autotune/expr
FUZZ_READER_recorded_space := autotune/recorded
FUZZ_READER_bundle := runtime/file.c

.PHONY: fuzz fuzz-build fuzz-keep
.SECONDARY: $(FUZZ_OBJ)
fuzz-build: $(sort $(foreach name,$(FUZZ),$(call FUZZ_PROGRAM,$(name))))

$(FUZZ_DIR)/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(FUZZ_DIR)/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_OBJ)
	$(call say,FUZZ,$<)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_OBJ) $(LDLIBS)

-include $(FUZZ_OBJ:.o=.d)

# What is found is kept in the build folder; no hang over 1 s, no memory over 1 GB, 80 % of the reader's lines.
fuzz: fuzz-build
	@failed=; $(foreach name,$(FUZZ),sh tests/fuzz/run.sh $(FUZZ_DIR) $(name) $(call FUZZ_PROGRAM,$(name)) $(SECONDS) \
	    $(FUZZ_READER_$(name)) || failed="$$failed $(name)";) \
	if [ -n "$$failed" ]; then echo "fuzz: failed:$$failed" >&2; exit 1; fi

# Reduces what was found to the least that reaches as many edges, and packs it for the tests: tests/fuzz/corpus/NAME.gz
fuzz-keep: fuzz-build
	@$(foreach name,$(FUZZ),sh tests/fuzz/keep.sh $(FUZZ_DIR) $(name) $(call FUZZ_PROGRAM,$(name)) &&) true
