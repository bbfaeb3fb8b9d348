# make check-report   opens a report in headless Chromium at two widths, and makes one of 100,000 trials; installs chromium
.PHONY: check-report
check-report:
	@sh tools/install_deps.sh build test report
	@$(MAKE) --no-print-directory $(PARALLEL) $(BIN) $(BUILD)/bench/bench_db_million
	@NNTUNE=$(abspath $(BIN)) sh tests/report/check.sh $(abspath $(BUILD)/bench/bench_db_million)
