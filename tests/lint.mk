# Checks of the text itself.
# make include-rules   who may include whom (part of make test)
# make lint            clang-tidy (.clang-tidy) and cppcheck; FILES="core/str.c" looks at those alone, JOBS=4 at four at once
# make check-format    what clang-format would change; make format changes it
ifndef LINT_MK
LINT_MK := 1
.PHONY: include-rules lint lint-tidy lint-cppcheck check-format format
FORMATTED := $(foreach d,$(DIRS) runtime,$(wildcard $(d)/*.[ch] $(d)/*/*.[ch])) \
             $(wildcard tests/unit/*.[ch] tests/bench/*.c tests/gpu/*.c tests/fuzz/*.c)
FILES     ?=
LINT_C    := $(or $(FILES),$(SRC) $(wildcard cli/main.c))
JOBS      ?= 2
tool       = @command -v $(1) > /dev/null || { echo "nntune: $(1) is not installed: apt-get install $(1)" >&2; exit 1; }

include-rules:
	@sh tests/include_rules.sh
	@sh tests/include_rules_test.sh



lint: include-rules lint-tidy lint-cppcheck

# One process a file: several files in one process give this clang-tidy wrong reports about va_list.
lint-tidy:
	$(call tool,clang-tidy)
	@printf '%s\n' $(LINT_C) | xargs -P $(JOBS) -I{} sh tests/lint_one.sh {} $(CPPFLAGS) -Iprofiler/cxx
	@echo "clang-tidy: $(words $(LINT_C)) files"

lint-cppcheck:
	$(call tool,cppcheck)
	@cppcheck --quiet --std=c11 --enable=warning,performance --inline-suppr --error-exitcode=1 \
	    --suppress=missingIncludeSystem -D_GNU_SOURCE -I. $(LINT_C)
	@echo "cppcheck: $(words $(LINT_C)) files"

check-format:
	$(call tool,clang-format)
	@clang-format --dry-run --Werror $(or $(FILES),$(FORMATTED)) && echo "format: $(words $(or $(FILES),$(FORMATTED))) files"

format:
	$(call tool,clang-format)
	@clang-format -i $(or $(FILES),$(FORMATTED))
endif
