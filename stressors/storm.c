// SPDX-License-Identifier: GPL-2.0-only
/* Workers of a storm: their start, the window, and what they say of it. */
#include "storm.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"

#define CALM_NS	      (NS_PER_S / 5) /* in which the readers' speed without the storm is taken */
#define LIFE_CHECK    65536	     /* turns of a wait between looks whether processes live */
#define FAULTS_SPARED 8		     /* of other pages than the area's: stack, data */

/* ---- in a worker ---- */

int storm_failed(struct storm_worker *worker, const char *call)
{
	worker->slot->error = errno;
	worker->slot->call = call;
	return -1;
}

int storm_wrong(struct storm_worker *worker, const char *words)
{
	worker->slot->wrong = words;
	return -1;
}

static int fail_with(struct storm_worker *worker, const char *call, int rc)
{
	errno = -rc;
	return storm_failed(worker, call);
}

/* Everything that would fault, or map memory, in the window. */
static int begin_worker(struct storm_worker *worker)
{
	struct storm *storm = worker->storm;
	struct storm_area *area = &worker->area;
	int rc = storm_area_make(&storm->memory, worker->index, area);

	if (rc)
		return fail_with(worker, "the mapping of its memory", rc);
	worker->slot->fill_faults = storm_area_fill(area);
	worker->visit = 1;
	return storm->cause->prepare(worker);
}

static void prove(struct storm_worker *worker)
{
	if (worker->storm->cause->prove)
		worker->storm->cause->prove(worker);
	atomic_fetch_add(&worker->storm->shared->proved, 1);
}

static void finish(struct storm_worker *worker)
{
	struct storm_shared *shared = worker->storm->shared;

	atomic_fetch_add(&shared->finished, 1);
	while (!atomic_load_explicit(&shared->over, memory_order_relaxed))
		spin_pause();
	prove(worker);
}

static void work(struct storm_worker *worker)
{
	struct storm_slot *slot = worker->slot;
	long faults = storm_faults();
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	slot->start_ns = monotonic_ns();
	worker->storm->cause->loop(worker);
	slot->end_ns = monotonic_ns();
	slot->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	slot->faults = storm_faults() - faults;
}

static void stand_by(struct storm_worker *bystander)
{
	struct storm *storm = bystander->storm;
	size_t page_bytes = storm->memory.page_bytes;
	unsigned char *memory;

	if (!storm->crowd.readers) {
		atomic_fetch_add(&storm->shared->ready, 1);
		for (;;)
			spin_pause();
	}
	memory = mmap(NULL, storm_reader_bytes(page_bytes), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		storm_failed(bystander, "the mapping of its memory");
	atomic_fetch_add(&storm->shared->ready, 1);
	if (memory != MAP_FAILED)
		storm_reader_live(&bystander->slot->reader, &storm->shared->mark, memory,
				  page_bytes);
}

/* The life of everybody but worker 0; the end comes with the process. */
static _Noreturn void live(struct storm_worker *worker)
{
	struct storm *storm = worker->storm;

	if (worker->index >= storm->crowd.workers) {
		stand_by(worker);
	} else {
		begin_worker(worker);
		atomic_fetch_add(&storm->shared->ready, 1);
		while (!atomic_load_explicit(&storm->shared->go, memory_order_relaxed))
			spin_pause();
		work(worker);
		finish(worker);
	}
	for (;;)
		pause();
}

static int pin(struct storm_worker *worker)
{
	int rc = task_pin(worker->storm->task->point->cpus[worker->index]);

	return rc ? fail_with(worker, "pinning it to its CPU", rc) : 0;
}

static _Noreturn void *live_as_thread(void *argument)
{
	struct storm_worker *worker = argument;

	if (!pin(worker))
		live(worker);
	atomic_fetch_add(&worker->storm->shared->ready, 1);
	for (;;)
		pause();
}

/* ---- start ---- */

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/*
 * In a process that was forked on the control CPU, so that its mm has been there: goes
 * to the worker's CPU and forks there the one that does the work. Then it sleeps until
 * that one ends, for its parent to see: how it ended is in the slot.
 */
static _Noreturn void fork_in_place(struct storm_worker *worker, pid_t parent)
{
	pid_t self, pid;

	die_with(parent);
	if (pin(worker))
		goto failed;
	self = getpid();
	pid = fork();
	if (!pid) {
		die_with(self);
		live(worker);
	}
	if (pid > 0) {
		waitpid(pid, &worker->slot->end, 0);
		_exit(1);
	}
	storm_failed(worker, "fork()");
failed:
	atomic_fetch_add(&worker->storm->shared->ready, 1);
	for (;;)
		pause();
}

static int start_process(struct storm_worker *worker)
{
	pid_t self = getpid(), pid = fork();

	if (!pid)
		fork_in_place(worker, self);
	worker->pid = pid;
	return pid < 0 ? -errno : 0;
}

static int start_thread(struct storm_worker *worker)
{
	pthread_t thread;

	return -pthread_create(&thread, NULL, live_as_thread, worker);
}

static int start_others(struct storm *storm)
{
	unsigned int all = storm->crowd.workers + storm->crowd.bystanders;

	for (unsigned int i = 1; i < all; i++) {
		struct storm_worker *worker = &storm->all[i];
		int rc = storm->crowd.processes ? start_process(worker) : start_thread(worker);

		if (rc)
			return task_say(storm->task, OUTCOME_BROKEN,
					"cannot start thread or process %u of %u: %s; give "
					"fewer, or raise the limit of processes",
					i, all, strerror(-rc));
	}
	return 0;
}

/* The parent of a worker's process has ended: with it, or because of a signal of its own. */
static int say_dead(struct storm *storm, pid_t pid, int status)
{
	unsigned int index = 1;
	char who[64];

	while (storm->all[index].pid != pid)
		index++;
	if (storm->all[index].slot->end)
		status = storm->all[index].slot->end;
	snprintf(who, sizeof(who), "storm's process on CPU %u", storm->task->point->cpus[index]);
	return task_say_end(storm->task, who, status);
}

/* 0: all of its processes live, and they are to, until the target ends. */
static int check_life(struct storm *storm)
{
	int status;
	pid_t pid = storm->crowd.processes ? waitpid(-1, &status, WNOHANG) : 0;

	return pid > 0 ? say_dead(storm, pid, status) : 0;
}

static int wait_until_ready(struct storm *storm)
{
	unsigned int others = storm->crowd.workers + storm->crowd.bystanders - 1;
	int rc = 0;

	while (!rc && atomic_load(&storm->shared->ready) < others) {
		usleep(1000);
		rc = check_life(storm);
	}
	return rc;
}

static int check_errors(struct storm *storm)
{
	unsigned int all = storm->crowd.workers + storm->crowd.bystanders;

	for (unsigned int i = 0; i < all; i++) {
		const struct storm_slot *slot = &storm->shared->slots[i];

		if (slot->error)
			return task_say(storm->task, OUTCOME_BROKEN, "on CPU %u %s failed: %s",
					storm->task->point->cpus[i], slot->call,
					strerror(slot->error));
		if (slot->wrong)
			return task_say(storm->task, OUTCOME_FAIL, "on CPU %u %s",
					storm->task->point->cpus[i], slot->wrong);
	}
	return 0;
}

static bool is_huge(const struct storm *storm)
{
	return storm->memory.unit_bytes > storm->memory.page_bytes;
}

/*
 * One fault a huge page when each of its base pages is written, or it is not huge; fewer,
 * and it is a part of a larger one.
 */
static int check_huge(struct storm *storm)
{
	long units = storm->memory.area_bytes / storm->memory.unit_bytes;

	for (unsigned int i = 0; is_huge(storm) && i < storm->crowd.workers; i++) {
		long faults = storm->shared->slots[i].fill_faults;

		if (faults < units || faults > units + units / 20)
			return task_say(storm->task, OUTCOME_SKIP,
					"this kernel gives %s huge pages for that memory (%ld "
					"faults for %ld of %zu KiB): see enabled and shmem_enabled "
					"in /sys/kernel/mm/transparent_hugepage",
					faults < units ? "larger" : "no", faults, units,
					storm->memory.unit_bytes >> 10);
	}
	return 0;
}

struct storm *storm_new(struct task *task, const struct storm_cause *cause,
			struct storm_crowd crowd)
{
	unsigned int all = crowd.workers + crowd.bystanders;
	struct storm *storm = calloc(1, sizeof(*storm));

	if (!crowd.workers || all > task->point->cpu_count) {
		free(storm);
		task_say(task, OUTCOME_SKIP,
			 "%u threads and %u beside them need as many CPUs, there are %u to use; "
			 "give fewer",
			 crowd.workers, crowd.bystanders, task->point->cpu_count);
		return NULL;
	}
	if (storm)
		storm->all = calloc(all, sizeof(*storm->all));
	if (!storm || !storm->all) {
		free(storm);
		task_say(task, OUTCOME_BROKEN, "no memory");
		return NULL;
	}
	storm->task = task;
	storm->cause = cause;
	storm->crowd = crowd;
	storm->ops = task_uint(task, "ops");
	storm->memory.file = -1;
	storm->shared_bytes = sizeof(*storm->shared) + all * sizeof(storm->shared->slots[0]);
	task->state = storm;
	return storm;
}

/* Written here, so that the window does not meet its pages for the first time. */
static int share_slots(struct storm *storm)
{
	unsigned int all = storm->crowd.workers + storm->crowd.bystanders;

	storm->shared = mmap(NULL, storm->shared_bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (storm->shared == MAP_FAILED)
		return task_say(storm->task, OUTCOME_BROKEN, "cannot share memory: %s",
				strerror(errno));
	for (unsigned int i = 0; i < all; i++)
		storm->all[i] = (struct storm_worker){
			.storm = storm,
			.index = i,
			.slot = &storm->shared->slots[i],
		};
	return 0;
}

int storm_start(struct storm *storm, size_t unit_bytes, size_t map_bytes)
{
	struct task *task = storm->task;
	int rc;

	if (unit_bytes == task->point->page_bytes && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) &&
	    errno != EINVAL)
		return task_say(task, OUTCOME_BROKEN, "cannot turn huge pages off: %s",
				strerror(errno));
	rc = storm_memory_open(task, unit_bytes, map_bytes, storm->crowd.workers, &storm->memory);
	if (!rc)
		rc = share_slots(storm);
	if (!rc)
		rc = start_others(storm);
	if (rc)
		return rc;
	begin_worker(&storm->all[0]);
	rc = wait_until_ready(storm);
	if (!rc)
		rc = check_errors(storm);
	return rc ? rc : check_huge(storm);
}

/* ---- the window ---- */

static bool has_readers(const struct storm *storm)
{
	return storm->crowd.readers && storm->crowd.bystanders && !storm->task->point->emulated;
}

static struct storm_reader *reader_of(const struct storm *storm, unsigned int index)
{
	return &storm->shared->slots[storm->crowd.workers + index].reader;
}

static void ask_readers(struct storm *storm, enum storm_mark mark)
{
	atomic_store(&storm->shared->mark, mark);
}

/* Until the mark that was set is answered. The harness sees to it that this ends. */
static int await_readers(struct storm *storm)
{
	unsigned int answers = 0, mark = atomic_load(&storm->shared->mark);
	int rc = 0;

	for (unsigned int turns = 1; !rc && answers < storm->crowd.bystanders; turns++) {
		if (atomic_load(&reader_of(storm, answers)->answered) == mark)
			answers++;
		spin_pause();
		if (turns % LIFE_CHECK == 0)
			rc = check_life(storm);
	}
	return rc;
}

/* How fast readers are while nobody storms: the workers spin, and so does this one. */
static int read_in_calm(struct storm *storm, enum storm_mark from)
{
	uint64_t end_ns;
	int rc;

	ask_readers(storm, from);
	rc = await_readers(storm);
	if (rc)
		return rc;
	end_ns = monotonic_ns() + CALM_NS;
	while (monotonic_ns() < end_ns)
		spin_pause();
	ask_readers(storm, from + 1);
	return await_readers(storm);
}

int storm_arm(struct task *task)
{
	struct storm *storm = task->state;

	return has_readers(storm) ? read_in_calm(storm, STORM_MARK_BEFORE) : 0;
}

static int wait_for_workers(struct storm *storm, const _Atomic unsigned int *count)
{
	int rc = 0;

	for (unsigned int turns = 1; !rc && atomic_load(count) < storm->crowd.workers; turns++) {
		spin_pause();
		if (turns % LIFE_CHECK == 0)
			rc = check_life(storm);
	}
	return rc;
}

int storm_run(struct task *task)
{
	struct storm *storm = task->state;
	int rc;

	ask_readers(storm, STORM_MARK_WITHIN);
	atomic_store(&storm->shared->go, true);
	work(&storm->all[0]);
	atomic_fetch_add(&storm->shared->finished, 1);
	rc = wait_for_workers(storm, &storm->shared->finished);
	ask_readers(storm, STORM_MARK_WITHIN_END);
	return rc;
}

/* After the window, until which they may not have answered. */
static int read_afterwards(struct storm *storm)
{
	int rc = await_readers(storm);

	return rc ? rc : read_in_calm(storm, STORM_MARK_AFTER);
}

/* ---- what it was ---- */

static void report(struct storm *storm)
{
	const struct storm_slot *slots = storm->shared->slots;
	uint64_t start_ns = slots[0].start_ns, end_ns = slots[0].end_ns, cpu_ns = 0;
	double ops = (double)storm->ops * storm->crowd.workers, ratio = NAN;

	for (unsigned int i = 0; i < storm->crowd.workers; i++) {
		start_ns = slots[i].start_ns < start_ns ? slots[i].start_ns : start_ns;
		end_ns = slots[i].end_ns > end_ns ? slots[i].end_ns : end_ns;
		cpu_ns += slots[i].cpu_ns;
	}
	task_report(storm->task, "ops_per_s", ops / (end_ns - start_ns) * NS_PER_S);
	if (cpu_ns)
		task_report(storm->task, "ops_per_cpu_s", ops / cpu_ns * NS_PER_S);
	if (has_readers(storm))
		ratio = storm_readers_ratio(reader_of(storm, 0), storm->crowd.bystanders,
					    sizeof(slots[0]));
	if (!isnan(ratio))
		task_report(storm->task, "reader_ratio", ratio);
}

/* Pages that did not fault again were not away; more faults than units: no huge pages. */
static int check_faults(struct storm *storm, unsigned int cpu, long faults)
{
	const struct storm_memory *memory = &storm->memory;
	long units = storm->ops * (memory->call_bytes / memory->unit_bytes);

	if (faults < units)
		return task_say(storm->task, OUTCOME_BROKEN,
				"only %ld of %ld pages came back by a fault after %s on CPU %u",
				faults, units, storm->cause->call, cpu);
	if (is_huge(storm) && faults > units + units / 20 + FAULTS_SPARED)
		return task_say(storm->task, OUTCOME_BROKEN,
				"%ld faults for %ld huge pages on CPU %u: not all were huge, give "
				"a smaller map or free memory",
				faults, units, cpu);
	return 0;
}

int storm_check(struct storm *storm)
{
	int rc = check_life(storm);

	if (!rc)
		rc = check_errors(storm);
	for (unsigned int i = 0; !rc && i < storm->crowd.workers; i++) {
		const struct storm_slot *slot = &storm->shared->slots[i];
		unsigned int cpu = storm->task->point->cpus[i];

		if (slot->damaged)
			rc = task_say(storm->task, OUTCOME_FAIL,
				      "%llu pages did not hold what they must after %s on CPU %u",
				      (unsigned long long)slot->damaged, storm->cause->call, cpu);
		else if (storm->cause->refaults)
			rc = check_faults(storm, cpu, slot->faults);
	}
	return rc;
}

int storm_verify(struct task *task)
{
	struct storm *storm = task->state;
	int rc = has_readers(storm) ? read_afterwards(storm) : 0;

	atomic_store(&storm->shared->over, true);
	prove(&storm->all[0]);
	if (!rc)
		rc = wait_for_workers(storm, &storm->shared->proved);
	if (!rc)
		rc = storm_check(storm);
	if (!rc)
		report(storm);
	return rc;
}

/* Threads and their areas end with the process, and so do child processes. */
void storm_teardown(struct task *task)
{
	struct storm *storm = task->state;

	storm_memory_close(&storm->memory);
}
