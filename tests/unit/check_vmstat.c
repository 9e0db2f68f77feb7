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

#if defined(__aarch64__)
#define TLBI_HERE true
#else
#define TLBI_HERE false
#endif

/* TLBI instructions have rows on arm64, and where the kernel counts them. */
static bool is_a_row_here(const char *metric)
{
	return TLBI_HERE || strncmp(metric, "tlbi_", 5) != 0;
}

START_TEST(source_takes_differences)
{
	char *root = machine_made("x86-112");
	struct keeping_sink keeper = { 0 };
	unsigned int i, rows = 0;

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
		if (is_a_row_here(vmstat_source.metrics[i].name))
			ck_assert_str_eq(keeper.list[rows++].metric, vmstat_source.metrics[i].name);
	ck_assert_uint_eq(keeper.count, rows);
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

#define TLBI_SWITCH "/proc/sys/vm/count_tlbi"
#define TLBI_BEFORE                                                                                \
	"nr_tlbi_broadcast 1000\nnr_tlbi_local 70\nnr_tlbi_dsb_broadcast 900\n"                    \
	"nr_tlbi_dsb_local 60\npgfault 5\n"
#define TLBI_AFTER                                                                                 \
	"nr_tlbi_broadcast 1000\nnr_tlbi_local 10070\nnr_tlbi_dsb_broadcast 901\n"                 \
	"nr_tlbi_dsb_local 10060\npgfault 9\n"

START_TEST(tlbi_counted)
{
	char *root = machine_made("arm64-64");
	struct keeping_sink keeper = { 0 };

	machine_write(root, TLBI_SWITCH, "1\n");
	machine_write(root, "/proc/vmstat", TLBI_BEFORE);
	run_source(root, TLBI_AFTER, &keeper);
	ck_assert_double_eq(kept(&keeper, "tlbi_broadcast")->value.value, 0);
	ck_assert_int_eq(kept(&keeper, "tlbi_broadcast")->value.status, VALUE_OK);
	ck_assert_str_eq(kept(&keeper, "tlbi_broadcast")->unit, "instructions");
	ck_assert_double_eq(kept(&keeper, "tlbi_local")->value.value, 10000);
	ck_assert_double_eq(kept(&keeper, "tlbi_dsb_broadcast")->value.value, 1);
	ck_assert_double_eq(kept(&keeper, "tlbi_dsb_local")->value.value, 10000);
	forget_samples(&keeper);
	free(root);
}
END_TEST

/* Off is no count of zero, however it is off. */
START_TEST(tlbi_not_counted)
{
	static const char *const switches[] = { "0\n", "", "off\n" };
	char *root = machine_made("arm64-64");
	struct keeping_sink keeper = { 0 };
	size_t i;

	for (i = 0; i <= sizeof(switches) / sizeof(switches[0]); i++) {
		/* at first the kernel has no such switch */
		if (i)
			machine_write(root, TLBI_SWITCH, switches[i - 1]);
		machine_write(root, "/proc/vmstat", TLBI_BEFORE);
		run_source(root, TLBI_BEFORE, &keeper);
		ck_assert_int_eq(kept(&keeper, "tlbi_local")->value.status, VALUE_UNSUPPORTED);
		ck_assert_ptr_nonnull(
			strstr(kept(&keeper, "tlbi_local")->reason, "sysctl vm.count_tlbi=1"));
		ck_assert_int_eq(kept(&keeper, "pgfault")->value.status, VALUE_OK);
		forget_samples(&keeper);
	}
	free(root);
}
END_TEST

/* Switched on when the window was over: the counts before that are missing. */
START_TEST(tlbi_switched_in_the_window)
{
	char *root = machine_made("arm64-64");
	struct keeping_sink keeper = { 0 };
	const struct source_setup setup = { .root = root };
	struct log log;
	void *state;
	int on;

	log_open(&log, stderr, LOG_LEVEL_ERROR);
	for (on = 0; on < 2; on++) {
		machine_write(root, TLBI_SWITCH, on ? "1\n" : "0\n");
		machine_write(root, "/proc/vmstat", TLBI_BEFORE);
		ck_assert_int_eq(vmstat_source.open(&setup, &log, &state), 0);
		ck_assert_int_eq(vmstat_source.start(state), 0);
		machine_write(root, TLBI_SWITCH, on ? "0\n" : "1\n");
		machine_write(root, "/proc/vmstat", TLBI_AFTER);
		ck_assert_int_eq(vmstat_source.stop(state), 0);
		forget_samples(&keeper);
		vmstat_source.read(state, &keeper.sink);
		vmstat_source.close(state);
		ck_assert_int_eq(kept(&keeper, "tlbi_local")->value.status, VALUE_UNSUPPORTED);
	}
	forget_samples(&keeper);
	free(root);
}
END_TEST

/* A kernel without the counters: said on arm64, no row at all elsewhere. */
START_TEST(tlbi_without_counters)
{
	char *root = machine_made("arm64-64");
	struct keeping_sink keeper = { 0 };
	unsigned int i, rows = 0;

	run_source(root, NULL, &keeper);
	for (i = 0; i < keeper.count; i++)
		if (!strncmp(keeper.list[i].metric, "tlbi_", 5)) {
			rows++;
			ck_assert_int_eq(keeper.list[i].value.status, VALUE_UNSUPPORTED);
			ck_assert_ptr_nonnull(
				strstr(keeper.list[i].reason, "patches/arm64/count-tlbi"));
		}
	ck_assert_uint_eq(rows, TLBI_HERE ? 4 : 0);
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
	tcase_add_test(group, tlbi_counted);
	tcase_add_test(group, tlbi_not_counted);
	tcase_add_test(group, tlbi_switched_in_the_window);
	tcase_add_test(group, tlbi_without_counters);
	tcase_add_test(group, source_without_file);
	tcase_add_test(group, reasons_of_a_recorded_kernel);
	suite_add_tcase(suite, group);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
