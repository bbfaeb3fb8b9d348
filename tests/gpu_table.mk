# Tables and comparison on a real device, no part of any test; tests/gpu_table/README.md says how long each takes.
# make bar-promise ARGS="TABLE C K H W BATCH"   a tuned convolution out of a table takes what the table promises
# make bar-planted ARGS="--device cuda"         3 % planted in 20 of 200 problems is found, and nothing else
# make check-gpu-table                          all of it on this machine's GPU
.PHONY: bar-promise bar-planted check-gpu-table
$(BUILD)/gpu_table/promise: tests/gpu_table/promise.c $(LIB)
	$(call say,BENCH,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)
-include $(BUILD)/gpu_table/promise.d
bar-promise: $(BUILD)/gpu_table/promise
	@$< $(ARGS)
bar-planted: $(BIN)
	@python3 tests/gpu_table/planted.py $(abspath $(BIN)) $(ARGS)
check-gpu-table: $(BIN) $(BUILD)/gpu_table/promise
	@sh tests/gpu_table/check.sh $(abspath $(BIN)) $(abspath $(BUILD)/gpu_table/promise)
