// SPDX-License-Identifier: GPL-2.0-only
/* Keys of /proc/vmstat, the source on top of it, and the names of TLB flush reasons. */
#include "machines.h"

#include <errno.h>

#include "../../lib/features.h"
#include "../../lib/tracepoint.h"
#include "../../lib/vmstat.h"

START_TEST(keys_are_exact)
{
	static const char text[] = "nr_tlb_remote_flush_received 7\nxnr_tlb_remote_flush 8\n"
				   "nr_tlb_remote_flush 9\nbad words\nlast 18446744073709551615";
	uint64_t value = 0;

	ck_assert_int_eq(vmstat_find(text, "nr_tlb_remote_flush", &value), 0);
	ck_assert_uint_eq(value, 9);
	ck_assert_int_eq(vmstat_find(text, "last", &value), 0);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_int_eq(vmstat_find(text, "nr_tlb_remote", &value), -ENOENT);
	ck_assert_int_eq(vmstat_find(text, "bad", &value), -EBADMSG);
	ck_assert_int_eq(vmstat_find("", "last", &value), -ENOENT);
}
END_TEST

static void run_source(const char *root, const char *change, struct keeping_sink *keeper)
{
	static const unsigned int cpus[] = { 0 };
	const struct source_setup setup = { .root = root, .cpus = cpus, .cpu_count = 1 };
	struct log log;
	void *state;

	log_open(&log, stderr, LOG_LEVEL_ERROR);
	forget_samples(keeper);
	ck_assert_int_eq(vmstat_source.open(&setup, &log, &state), 0);
	ck_assert_int_eq(vmstat_source.start(state), 0);
	if (change)
		machine_write(root, "/proc/vmstat", change);
	ck_assert_int_eq(vmstat_source.stop(state), 0);
	vmstat_source.read(state, &keeper->sink);
	vmstat_source.close(state);
}

START_TEST(source_takes_differences)
{
	char *root = machine_made("x86-112");
	struct keeping_sink keeper = { 0 };
	int i;

	run_source(root,
		   "pswpout 4116\npswpin 10\nnr_tlb_remote_flush 1700\n"
		   "nr_tlb_remote_flush_received 8700\nnr_tlb_local_flush_all 41\n",
		   &keeper);
	ck_assert_double_eq(kept(&keeper, "flushes")->value.value, 1000);
	ck_assert_double_eq(kept(&keeper, "flushes_received")->value.value, 1000);
	ck_assert_double_eq(kept(&keeper, "flushes_local_all")->value.value, 1);
	ck_assert_double_eq(kept(&keeper, "pswpout")->value.value, 4096);
	ck_assert_double_eq(kept(&keeper, "pswpin")->value.value, 0);
	ck_assert_int_eq(kept(&keeper, "pswpin")->value.status, VALUE_OK);
	ck_assert_int_eq(kept(&keeper, "flushes_local_one")->value.status, VALUE_UNSUPPORTED);
	ck_assert_int_eq(kept(&keeper, "pgsteal_proactive")->value.status, VALUE_UNSUPPORTED);
	for (i = 0; vmstat_source.metrics[i].name; i++)
		ck_assert_str_eq(keeper.list[i].metric, vmstat_source.metrics[i].name);
	ck_assert_uint_eq(keeper.count, (unsigned int)i);
	forget_samples(&keeper);
	free(root);
}
END_TEST

START_TEST(source_without_flush_counter)
{
	char *root = machine_recorded("vm-x86-2");
	struct keeping_sink keeper = { 0 };

	run_source(root, NULL, &keeper);
	ck_assert_int_eq(kept(&keeper, "flushes")->value.status, VALUE_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(kept(&keeper, "flushes")->reason, "CONFIG_DEBUG_TLBFLUSH"));
	ck_assert_ptr_nonnull(
		strstr(kept(&keeper, "flushes_received")->reason, "CONFIG_DEBUG_TLBFLUSH"));
	ck_assert_int_eq(kept(&keeper, "pswpout")->value.status, VALUE_OK);
	forget_samples(&keeper);
	free(root);
}
END_TEST

START_TEST(source_without_file)
{
	struct keeping_sink keeper = { 0 };

	run_source("/nonexistent", NULL, &keeper);
	ck_assert_int_eq(kept(&keeper, "pswpout")->value.status, VALUE_UNSUPPORTED);
	forget_samples(&keeper);
}
END_TEST

START_TEST(reasons_of_a_recorded_kernel)
{
	char *root = machine_recorded("vm-x86-2");
	struct tracepoint_symbol *symbols = NULL;
	struct tracepoint_folder folder;
	unsigned long long id;
	int err;

	ck_assert_int_eq(tracepoint_open(root, &folder), 0);
	ck_assert_int_eq(tracepoint_id(&folder, "tlb", "tlb_flush", &id), 0);
	ck_assert_uint_eq(id, 188);
	ck_assert_int_eq(tracepoint_id(&folder, "tlb", "none", &id), -ENOENT);
	err = tracepoint_symbols(&folder, "tlb", "tlb_flush", "reason", &symbols);
	ck_assert_int_eq(err, FEATURE_LIBTRACEFS ? 0 : -ENOSYS);
	if (!err) {
		ck_assert_int_eq(symbols[4].value, 4);
		ck_assert_str_eq(symbols[4].name, "remote IPI send");
		ck_assert_ptr_null(symbols[6].name);
		tracepoint_symbols_free(symbols);
		ck_assert_int_eq(tracepoint_symbols(&folder, "tlb", "tlb_flush", "pages", &symbols),
				 -ENOENT);
	}
	tracepoint_close(&folder);
	free(root);
	ck_assert_int_eq(tracepoint_open("/nonexistent", &folder), -ENODEV);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vmstat");
	TCase *group = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(group, machines_begin, machines_end);
	tcase_set_timeout(group, 60);
	tcase_add_test(group, keys_are_exact);
	tcase_add_test(group, source_takes_differences);
	tcase_add_test(group, source_without_flush_counter);
	tcase_add_test(group, source_without_file);
	tcase_add_test(group, reasons_of_a_recorded_kernel);
	suite_add_tcase(suite, group);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
