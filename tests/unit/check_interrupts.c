// SPDX-License-Identifier: GPL-2.0-only
/* The parser of /proc/interrupts and the source on top of it. */
#include "machines.h"

#include <errno.h>
#include <math.h>

#include "../../lib/cpus.h"
#include "../../lib/interrupts.h"
#include "../../lib/snapshot.h"
#include "../../lib/tlb_row.h"

static struct interrupts *parse(const char *root)
{
	struct interrupts *table;
	size_t length;
	char *text;

	ck_assert_int_eq(fs_read(root, "/proc/interrupts", &text, &length), 0);
	ck_assert_int_eq(interrupts_parse(text, length, &table), 0);
	free(text);
	return table;
}

START_TEST(recorded_machine)
{
	char *root = machine_recorded("vm-x86-2");
	struct interrupts *table = parse(root);
	const struct interrupts_row *row;

	ck_assert_uint_eq(table->cpu_count, 2);
	ck_assert_uint_eq(table->cpus[1], 1);
	row = interrupts_find(table, "TLB");
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->count, 2);
	ck_assert_str_eq(row->description, "TLB shootdowns");
	row = interrupts_find(table, "26");
	ck_assert_str_eq(row->description, "IO-APIC   4-edge      ttyS0");
	row = interrupts_find(table, "ERR");
	ck_assert_uint_eq(row->count, 1);
	ck_assert_str_eq(row->description, "");
	interrupts_free(table);
	free(root);
}
END_TEST

START_TEST(labels_are_exact)
{
	static const char text[] = "           CPU0       \n"
				   " TLBX:          1   another row\n"
				   "  XTLB:         2   and another\n"
				   "  24:          3   TLB shootdowns of a device\n"
				   "nothing that has a label\n"
				   " TLB:          4   TLB shootdowns\n";
	struct interrupts *table;

	ck_assert_int_eq(interrupts_parse(text, strlen(text), &table), 0);
	ck_assert_uint_eq(table->row_count, 4);
	ck_assert_uint_eq(interrupts_find(table, "TLB")->counts[0], 4);
	ck_assert_uint_eq(interrupts_find_described(table, "TLB shootdowns")->counts[0], 4);
	ck_assert_ptr_null(interrupts_find(table, "TL"));
	ck_assert_ptr_null(interrupts_find_described(table, "TLB"));
	interrupts_free(table);
}
END_TEST

START_TEST(text_that_is_cut_or_foreign)
{
	static const char *const texts[] = {
		"",
		"\n",
		"TLB: 1 2\n",
		"CPU0 CPUx\n TLB: 1 2\n",
		"CPU0 other\n TLB: 1\n",
		"           CPU0       CPU1       \n TLB:          1          2   TLB shootd",
	};
	struct interrupts *table = NULL;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_int_eq(interrupts_parse(texts[i], strlen(texts[i]), &table), -EBADMSG);
	ck_assert_int_eq(interrupts_parse("CPU0\n\0\n", 7, &table), -EBADMSG);
	ck_assert_ptr_null(table);
}
END_TEST

static const struct {
	const char *name;
	unsigned int cpus, last; /* columns, and the number of the last one */
} large[] = {
	{ "x86-1", 1, 0 },
	{ "x86-112", 112, 111 },
	{ "x86-512", 512, 511 },
	{ "x86-1200", 1186, 1198 },
};

START_TEST(made_machines)
{
	char *root = machine_made(large[_i].name);
	struct interrupts *table = parse(root);
	const struct interrupts_row *tlb = interrupts_find(table, "TLB");
	const struct interrupts_row *timer = interrupts_find(table, "LOC");
	unsigned int i;

	ck_assert_uint_eq(table->cpu_count, large[_i].cpus);
	ck_assert_uint_eq(table->cpus[table->cpu_count - 1], large[_i].last);
	ck_assert_uint_eq(tlb->count, table->cpu_count);
	for (i = 0; i < table->cpu_count; i++) {
		ck_assert_uint_eq(tlb->counts[i], 1000 + table->cpus[i]);
		ck_assert_uint_eq(timer->counts[i], 4000000000 + table->cpus[i]);
	}
	interrupts_free(table);
	free(root);
}
END_TEST

START_TEST(arm64_rows_by_description)
{
	char *root = machine_recorded("arm64-4");
	struct interrupts *table = parse(root);
	const struct interrupts_row *row;

	ck_assert_ptr_null(interrupts_find(table, "TLB"));
	row = interrupts_find_described(table, "Function call interrupts");
	ck_assert_str_eq(row->label, "IPI1");
	ck_assert_uint_eq(row->counts[3], 1688);
	interrupts_free(table);
	free(root);
}
END_TEST

START_TEST(counters_wrap)
{
	ck_assert_uint_eq(interrupts_added(10, 25), 15);
	ck_assert_uint_eq(interrupts_added(7, 7), 0);
	ck_assert_uint_eq(interrupts_added(4294967290U, 4), 10);
}
END_TEST

/* Opens the source on a machine, lets change() alter the machine in the window, and reads. */
static void run_source(const char *root, void (*change)(const char *root),
		       struct keeping_sink *keeper)
{
	const struct source_setup setup = { .root = root };
	struct log log;
	void *state;

	log_open(&log, stderr, LOG_LEVEL_ERROR);
	forget_samples(keeper);
	ck_assert_int_eq(interrupts_source.open(&setup, &log, &state), 0);
	ck_assert_int_eq(interrupts_source.start(state), 0);
	if (change)
		change(root);
	ck_assert_int_eq(interrupts_source.stop(state), 0);
	interrupts_source.read(state, &keeper->sink);
	interrupts_source.close(state);
}

static void replace_counts(const char *root, const char *from, const char *to)
{
	char *text = machine_read(root, "/proc/interrupts");
	size_t at = 0;

	while (text[at] && strncmp(text + at, from, strlen(from)))
		at++;
	ck_assert(text[at]);
	ck_assert_uint_eq(strlen(from), strlen(to));
	memcpy(text + at, to, strlen(to));
	machine_write(root, "/proc/interrupts", text);
	free(text);
}

/* CPU 9 of the machine with gaps is the eighth column, and takes 91 interrupts */
static void interrupt_cpu_9(const char *root)
{
	replace_counts(
		root,
		" TLB:       1000       1001       1002       1003       1004       1005       1006       1009",
		" TLB:       1000       1001       1002       1003       1004       1005       1006       1100");
}

START_TEST(source_counts_by_cpu_number)
{
	struct keeping_sink keeper = { 0 };
	char *root = machine_made("x86-1200");
	const struct kept_sample *sample;

	run_source(root, interrupt_cpu_9, &keeper);
	sample = kept(&keeper, "remote_ipis");
	ck_assert_int_eq(sample->value.status, VALUE_OK);
	ck_assert_double_eq(sample->value.value, 91);
	ck_assert_uint_eq(sample->cpu_count, 1199);
	ck_assert_double_eq(sample->by_cpu[9], 91);
	ck_assert_double_eq(sample->by_cpu[10], 0);
	ck_assert(isnan(sample->by_cpu[7]));
	ck_assert_double_eq(kept(&keeper, "call_ipis")->value.value, 0);
	forget_samples(&keeper);
	free(root);
}
END_TEST

START_TEST(source_without_tlb_row)
{
	struct keeping_sink keeper = { 0 };
	char *root = machine_made("arm64-64");

	run_source(root, NULL, &keeper);
	ck_assert_int_eq(kept(&keeper, "remote_ipis")->value.status, VALUE_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(kept(&keeper, "remote_ipis")->reason, "not interrupts"));
	ck_assert_int_eq(kept(&keeper, "call_ipis")->value.status, VALUE_OK);
	forget_samples(&keeper);
	free(root);
}
END_TEST

START_TEST(source_without_file)
{
	struct keeping_sink keeper = { 0 };

	run_source("/nonexistent", NULL, &keeper);
	ck_assert_int_eq(kept(&keeper, "remote_ipis")->value.status, VALUE_UNSUPPORTED);
	forget_samples(&keeper);
}
END_TEST

static void lose_a_cpu(const char *root)
{
	machine_write(root, "/proc/interrupts",
		      "           CPU0       \n TLB:       1000   TLB shootdowns\n");
}

static void grow(const char *root)
{
	char *text = malloc(200001);

	memset(text, '1', 200000);
	strcpy(text + 199999, "\n");
	machine_write(root, "/proc/interrupts", text);
	free(text);
}

START_TEST(source_says_what_went_wrong)
{
	struct keeping_sink keeper = { 0 };
	char *root = machine_made("memory-only");

	run_source(root, lose_a_cpu, &keeper);
	ck_assert_int_eq(kept(&keeper, "remote_ipis")->value.status, VALUE_FAILED);
	ck_assert_ptr_nonnull(strstr(kept(&keeper, "remote_ipis")->reason, "offline"));
	free(root);
	root = machine_made("memory-only");
	run_source(root, grow, &keeper);
	ck_assert_int_eq(kept(&keeper, "remote_ipis")->value.status, VALUE_FAILED);
	ck_assert_ptr_nonnull(strstr(kept(&keeper, "remote_ipis")->reason, "doubled"));
	forget_samples(&keeper);
	free(root);
}
END_TEST

START_TEST(source_on_this_machine)
{
	struct keeping_sink keeper = { 0 };
	const struct kept_sample *sample;

	run_source("", NULL, &keeper);
	sample = kept(&keeper, "call_ipis");
	if (sample->value.status == VALUE_OK)
		ck_assert_double_ge(sample->value.value, 0);
	forget_samples(&keeper);
}
END_TEST

/* What a provoked flush does to the row of a machine in a folder. */
static unsigned int provocations;

static int in_vain(const unsigned int cpus[2])
{
	(void)cpus;
	provocations++;
	return 0;
}

static int with_effect(const unsigned int cpus[2])
{
	provocations++;
	machine_write(machines_folder, "/proc/interrupts",
		      "           CPU0       CPU1       \n"
		      " TLB:          0          1   TLB shootdowns\n");
	return cpus[1] == 1 ? 0 : -EINVAL;
}

static int not_possible(const unsigned int cpus[2])
{
	(void)cpus;
	provocations++;
	return -ETIMEDOUT;
}

static const struct {
	const char *text;
	int (*provoke)(const unsigned int cpus[2]);
	bool dead;
	unsigned int provocations;
} tlb_rows[] = {
	{ "CPU0 CPU1\n TLB: 0 0 TLB shootdowns\n", in_vain, true, 1 },
	{ "CPU0 CPU1\n TLB: 0 0 TLB shootdowns\n", with_effect, false, 1 },
	{ "CPU0 CPU1\n TLB: 0 0 TLB shootdowns\n", not_possible, false, 1 },
	{ "CPU0 CPU1\n TLB: 0 0 TLB shootdowns\n", NULL, false, 0 },
	/* nothing is asked of a machine whose row counts, that has none, or one CPU */
	{ "CPU0 CPU1\n TLB: 0 7 TLB shootdowns\n", in_vain, false, 0 },
	{ "CPU0 CPU1\nIPI0: 0 0 Rescheduling interrupts\n", in_vain, false, 0 },
	{ "CPU0\n TLB: 0 TLB shootdowns\n", in_vain, false, 0 },
};

START_TEST(row_that_counts_nothing)
{
	static const unsigned int cpus[2] = { 0, 1 };

	provocations = 0;
	machine_write(machines_folder, "/proc/interrupts", tlb_rows[_i].text);
	ck_assert_int_eq(tlb_row_is_dead(machines_folder, cpus, tlb_rows[_i].provoke),
			 tlb_rows[_i].dead);
	ck_assert_uint_eq(provocations, tlb_rows[_i].provocations);
}
END_TEST

/* Here flushes either are interrupts, or are said not to be. */
START_TEST(source_and_row_on_this_machine)
{
	struct keeping_sink keeper = { 0 };
	struct source_setup setup = { .root = "" };
	hwloc_bitmap_t usable;
	unsigned int *cpus;
	struct log log;
	void *state;
	bool dead;

	ck_assert_int_eq(cpus_usable(&usable), 0);
	cpus = cpus_numbers(usable, &setup.cpu_count);
	setup.cpus = cpus;
	log_open(&log, stderr, LOG_LEVEL_ERROR);
	forget_samples(&keeper);
	ck_assert_int_eq(interrupts_source.open(&setup, &log, &state), 0);
	ck_assert_int_eq(interrupts_source.start(state), 0);
	dead = setup.cpu_count > 1 && tlb_row_is_dead("", cpus, tlb_row_provoke);
	ck_assert_int_eq(interrupts_source.stop(state), 0);
	interrupts_source.read(state, &keeper.sink);
	interrupts_source.close(state);
	if (dead) {
		ck_assert_int_eq(kept(&keeper, "remote_ipis")->value.status, VALUE_UNSUPPORTED);
		ck_assert_str_eq(kept(&keeper, "remote_ipis")->reason, TLB_ROW_DEAD);
	}
	forget_samples(&keeper);
	hwloc_bitmap_free(usable);
	free(cpus);
}
END_TEST

START_TEST(snapshot_reads_anew)
{
	struct snapshot snapshot;

	machine_write(machines_folder, "/proc/file", "one\n");
	ck_assert_int_eq(snapshot_open(machines_folder, "/proc/file", &snapshot), 0);
	ck_assert_int_eq(snapshot_take(&snapshot, SNAPSHOT_BEFORE), 0);
	machine_write(machines_folder, "/proc/file", "another\n");
	ck_assert_int_eq(snapshot_take(&snapshot, SNAPSHOT_AFTER), 0);
	ck_assert_str_eq(snapshot.text[SNAPSHOT_BEFORE], "one\n");
	ck_assert_str_eq(snapshot.text[SNAPSHOT_AFTER], "another\n");
	snapshot_close(&snapshot);
	ck_assert_int_eq(snapshot_open(machines_folder, "/proc/none", &snapshot), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interrupts");
	TCase *group = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(group, machines_begin, machines_end);
	tcase_set_timeout(group, 60);
	tcase_add_test(group, recorded_machine);
	tcase_add_test(group, labels_are_exact);
	tcase_add_test(group, text_that_is_cut_or_foreign);
	tcase_add_loop_test(group, made_machines, 0, sizeof(large) / sizeof(large[0]));
	tcase_add_test(group, arm64_rows_by_description);
	tcase_add_test(group, counters_wrap);
	tcase_add_test(group, source_counts_by_cpu_number);
	tcase_add_test(group, source_without_tlb_row);
	tcase_add_test(group, source_without_file);
	tcase_add_test(group, source_says_what_went_wrong);
	tcase_add_test(group, source_on_this_machine);
	tcase_add_loop_test(group, row_that_counts_nothing, 0,
			    sizeof(tlb_rows) / sizeof(tlb_rows[0]));
	tcase_add_test(group, source_and_row_on_this_machine);
	tcase_add_test(group, snapshot_reads_anew);
	suite_add_tcase(suite, group);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
