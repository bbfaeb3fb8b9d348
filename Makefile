# nntune: build, test, install. `make help` lists the targets.
# make            builds build/nntune; installs nothing; says what it found
# make sweep      installs what is missing, builds, tunes conv3x3 on the best device here
# make test       installs what is missing, builds, runs every test that needs no GPU
# V=1 shows commands; BUILD=dir builds elsewhere; CC=clang works too; SANITIZE=1 adds address and undefined checks.

BUILD    ?= build
PREFIX   ?= /usr/local
CC       ?= cc
V        ?= 0
Q        := $(if $(filter 1,$(V)),,@)
say       = @printf '  %-7s %s\n' "$(1)" "$(patsubst $(CURDIR)/%,%,$(2))"

VERSION  := 0.1.0

# ---- what is here ----------------------------------------------------------------------------------------------
CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda /opt/cuda /usr/lib/cuda))
find_header = $(firstword $(wildcard $(CUDA_HOME)/include/$(1) /usr/local/include/$(1) /usr/include/$(1) /usr/include/x86_64-linux-gnu/$(1)))
CUDA_H   := $(call find_header,cuda.h)
NVRTC_H  := $(call find_header,nvrtc.h)
CUPTI_H  := $(firstword $(call find_header,cupti.h) $(wildcard $(CUDA_HOME)/extras/CUPTI/include/cupti.h))
JANSSON_H := $(call find_header,jansson.h)
SQLITE_H := $(call find_header,sqlite3.h)
XXHASH_H := $(call find_header,xxhash.h)
CURSES_H := $(call find_header,ncurses.h)
CMOCKA_H := $(call find_header,cmocka.h)
DNNL_H   := $(call find_header,dnnl.h)
CUBLASLT_H := $(call find_header,cublasLt.h)
CUDNN_H  := $(call find_header,cudnn.h)

# ---- flags ------------------------------------------------------------------------------------------------------
WARN     := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wno-sign-conversion
OPT      ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -DNT_VERSION='"$(VERSION)"' -I. -I$(BUILD)
ifneq ($(CUDA_H),)
CPPFLAGS += -DNT_HAVE_CUDA_H=1 -isystem $(dir $(CUDA_H))
endif
ifneq ($(NVRTC_H),)
CPPFLAGS += -DNT_HAVE_NVRTC_H=1
endif
ifneq ($(CUBLASLT_H),)
CPPFLAGS += -DNT_HAVE_CUBLASLT_H=1 -isystem $(dir $(CUBLASLT_H))
endif
ifneq ($(CUDNN_H),)
CPPFLAGS += -DNT_HAVE_CUDNN_H=1 -isystem $(dir $(CUDNN_H))
endif
ifneq ($(CUPTI_H),)
CPPFLAGS += -DNT_HAVE_CUPTI_H=1 -isystem $(dir $(CUPTI_H))
endif
ifneq ($(DNNL_H),)
CPPFLAGS += -DNT_HAVE_DNNL_H=1
endif
ifneq ($(CURSES_H),)
CPPFLAGS += -DNT_HAVE_CURSES_H=1
endif
ALL_CFLAGS := -std=c11 $(OPT) $(WARN) -fno-common -pthread $(CFLAGS)
LDLIBS   := -lsqlite3 -ljansson $(if $(CURSES_H),-lncursesw -ltinfo) -lz -lm -ldl -lpthread
# The program exports nothing to the kernels it loads; -Bsymbolic is not needed.
ifeq ($(SANITIZE),1)
ALL_CFLAGS += -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
ALL_LDFLAGS += -fsanitize=address,undefined
endif
ALL_LDFLAGS += $(LDFLAGS)

# ---- sources ----------------------------------------------------------------------------------------------------
DIRS     := core device kernels profiler autotune db reports tui cli
ALL_C    := $(foreach d,$(DIRS),$(wildcard $(d)/*.c $(d)/*/*.c))
INJECT_C := $(wildcard profiler/inject/*.c)
SRC      := $(filter-out %.cpu.c cli/main.c $(INJECT_C),$(ALL_C))
OBJ      := $(SRC:%.c=$(BUILD)/%.o)
# Kernel sources, embedded as text: kernels/conv3x3/direct.cu becomes nt_embed_conv3x3_direct_cu[].
EMBED    := $(sort $(foreach p,*.cu *.cuh *.cpu.c,$(wildcard kernels/*/$(p) device/$(p) profiler/$(p))) $(wildcard db/*.sql))
EMBED_C  := $(patsubst %,$(BUILD)/embed/%.c,$(EMBED))
EMBED_O  := $(EMBED_C:.c=.o)

LIB      := $(BUILD)/libnntune-all.a
BIN      := $(BUILD)/nntune
# The library that `nntune profile` puts into programs: libc alone, so that it fits into any of them.
INJECT   := $(if $(CUPTI_H),$(BUILD)/libnntune-inject.so)

# The library of deployment tables for inference programs: libc alone. The program has it too.
RUNTIME_C  := $(filter-out runtime/example.c,$(wildcard runtime/*.c))
RUNTIME_O  := $(RUNTIME_C:%.c=$(BUILD)/%.o)
RUNTIME    := $(BUILD)/libnntune.a $(BUILD)/libnntune.so

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/%)
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
BENCH_BIN := $(BENCH_SRC:tests/bench/%.c=$(BUILD)/bench/%)

.PHONY: all found
all: found $(BIN) $(INJECT) $(RUNTIME)

found:
	@sh tools/found.sh '$(BUILD)' '$(CUDA_H)' '$(NVRTC_H)' '$(CUPTI_H)' '$(JANSSON_H)' '$(SQLITE_H)' '$(XXHASH_H)' '$(CURSES_H)' '$(CMOCKA_H)' '$(DNNL_H)'

$(BIN): $(BUILD)/cli/main.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -o $@ $(BUILD)/cli/main.o $(LIB) $(LDLIBS)

# Built apart from the rest and without sanitizers: it is loaded into programs that were built without them.
INJECT_O := $(INJECT_C:%.c=$(BUILD)/%.o)
$(INJECT_O): ALL_CFLAGS := -std=c11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -fno-common -pthread $(CFLAGS)
$(BUILD)/libnntune-inject.so: $(INJECT_O)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-z,defs -pthread $(LDFLAGS) -o $@ $(INJECT_O) -ldl

$(RUNTIME_O): ALL_CFLAGS += -fPIC -fvisibility=hidden
$(BUILD)/libnntune.a: $(RUNTIME_O)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(RUNTIME_O)
$(BUILD)/libnntune.so: $(RUNTIME_O)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,libnntune.so.0 -pthread $(ALL_LDFLAGS) -o $@ $(RUNTIME_O) -lm -ldl

$(LIB): $(OBJ) $(EMBED_O) $(RUNTIME_O)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(OBJ) $(EMBED_O) $(RUNTIME_O)

$(BUILD)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(CFLAGS_$(subst /,_,$*)) -MMD -MP -c -o $@ $<

$(BUILD)/embed/%.c: % tools/embed.sh
	$(Q)mkdir -p $(@D)
	$(Q)sh tools/embed.sh $< > $@.tmp && mv $@.tmp $@

.SECONDARY: $(EMBED_C)
$(BUILD)/embed/%.o: $(BUILD)/embed/%.c
	$(Q)$(CC) -std=c11 -c -o $@ $<

# The fp64 reference is loops over doubles: vectorised, without relaxing IEEE rules.
CFLAGS_kernels_conv3x3_reference := -O3
CFLAGS_kernels_conv_reference := -O3
# Fills are loops over floats; contraction off, so that every compiler and machine gives the same values.
CFLAGS_core_random := -O3 -ffp-contract=off
# The model behind the search is loops over floats as well; nothing else of it matters.
CFLAGS_autotune_gp_pool := -O3
CFLAGS_autotune_gp_model := -O3
CFLAGS_autotune_gp_linear := -O3
# CUPTI's host header includes the C++ header <string> and uses nothing of it: an empty file of that name, for what needs
# that header alone.
CFLAGS_profiler_cupti_host := -Iprofiler/cxx
CFLAGS_profiler_inject_count_session := -Iprofiler/cxx
$(BUILD)/tests/test_counters $(BUILD)/tests/test_counters_collect $(BUILD)/tests/test_counter_worker: private CPPFLAGS += -Iprofiler/cxx

# The libraries that the test builds itself need NVIDIA's headers too.
$(BUILD)/tests/test_cuda_vendor: private CPPFLAGS += \
    -DNT_VENDOR_INCLUDES='"$(addprefix -isystem ,$(sort $(dir $(CUDA_H) $(CUBLASLT_H) $(CUDNN_H))))"'

$(BUILD)/tests/%: tests/unit/%.c $(LIB)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -Itests/unit -MMD -MP -MF $@.d $(ALL_LDFLAGS) -rdynamic -o $@ $< $(LIB) -lcmocka $(LDLIBS)

$(BUILD)/bench/%: tests/bench/%.c $(LIB)
	$(call say,BENCH,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -rdynamic -o $@ $< $(LIB) $(BENCH_LIBS_$(notdir $@)) $(LDLIBS)

-include $(OBJ:.o=.d) $(INJECT_O:.o=.d) $(RUNTIME_O:.o=.d) $(BUILD)/cli/main.d $(UNIT_BIN:=.d) $(BENCH_BIN:=.d)

# ---- the front door ----------------------------------------------------------------------------------------------
.PHONY: sweep clean help
# Without a -j of its own, make uses every core for what these two build.
PARALLEL := $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc 2> /dev/null || echo 2))
sweep:
	@sh tools/install_deps.sh build
	@$(MAKE) --no-print-directory $(PARALLEL) all
	$(abspath $(BIN)) sweep conv3x3 $(SWEEP)

clean:
	rm -rf $(BUILD) $(BUILD)-asan

help:
	@sed -n 's/^# \(make .*\)/  \1/p' Makefile tests/*.mk tools/install.mk

include tools/install.mk
include tests/tests.mk
include tests/lint.mk
