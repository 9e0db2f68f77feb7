// SPDX-License-Identifier: GPL-2.0-only
/* Latencies, the data and the writer of cow-snapshot; parts of redis-snapshot and kernel-build. */
#include "quiet.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/clock.h"
#include "../../lib/ring.h"
#include "../../stressors/cow_snapshot.h"
#include "../../stressors/kernel_build.h"
#include "../../stressors/redis_snapshot.h"
#include "machines.h"

/* ---- latency ---- */

START_TEST(every_time_has_a_bucket_of_its_size)
{
	struct latency *latency = calloc(1, sizeof(*latency));
	unsigned int before = 0;

	ck_assert_uint_eq(latency_bucket(UINT64_MAX), LATENCY_BUCKETS - 1);
	for (uint64_t ns = 1; ns < 1ULL << 62; ns += ns / 100 + 1) {
		unsigned int bucket = latency_bucket(ns);

		ck_assert_uint_ge(bucket, before);
		before = bucket;
		memset(latency, 0, sizeof(*latency));
		latency_record(latency, ns);
		latency_record(latency, 1ULL << 63);
		ck_assert_msg(fabs(latency_quantile(latency, 0.5) - ns) <= ns / 128.0,
			      "%llu becomes %f", (unsigned long long)ns,
			      latency_quantile(latency, 0.5));
	}
	free(latency);
}
END_TEST

/* 1 to 1,000, each once: the p-th of a hundred is 10 p, as near as buckets are. */
START_TEST(quantiles_are_those_of_the_values)
{
	struct latency *latency = calloc(1, sizeof(*latency));

	ck_assert_double_eq(latency_quantile(latency, 0.5), 0);
	for (uint64_t ns = 1; ns <= 1000; ns++)
		latency_record(latency, ns);
	ck_assert_uint_eq(latency->count, 1000);
	ck_assert_uint_eq(latency->max_ns, 1000);
	ck_assert_double_eq(latency_quantile(latency, 0), 1);
	ck_assert_double_eq(latency_quantile(latency, 0.05), 50);
	ck_assert_double_eq_tol(latency_quantile(latency, 0.5), 500, 4);
	ck_assert_double_eq_tol(latency_quantile(latency, 0.99), 990, 8);
	ck_assert_double_le(latency_quantile(latency, 1), 1000);
	free(latency);
}
END_TEST

/* Of 100 values the 99th of a hundred has one above it, of 99 it is the longest. */
START_TEST(few_values_have_no_high_quantile)
{
	static const struct {
		double share;
		unsigned int least;
	} rows[] = { { 0.5, 2 }, { 0.99, 100 }, { 0.999, 1000 } };
	struct latency *latency = calloc(1, sizeof(*latency));

	while (latency->count < rows[_i].least - 1)
		latency_record(latency, 5);
	ck_assert(!latency_has_quantile(latency, rows[_i].share));
	latency_record(latency, 5);
	ck_assert(latency_has_quantile(latency, rows[_i].share));
	free(latency);
}
END_TEST

/* ---- data ---- */

#define PAGE 64 /* a small one: a write and seven words that stay */

static unsigned char *data_after(struct cow_data *data, size_t pages, uint64_t writes)
{
	cow_data_describe(data, pages, PAGE, 7);
	data->base = malloc(pages * PAGE);
	cow_data_fill(data);
	for (uint64_t write = 1; write <= writes; write++)
		*(uint64_t *)(data->base + cow_data_page(data, write) * PAGE) = write;
	return data->base;
}

START_TEST(every_number_of_writes_is_an_instant)
{
	static const size_t pages[] = { 1, 2, 7, 64, 1000 };
	struct cow_data data;
	struct cow_fault fault;
	uint64_t instant;

	for (uint64_t writes = 0; writes < 2500; writes += 1 + writes / 10) {
		unsigned char *image = data_after(&data, pages[_i], writes);

		ck_assert(cow_data_check(&data, image, &instant, &fault));
		ck_assert_uint_eq(instant, writes);
		free(image);
	}
}
END_TEST

/* One more write in the image, and an earlier one not: what a missing flush at fork makes. */
START_TEST(a_write_after_the_instant_is_found)
{
	struct cow_data data;
	struct cow_fault fault;
	uint64_t instant;

	for (uint64_t late = 2; late < 90; late++) {
		unsigned char *image = data_after(&data, 100, 250);

		*(uint64_t *)(image + cow_data_page(&data, 250 + late) * PAGE) = 250 + late;
		ck_assert(!cow_data_check(&data, image, &instant, &fault));
		ck_assert_str_eq(fault.words, "an older write is missing");
		free(image);
	}
}
END_TEST

START_TEST(each_damaged_word_is_found)
{
	struct cow_data data;
	struct cow_fault fault;
	uint64_t instant;

	for (size_t word = 0; word < 20 * PAGE / 8; word++) {
		unsigned char *image = data_after(&data, 20, 35);

		((uint64_t *)image)[word] ^= 1ULL << word % 63;
		ck_assert(!cow_data_check(&data, image, &instant, &fault) || instant != 35);
		free(image);
	}
}
END_TEST

/* ---- the writer ---- */

/* Every allocation of this program: under a sanitizer it has its own. */
static volatile unsigned long allocations;

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define COUNTS_ALLOCATIONS false
#else
#define COUNTS_ALLOCATIONS true
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	return __libc_realloc(memory, size);
}
#endif

#define WRITES 20000

/* Snapshots come and go by the number of writes; then the end, after one more. */
static void steer(void *context, uint64_t now_ns)
{
	struct cow_writer *writer = context;
	uint64_t written = atomic_load(&writer->written);

	(void)now_ns;
	atomic_store(&writer->current, written / 1000 % 2 ? written / 1000 : 0);
	if (written == WRITES - 1)
		atomic_store(&writer->stop, COW_FINISH);
}

static struct cow_writer *new_writer(size_t pages)
{
	struct cow_writer *writer = mmap(NULL, sizeof(*writer), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ck_assert_ptr_ne(writer, MAP_FAILED);
	data_after(&writer->data, pages, 0);
	return writer;
}

START_TEST(the_writer_allocates_nothing)
{
	struct cow_writer *writer = new_writer(300);
	struct cow_fault fault;
	void *volatile counted;
	unsigned long before;
	uint64_t instant;

	/* the count counts */
	before = allocations;
	counted = malloc(100);
	free(counted);
	if (!COUNTS_ALLOCATIONS)
		return;
	ck_assert_uint_gt(allocations, before);
	before = allocations;
	cow_writer_run(writer, steer, writer);
	ck_assert_uint_eq(allocations, before);

	ck_assert(cow_data_check(&writer->data, writer->data.base, &instant, &fault));
	ck_assert_uint_eq(instant, WRITES);
	ck_assert_uint_eq(writer->phases[COW_OUT].latency.count +
				  writer->phases[COW_IN].latency.count,
			  WRITES);
	/* half of the writes were in snapshots, but for those at the edges */
	ck_assert_uint_ge(writer->phases[COW_IN].latency.count, WRITES / 2);
	ck_assert_uint_le(writer->phases[COW_IN].latency.count, WRITES / 2 + 40);
	ck_assert_uint_eq(writer->snapshots[2].ended, 4000);
}
END_TEST

/*
 * The process is killed at any system call but those the loop may make. A clock that is no
 * vDSO's is a system call as well.
 */
static void forbid_calls(void)
{
	static const int allowed[] = { SYS_getrusage, SYS_clock_gettime, SYS_exit_group };
	struct sock_filter filter[8];
	struct sock_fprog program = { .filter = filter };
	unsigned int count = sizeof(allowed) / sizeof(allowed[0]);

	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							     offsetof(struct seccomp_data, nr));
	for (unsigned int i = 0; i < count; i++)
		filter[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								     allowed[i], count - i, 0);
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							     SECCOMP_RET_KILL_PROCESS);
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

static int status_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(the_writer_makes_no_other_system_call)
{
	struct cow_writer *writer = new_writer(300);
	pid_t pid = fork();
	int status;

	if (!pid) {
		forbid_calls();
		cow_writer_run(writer, steer, writer);
		syscall(SYS_exit_group, 0);
	}
	status = status_of(pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return;
	ck_assert_int_eq(status, 0);
	/* and another one is noticed */
	pid = fork();
	if (!pid) {
		forbid_calls();
		syscall(SYS_getppid);
		syscall(SYS_exit_group, 0);
	}
	ck_assert(WIFSIGNALED(status_of(pid)));
}
END_TEST

#define STALL_NS 20000000 /* 200 writes */

/* What a writer of 10,000 writes a second is told in a stall after 100 writes, and after it. */
struct course_plan {
	struct cow_writer *writer;
	unsigned int during, after; /* current */
	enum cow_stop stop;	    /* at the end of the stall; COW_GO_ON: after 600 writes */
	bool stalled;
};

static void stall_once(void *context, uint64_t now_ns)
{
	struct course_plan *plan = context;
	struct cow_writer *writer = plan->writer;
	uint64_t written = atomic_load(&writer->written), end_ns = now_ns + STALL_NS;

	if (written == 100 && !plan->stalled) {
		plan->stalled = true;
		atomic_store(&writer->current, plan->during);
		while (monotonic_ns() < end_ns)
			;
		atomic_store(&writer->stop, plan->stop);
	} else if (plan->stalled) {
		atomic_store(&writer->current, plan->after);
	}
	if (written == 600)
		atomic_store(&writer->stop, COW_FINISH);
}

static struct cow_writer *run_stalled(unsigned int during, unsigned int after, enum cow_stop stop)
{
	struct course_plan plan = { new_writer(300), during, after, stop, false };
	uint64_t latencies = 0, writes = 0;

	plan.writer->interval_ns = 100000;
	cow_writer_run(plan.writer, stall_once, &plan);
	for (unsigned int kind = 0; kind < COW_KINDS; kind++) {
		latencies += plan.writer->phases[kind].latency.count;
		writes += plan.writer->phases[kind].writes;
	}
	ck_assert_uint_eq(writes, atomic_load(&plan.writer->written));
	ck_assert_uint_eq(latencies, writes);
	return plan.writer;
}

/* A stall of the process counts for every write that was due meanwhile. */
START_TEST(a_stall_counts_for_all_writes_that_it_delays)
{
	struct cow_writer *writer = run_stalled(1, 1, COW_GO_ON);

	/* 20 ms are 200 writes, which waited 10 ms on average; the others were on time */
	ck_assert_uint_ge(writer->phases[COW_IN].latency.count, 500);
	ck_assert_double_ge(latency_quantile(&writer->phases[COW_IN].latency, 0.8), 4e6);
	ck_assert_uint_ge(writer->phases[COW_IN].latency.max_ns, STALL_NS - 100000);
}
END_TEST

/* What was due in a snapshot is made after it: its latency is the snapshot's, its rate is not. */
START_TEST(a_write_counts_where_it_is_made)
{
	struct cow_writer *writer = run_stalled(1, 0, COW_GO_ON);
	const struct cow_phase *in = &writer->phases[COW_IN], *out = &writer->phases[COW_OUT];

	ck_assert_uint_le(in->writes, 1);
	ck_assert_uint_ge(in->latency.count, STALL_NS / 100000 - 1);
	ck_assert_uint_ge(out->writes, 599);
	ck_assert_uint_ge(out->latency.count, 100);
	ck_assert_uint_ge(in->latency.max_ns, STALL_NS - 100000);
}
END_TEST

/* Between snapshots the data may be prepared: that is in neither of the two. */
START_TEST(what_is_aside_counts_for_nothing_else)
{
	struct cow_writer *writer = run_stalled(COW_CURRENT_ASIDE, 0, COW_GO_ON);

	ck_assert_uint_eq(writer->phases[COW_IN].latency.count, 0);
	ck_assert_uint_eq(writer->phases[COW_IN].writes, 0);
	ck_assert_uint_ge(writer->phases[COW_ASIDE].latency.count, STALL_NS / 100000 - 1);
	ck_assert_uint_ge(writer->phases[COW_ASIDE].elapsed_ns, STALL_NS);
}
END_TEST

START_TEST(what_is_due_at_the_end_is_written)
{
	struct cow_writer *writer = run_stalled(1, 1, COW_FINISH);

	ck_assert_uint_ge(atomic_load(&writer->written), 100 + STALL_NS / 100000 - 1);
	ck_assert_uint_ge(writer->phases[COW_IN].latency.max_ns, STALL_NS - 100000);
	/* but not what a writer can never make */
	writer = run_stalled(1, 1, COW_QUIT);
	ck_assert_uint_le(atomic_load(&writer->written), 101);
}
END_TEST

/* ---- the ring ---- */

START_TEST(a_ring_writes_every_byte)
{
	static const struct {
		size_t bytes, chunk;
		unsigned int depth;
	} cases[] = { { 1, 4096, 1 }, { 100000, 4096, 4 }, { 1 << 20, 100000, 64 } };
	int file = memfd_create("image", MFD_CLOEXEC);
	size_t bytes = cases[_i].bytes;
	unsigned char *memory = malloc(bytes), *back = malloc(bytes + 1);

	for (size_t i = 0; i < bytes; i++)
		memory[i] = i * 31 + i / 251;
	if (!ring_probe(cases[_i].depth)) {
		ck_assert_int_eq(ring_write(file, memory, bytes, cases[_i].chunk, cases[_i].depth),
				 0);
		ck_assert_int_eq(pread(file, back, bytes + 1, 0), bytes);
		ck_assert(!memcmp(memory, back, bytes));
		ck_assert_int_eq(ring_write(-1, memory, bytes, 4096, 1), -EBADF);
	}
	free(memory);
	free(back);
	close(file);
}
END_TEST

/* ---- redis ---- */

static const char new_csv[] =
	"\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\","
	"\"p99_latency_ms\",\"max_latency_ms\"\n"
	"\"SET\",\"48192.77\",\"0.065\",\"0.008\",\"0.031\",\"0.071\",\"1.023\",\"8.135\"\n";

START_TEST(figures_of_redis_benchmark_are_found_by_their_heads)
{
	const struct redis_load *load = redis_load_find("redis-benchmark");
	struct redis_load_result result;

	ck_assert_int_eq(load->parse(new_csv, &result), 0);
	ck_assert_double_eq(result.requests_per_s, 48192.77);
	ck_assert(result.has_latency);
	ck_assert_double_eq_tol(result.p50_us, 31, 1e-9);
	ck_assert_double_eq_tol(result.p99_us, 1023, 1e-9);
	ck_assert_double_eq_tol(result.max_us, 8135, 1e-9);
	/* before 6.2 */
	ck_assert_int_eq(load->parse("\"SET\",\"51020.41\"\n", &result), 0);
	ck_assert_double_eq(result.requests_per_s, 51020.41);
	ck_assert(!result.has_latency);
	ck_assert_int_eq(load->parse("Could not connect to Redis\n", &result), -EINVAL);
}
END_TEST

START_TEST(figures_of_memtier_are_found)
{
	const struct redis_load *load = redis_load_find("memtier");
	struct redis_load_result result;

	ck_assert_int_eq(load->parse("{\"ALL STATS\": {\"Totals\": {\"Ops/sec\": 1234.5, "
				     "\"Max Latency\": 3.5, \"Percentile Latencies\": "
				     "{\"p50.00\": 0.25, \"p99.00\": 1.5}}}}",
				     &result),
			 0);
	ck_assert_double_eq(result.requests_per_s, 1234.5);
	ck_assert(result.has_latency);
	ck_assert_double_eq(result.p50_us, 250);
	ck_assert_double_eq(result.max_us, 3500);
	ck_assert_int_eq(load->parse("not JSON", &result), -EINVAL);
	ck_assert_int_eq(load->parse("{}", &result), -EINVAL);
}
END_TEST

START_TEST(numbers_of_info_are_found_by_exact_names)
{
	static const char info[] =
		"# Persistence\r\nx_rdb_saves:5\r\nrdb_saves:12\r\nrdb_saves_x:7\r\n";

	ck_assert_int_eq(redis_number(info, "rdb_saves"), 12);
	ck_assert_int_eq(redis_number(info, "saves"), -1);
	ck_assert_int_eq(redis_number("", "rdb_saves"), -1);
}
END_TEST

/* Of redis-server 7.0.15; the second is what it told while the first snapshot of all was made. */
static const struct {
	const char *info;
	enum redis_save save;
} saves[] = {
	{ "# Persistence\r\nrdb_bgsave_in_progress:0\r\nrdb_last_bgsave_status:ok\r\nrdb_saves:0\r\n",
	  REDIS_SAVE_ENDED },
	{ "# Persistence\r\nrdb_bgsave_in_progress:1\r\nrdb_last_bgsave_status:ok\r\nrdb_saves:1\r\n",
	  REDIS_SAVE_RUNS },
	{ "# Persistence\r\nrdb_bgsave_in_progress:1\r\nrdb_last_bgsave_status:err\r\nrdb_saves:2\r\n",
	  REDIS_SAVE_RUNS },
	{ "# Persistence\r\nrdb_bgsave_in_progress:0\r\nrdb_last_bgsave_status:err\r\nrdb_saves:2\r\n",
	  REDIS_SAVE_FAILED },
	{ "# Persistence\r\nrdb_bgsave_in_progress:0\r\nrdb_last_bgsave_status:okay\r\n",
	  REDIS_SAVE_FAILED },
};

START_TEST(a_snapshot_that_began_has_not_ended)
{
	ck_assert_int_eq(redis_save_state(saves[_i].info), saves[_i].save);
}
END_TEST

/* Node 0 has CPUs 0-7 and node 8 CPUs 8-15 in numa-gaps; NULL is a kernel without nodes. */
static const struct {
	const char *machine;
	unsigned int first, count;
	const char *server_node, *load_node, *servers, *loads; /* NULL: refused */
} divisions[] = {
	{ "numa-gaps", 0, 16, "auto", "auto", "8-15", "0-7" },
	{ "numa-gaps", 0, 16, "0", "auto", "0-7", "8-15" },
	{ "numa-gaps", 0, 16, "auto", "8", "0-7", "8-15" },
	{ "numa-gaps", 0, 16, "8", "8", "12-15", "8-11" },
	{ "numa-gaps", 2, 3, "auto", "auto", "3-4", "2" },
	{ "numa-gaps", 0, 8, "8", "auto", NULL, NULL },
	{ "numa-gaps", 0, 16, "5", "auto", NULL, NULL },
	/* one CPU is shared only by who says so */
	{ "numa-gaps", 2, 1, "auto", "auto", NULL, NULL },
	{ "numa-gaps", 2, 1, "0", "auto", NULL, NULL },
	{ "numa-gaps", 2, 1, "0", "0", "2", "2" },
	{ NULL, 0, 1, "auto", "auto", NULL, NULL },
	{ NULL, 0, 2, "auto", "auto", "1", "0" },
	{ NULL, 0, 4, "auto", "auto", "2-3", "0-1" },
	{ NULL, 0, 4, "0", "auto", NULL, NULL },
};

START_TEST(cpus_are_divided)
{
	const struct stressor *stressor = stressor_find("redis-snapshot");
	struct option_values *values = options_new(stressor->options);
	unsigned int cpus[16];
	struct point point = { .stressor = stressor,
			       .parameters = values,
			       .cpus = cpus,
			       .cpu_count = divisions[_i].count };
	hwloc_bitmap_t servers, loads;
	char reason[256], *text, *root;
	int rc;

	for (unsigned int i = 0; i < divisions[_i].count; i++)
		cpus[i] = divisions[_i].first + i;
	options_set(values, "x", "server-node", divisions[_i].server_node, quiet_log());
	options_set(values, "x", "load-node", divisions[_i].load_node, quiet_log());
	root = divisions[_i].machine ? machine_made(divisions[_i].machine) : strdup("/nonexistent");
	rc = redis_cpus(root, &point, &servers, &loads, reason, sizeof(reason));
	free(root);
	ck_assert_int_eq(rc, divisions[_i].servers ? 0 : 1);
	if (!rc) {
		hwloc_bitmap_list_asprintf(&text, servers);
		ck_assert_str_eq(text, divisions[_i].servers);
		free(text);
		hwloc_bitmap_list_asprintf(&text, loads);
		ck_assert_str_eq(text, divisions[_i].loads);
		free(text);
		hwloc_bitmap_free(servers);
		hwloc_bitmap_free(loads);
	}
	options_free(values);
}
END_TEST

/* ---- kernel-build ---- */

static void make_tree(const char *cache, const char *name, const char *version)
{
	char *src = format_string("%s/trees/%s/src", cache, name);
	char *file = format_string("%s/Makefile", src);

	ck_assert_int_eq(fs_make_folders(src, 0700), 0);
	if (version)
		ck_assert_int_eq(fs_replace(file, version, strlen(version)), 0);
	free(file);
	free(src);
}

#define MAKEFILE(version, patchlevel, sublevel)                                                    \
	"# SPDX-License-Identifier: GPL-2.0\nVERSION = " #version "\nPATCHLEVEL = " #patchlevel    \
	"\nSUBLEVEL = " #sublevel "\nEXTRAVERSION =\nNAME = Baby\n"

/* Trees of a cache, in the order in which they are unpacked; auto takes the second. */
static const struct {
	const char *names[2], *makefiles[2];
	int rc;
	unsigned long version;
} caches[] = {
	{ { "linux-source-7.3_7.3.4-1-x86_64", "linux-source-7.3_7.3.4-10-x86_64" },
	  { MAKEFILE(7, 3, 4), MAKEFILE(7, 3, 4) },
	  0,
	  7003004 },
	{ { "linux-source-7.3_7.3.4-9-x86_64", "linux-source-7.3_7.3.4-10-x86_64" },
	  { MAKEFILE(7, 3, 4), MAKEFILE(7, 3, 4) },
	  0,
	  7003004 },
	{ { "linux-source-6.9-x86_64", "linux-source-6.18-x86_64" },
	  { MAKEFILE(6, 9, 12), MAKEFILE(6, 18, 0) },
	  -ENOTUNIQ,
	  6018000 },
	{ { "z-x86_64", "a-x86_64" },
	  { MAKEFILE(6, 1, 130), MAKEFILE(6, 2, 1) },
	  -ENOTUNIQ,
	  6002001 },
	{ { "z-x86_64", "a-x86_64" }, { "all:\n", MAKEFILE(6, 2, 1) }, -ENOTUNIQ, 6002001 },
	{ { "z-x86_64", "a-x86_64" }, { NULL, MAKEFILE(6, 2, 1) }, -ENOTUNIQ, 6002001 },
};

START_TEST(the_newest_tree_is_built)
{
	char *cache = format_string("%s/cache-%d", machines_folder, _i);
	char *expected = format_string("%s/trees/%s/src", cache, caches[_i].names[1]);
	char *tree = NULL;

	ck_assert_int_eq(build_newest_tree(cache, &tree), -ENOENT);
	for (int i = 0; i < 2; i++)
		make_tree(cache, caches[_i].names[i], caches[_i].makefiles[i]);
	ck_assert_int_eq(build_newest_tree(cache, &tree), caches[_i].rc);
	ck_assert_str_eq(tree, expected);
	ck_assert_uint_eq(build_source_version(tree), caches[_i].version);
	free(tree);
	free(expected);
	free(cache);
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
	TCase *tests = tcase_create("snapshot");

	tcase_add_checked_fixture(tests, machines_begin, machines_end);
	tcase_add_test(tests, every_time_has_a_bucket_of_its_size);
	tcase_add_test(tests, quantiles_are_those_of_the_values);
	tcase_add_loop_test(tests, few_values_have_no_high_quantile, 0, 3);
	tcase_add_loop_test(tests, every_number_of_writes_is_an_instant, 0, 5);
	tcase_add_test(tests, a_write_after_the_instant_is_found);
	tcase_add_test(tests, each_damaged_word_is_found);
	tcase_add_test(tests, the_writer_allocates_nothing);
	tcase_add_test(tests, the_writer_makes_no_other_system_call);
	tcase_add_test(tests, a_stall_counts_for_all_writes_that_it_delays);
	tcase_add_test(tests, a_write_counts_where_it_is_made);
	tcase_add_test(tests, what_is_aside_counts_for_nothing_else);
	tcase_add_test(tests, what_is_due_at_the_end_is_written);
	tcase_add_loop_test(tests, a_ring_writes_every_byte, 0, 3);
	tcase_add_test(tests, figures_of_redis_benchmark_are_found_by_their_heads);
	tcase_add_test(tests, figures_of_memtier_are_found);
	tcase_add_test(tests, numbers_of_info_are_found_by_exact_names);
	tcase_add_loop_test(tests, a_snapshot_that_began_has_not_ended, 0, COUNT(saves));
	tcase_add_loop_test(tests, cpus_are_divided, 0, COUNT(divisions));
	tcase_add_loop_test(tests, the_newest_tree_is_built, 0, COUNT(caches));
	return run_suite("snapshot", tests);
}
