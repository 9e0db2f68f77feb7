// SPDX-License-Identifier: GPL-2.0-only
/* Parses --numa and --cxl; see memory.h. */
#include "memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/cpus.h"
#include "../../lib/fs.h"
#include "../../lib/options.h"
#include "../plan.h"
#include "guest.h"

#define NODE_STEP     (1ULL << 20)
#define NODE_MINIMUM  (16ULL << 20)
#define GUEST_MINIMUM (128ULL << 20)
/* the emulator's devices come in this size only */
#define CXL_STEP (256ULL << 20)
#define WAYS_MAX 2

/* What a node that does not say its speed has when another one does. */
#define DEFAULT_LATENCY_NS    100
#define DEFAULT_BANDWIDTH_MBS 100000

/* clang-format off */
static const struct option_row node_rows[] = {
	{ .name = "cpus", .type = OPTION_STRING, .help = "its CPUs" },
	{ .name = "mem", .type = OPTION_SIZE, .max = 1ULL << 42, .help = "its memory" },
	{ .name = "latency", .type = OPTION_UINT, .min = 1, .max = 60000,
	  .help = "nanoseconds to its nearest CPU" },
	{ .name = "bandwidth", .type = OPTION_UINT, .min = 1, .max = 1000000,
	  .help = "MB/s of that CPU" },
	{ .name = "distances", .type = OPTION_STRING, .help = "to every node" },
	{ .name = NULL },
};

static const struct option_row cxl_rows[] = {
	{ .name = "size", .type = OPTION_SIZE, .min = CXL_STEP, .max = 1ULL << 40, .help = "of the region" },
	{ .name = "ways", .type = OPTION_UINT, .fallback = "1", .min = 1, .max = WAYS_MAX,
	  .help = "devices that it is interleaved on" },
	{ .name = NULL },
};
/* clang-format on */

/* What the parser must know of all nodes while it takes one after the other. */
struct parse {
	struct log *log;
	struct lab_memory *memory;
	const struct lab_arch *arch;
	unsigned int cpus;
	unsigned int sized, rated, distant; /* nodes that say their size, speed, distances */
	int rest;			    /* the node with cpus=all; -1: none */
	hwloc_bitmap_t taken;
};

static void replace(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

/* Each CPU is one of the guest's, and one node's only. */
static int check_cpus(struct parse *parse, const struct lab_node *node)
{
	unsigned int number = (unsigned int)(node - parse->memory->nodes);
	int last = hwloc_bitmap_last(node->cpus);
	char *list;

	if (last >= (int)parse->cpus) {
		log_error(parse->log,
			  "--numa: node %u has CPU %d, and the guest has CPUs 0 to %u: name fewer, "
			  "or give --cpus",
			  number, last, parse->cpus - 1);
		return -EINVAL;
	}
	if (hwloc_bitmap_intersects(node->cpus, parse->taken)) {
		list = cpus_format(node->cpus);
		log_error(parse->log, "--numa: a CPU of node %u (%s) is another node's, too",
			  number, list ? list : "?");
		free(list);
		return -EINVAL;
	}
	return hwloc_bitmap_or(parse->taken, parse->taken, node->cpus) ? -ENOMEM : 0;
}

static int take_cpus(struct parse *parse, struct lab_node *node, const char *text)
{
	unsigned int number = (unsigned int)(node - parse->memory->nodes);
	hwloc_bitmap_t cpus;
	char *list;
	int rc;

	if (!strcmp(text, "all") && parse->rest < 0) {
		parse->rest = (int)number;
		return 0;
	}
	list = strdup(text);
	if (!list)
		return -ENOMEM;
	replace(list, '/', ',');
	rc = cpus_parse(list, &cpus);
	free(list);
	if (!rc) {
		hwloc_bitmap_free(node->cpus);
		node->cpus = cpus;
		return check_cpus(parse, node);
	}
	if (rc == -EINVAL)
		log_error(parse->log,
			  "--numa: \"%s\" is no list of CPUs for node %u: write it as 0-3/6, or "
			  "give one node cpus=all",
			  text, number);
	return rc;
}

/* "10/21/30"; how many there must be is known at the end only: the rest stays 0. */
static int take_distances(struct parse *parse, struct lab_node *node, const char *text)
{
	const char *at = text;
	unsigned int count = 0;
	char *end;

	do {
		unsigned long distance = strtoul(at, &end, 10);

		if (!isdigit((unsigned char)*at) || distance < 10 || distance > 254 ||
		    count == LAB_NODES_MAX || (*end && *end != '/')) {
			log_error(parse->log,
				  "--numa: \"%s\" are no distances: write 10 for the node itself, "
				  "more (to 254) for the others, \"/\" between",
				  text);
			return -EINVAL;
		}
		node->distances[count++] = (unsigned int)distance;
		at = end + 1;
	} while (*end);
	parse->distant++;
	return 0;
}

static int take_size(struct parse *parse, struct lab_node *node, uint64_t bytes)
{
	if (bytes % NODE_STEP || (bytes && bytes < NODE_MINIMUM)) {
		log_error(parse->log,
			  "--numa: mem is whole MiB, 16M at least (or 0), not %llu bytes",
			  (unsigned long long)bytes);
		return -EINVAL;
	}
	node->memory_bytes = bytes;
	parse->sized++;
	return 0;
}

/* The KEY=VALUE pairs of text, which is cut up, go to values. first NULL: all have a key. */
static int take_pairs(const char *what, char *text, const char *first, struct log *log,
		      struct option_values *values)
{
	char *pair, *rest = text, *equals;
	int rc = 0;

	while (!rc && (pair = strsep(&rest, ","))) {
		equals = strchr(pair, '=');
		if (first && pair == text) {
			rc = options_set(values, what, first, pair, log);
		} else if (equals) {
			*equals = '\0';
			rc = options_set(values, what, pair, equals + 1, log);
		} else {
			log_error(log, "%s: \"%s\" is not KEY=VALUE", what, pair);
			rc = -EINVAL;
		}
	}
	return rc;
}

static int take_node(struct parse *parse, char *text)
{
	struct lab_memory *memory = parse->memory;
	struct lab_node *node = &memory->nodes[memory->node_count];
	struct option_values *values;
	int rc;

	if (memory->node_count == LAB_NODES_MAX) {
		log_error(parse->log, "--numa: a guest has %u nodes at most", LAB_NODES_MAX);
		return -EINVAL;
	}
	memory->node_count++;
	node->cpus = hwloc_bitmap_alloc();
	values = options_new(node_rows);
	rc = node->cpus && values ? take_pairs("--numa", text, NULL, parse->log, values) : -ENOMEM;
	if (!rc && option_given(values, "cpus"))
		rc = take_cpus(parse, node, option_string(values, "cpus"));
	if (!rc && option_given(values, "mem"))
		rc = take_size(parse, node, option_uint(values, "mem"));
	if (!rc && option_given(values, "distances"))
		rc = take_distances(parse, node, option_string(values, "distances"));
	if (!rc) {
		node->latency_ns = option_uint(values, "latency");
		node->bandwidth_mbs = option_uint(values, "bandwidth");
		parse->rated += node->latency_ns || node->bandwidth_mbs;
	}
	options_free(values);
	return rc;
}

/* Every CPU of the guest belongs to one node. */
static int give_cpus(struct parse *parse)
{
	struct lab_memory *memory = parse->memory;
	hwloc_bitmap_t left = hwloc_bitmap_alloc();
	char *text;
	int rc = 0;

	if (!left)
		return -ENOMEM;
	hwloc_bitmap_set_range(left, 0, (int)parse->cpus - 1);
	hwloc_bitmap_andnot(left, left, parse->taken);
	if (parse->rest >= 0) {
		hwloc_bitmap_copy(memory->nodes[parse->rest].cpus, left);
	} else if (!hwloc_bitmap_iszero(left)) {
		text = cpus_format(left);
		log_error(parse->log,
			  "--numa: no node has CPU %s: name each CPU, or give one node cpus=all",
			  text ? text : "?");
		free(text);
		rc = -EINVAL;
	}
	hwloc_bitmap_free(left);
	return rc;
}

static int check_distances(struct parse *parse)
{
	struct lab_memory *memory = parse->memory;
	unsigned int from, to;

	memory->has_distances = parse->distant > 0;
	for (from = 0; memory->has_distances && from < memory->node_count; from++)
		for (to = 0; to < LAB_NODES_MAX; to++) {
			unsigned int distance = memory->nodes[from].distances[to];

			if (!distance == (to >= memory->node_count) &&
			    (!distance || (distance == 10) == (from == to)))
				continue;
			log_error(parse->log,
				  "--numa: each of the %u nodes has to give %u distances, 10 for "
				  "itself and more for every other; node %u does not",
				  memory->node_count, memory->node_count, from);
			return -EINVAL;
		}
	return 0;
}

/* The kernel takes memory whose speed is said from the nearest node with CPUs. */
static void choose_initiators(struct lab_memory *memory)
{
	unsigned int from, to;

	for (from = 0; from < memory->node_count; from++) {
		struct lab_node *node = &memory->nodes[from];
		int best = -1;

		for (to = 0; to < memory->node_count; to++) {
			if (hwloc_bitmap_iszero(memory->nodes[to].cpus))
				continue;
			if (to == from || best < 0 ||
			    (best != (int)from && node->distances[to] < node->distances[best]))
				best = (int)to;
		}
		node->initiator = best < 0 ? 0 : (unsigned int)best;
		if (memory->has_speeds && !node->latency_ns)
			node->latency_ns = DEFAULT_LATENCY_NS;
		if (memory->has_speeds && !node->bandwidth_mbs)
			node->bandwidth_mbs = DEFAULT_BANDWIDTH_MBS;
	}
}

static bool is_empty(const struct lab_node *node)
{
	return hwloc_bitmap_iszero(node->cpus) && !node->memory_bytes;
}

static int check_nodes(struct parse *parse)
{
	struct lab_memory *memory = parse->memory;
	int rc = give_cpus(parse);

	if (!rc)
		rc = check_distances(parse);
	if (rc)
		return rc;
	if (parse->sized && parse->sized != memory->node_count) {
		log_error(parse->log,
			  "--numa: %u of %u nodes say their memory: give mem= to all (mem=0 for a "
			  "node without), or to none",
			  parse->sized, memory->node_count);
		return -EINVAL;
	}
	if (parse->rated && !parse->arch->has_acpi) {
		log_error(parse->log,
			  "--numa: guests of %s cannot be told how fast memory is: leave latency "
			  "and bandwidth out, or use x86_64",
			  parse->arch->name);
		return -EINVAL;
	}
	for (unsigned int i = 0; i + 1 < memory->node_count; i++)
		if (is_empty(&memory->nodes[i]) && parse->sized) {
			log_error(parse->log,
				  "--numa: node %u has neither CPUs nor memory: only the last one "
				  "can be empty",
				  i);
			return -EINVAL;
		}
	memory->sized = parse->sized > 0;
	memory->has_speeds = parse->rated > 0;
	choose_initiators(memory);
	return 0;
}

/* "--numa 2": the first nodes get one CPU more when they cannot be split evenly. */
static int split_evenly(struct parse *parse, const char *text)
{
	struct lab_memory *memory = parse->memory;
	unsigned long count = strtoul(text, NULL, 10);
	unsigned int i, first = 0, share;

	if (!count || count > LAB_NODES_MAX || count > parse->cpus) {
		log_error(parse->log,
			  "--numa %s: give 1 to %u nodes, and no more than the guest has CPUs (%u)",
			  text, LAB_NODES_MAX, parse->cpus);
		return -EINVAL;
	}
	for (i = 0; i < count; i++, first += share) {
		share = parse->cpus / count + (i < parse->cpus % count);
		memory->nodes[i].cpus = hwloc_bitmap_alloc();
		memory->node_count = i + 1;
		if (!memory->nodes[i].cpus)
			return -ENOMEM;
		hwloc_bitmap_set_range(memory->nodes[i].cpus, first, (int)(first + share) - 1);
	}
	choose_initiators(memory);
	return 0;
}

static int parse_numa(struct parse *parse, const char *numa)
{
	char *copy, *text, *rest;
	int rc = 0;

	if (*numa && strspn(numa, "0123456789") == strlen(numa))
		return split_evenly(parse, numa);
	copy = rest = strdup(numa);
	parse->taken = hwloc_bitmap_alloc();
	if (!copy || !parse->taken)
		rc = -ENOMEM;
	while (!rc && (text = strsep(&rest, ";")))
		rc = take_node(parse, text);
	if (!rc)
		rc = check_nodes(parse);
	hwloc_bitmap_free(parse->taken);
	free(copy);
	return rc;
}

static int parse_cxl(const char *cxl, const struct lab_arch *arch, struct log *log,
		     struct lab_memory *memory)
{
	struct option_values *values;
	char *copy;
	int rc;

	if (!arch->has_acpi) {
		log_error(log,
			  "--cxl: guests of %s cannot have CXL memory: the machine that the "
			  "emulator makes for them (%s) has no host bridge for it; use x86_64",
			  arch->name, arch->machine_type);
		return -EINVAL;
	}
	values = options_new(cxl_rows);
	copy = strdup(cxl);
	rc = values && copy ? take_pairs("--cxl", copy, "size", log, values) : -ENOMEM;
	if (!rc) {
		memory->cxl_bytes = option_uint(values, "size");
		memory->cxl_ways = (unsigned int)option_uint(values, "ways");
		if (memory->cxl_bytes % (CXL_STEP * memory->cxl_ways)) {
			log_error(log,
				  "--cxl: each device is a multiple of 256M: give the region a "
				  "multiple of %lluM",
				  CXL_STEP * memory->cxl_ways >> 20);
			rc = -EINVAL;
		}
	}
	free(copy);
	options_free(values);
	return rc;
}

int lab_memory_parse(const char *numa, const char *cxl, const struct lab_arch *arch,
		     unsigned int cpus, struct log *log, struct lab_memory *memory)
{
	struct lab_memory parsed = { 0 };
	struct parse parse = {
		.log = log, .memory = &parsed, .arch = arch, .cpus = cpus, .rest = -1
	};
	int rc = 0;

	/* without tables for nodes, the kernel would put CXL memory into its only one */
	if (numa || cxl)
		rc = parse_numa(&parse, numa ? numa : "1");

	if (!rc && cxl)
		rc = parse_cxl(cxl, arch, log, &parsed);
	if (rc)
		lab_memory_release(&parsed);
	else
		*memory = parsed;
	return rc;
}

static int settle_sized(struct lab_memory *memory, uint64_t given, struct log *log)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < memory->node_count; i++)
		total += memory->nodes[i].memory_bytes;
	if (given && given != total) {
		log_error(log,
			  "--numa gives the nodes %llu MiB and --memory says %llu: leave --memory "
			  "out",
			  (unsigned long long)total >> 20, (unsigned long long)given >> 20);
		return -EINVAL;
	}
	if (total < GUEST_MINIMUM) {
		log_error(log, "--numa: the nodes have %llu MiB together, a guest needs %llu",
			  (unsigned long long)total >> 20, GUEST_MINIMUM >> 20);
		return -EINVAL;
	}
	memory->ram_bytes = total;
	return 0;
}

int lab_memory_settle(struct lab_memory *memory, uint64_t given, uint64_t otherwise,
		      struct log *log)
{
	uint64_t total = given ? given : otherwise, share;

	if (memory->sized)
		return settle_sized(memory, given, log);
	memory->ram_bytes = total;
	if (!memory->node_count)
		return 0;
	share = total / memory->node_count / NODE_STEP * NODE_STEP;
	if (share < NODE_MINIMUM) {
		log_error(log,
			  "--numa: %llu MiB are too little for %u nodes: give more with --memory",
			  (unsigned long long)total >> 20, memory->node_count);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < memory->node_count; i++)
		memory->nodes[i].memory_bytes = share;
	memory->ram_bytes = share * memory->node_count;
	return 0;
}

void lab_memory_release(struct lab_memory *memory)
{
	for (unsigned int i = 0; i < memory->node_count; i++)
		hwloc_bitmap_free(memory->nodes[i].cpus);
	*memory = (struct lab_memory){ 0 };
}

static void write_node(FILE *to, const struct lab_memory *memory, unsigned int number)
{
	const struct lab_node *node = &memory->nodes[number];
	char *cpus = cpus_format(node->cpus);

	fputs(number ? ";" : "", to);
	if (cpus && !hwloc_bitmap_iszero(node->cpus)) {
		replace(cpus, ',', '/');
		fprintf(to, "cpus=%s,", cpus);
	}
	free(cpus);
	fprintf(to, "mem=%lluM", (unsigned long long)node->memory_bytes >> 20);
	if (memory->has_speeds)
		fprintf(to, ",latency=%llu,bandwidth=%llu", (unsigned long long)node->latency_ns,
			(unsigned long long)node->bandwidth_mbs);
	for (unsigned int i = 0; memory->has_distances && i < memory->node_count; i++)
		fprintf(to, "%s%u", i ? "/" : ",distances=", node->distances[i]);
}

char *lab_memory_text(const struct lab_memory *memory, int *err)
{
	char *text = NULL;
	size_t length;
	FILE *to;

	*err = 0;
	if (!memory->node_count && !memory->cxl_bytes)
		return NULL;
	to = open_memstream(&text, &length);
	if (!to) {
		*err = -ENOMEM;
		return NULL;
	}
	fputs(memory->node_count ? "--numa " : "", to);
	for (unsigned int i = 0; i < memory->node_count; i++)
		write_node(to, memory, i);
	if (memory->cxl_bytes)
		fprintf(to, "%s--cxl %lluM,ways=%u", memory->node_count ? " " : "",
			(unsigned long long)memory->cxl_bytes >> 20, memory->cxl_ways);
	if (fclose(to)) {
		free(text);
		text = NULL;
		*err = -ENOMEM;
	}
	return text;
}

bool lab_memory_has_gap(const struct lab_memory *memory)
{
	return memory->node_count && is_empty(&memory->nodes[memory->node_count - 1]);
}

/* Peak need of one point on CPUs 0 .. cpu_count - 1. */
static uint64_t point_bytes(const struct plan_point *point, const unsigned int *cpus,
			    unsigned int cpu_count)
{
	struct point sized = { .stressor = point->stressor,
			       .parameters = point->parameters,
			       .cpus = cpus,
			       .cpu_count = cpu_count,
			       .page_bytes = GUEST_PAGE_BYTES };

	return point->stressor->memory_bytes ? point->stressor->memory_bytes(&sized) : 0;
}

uint64_t lab_memory_for(const struct plan *plan, unsigned int cpu_count,
			const struct lab_memory *memory)
{
	unsigned int nodes = memory->node_count ? memory->node_count : 1;
	uint64_t most = 0, sum = 0, need, total;
	unsigned int *cpus = calloc(cpu_count, sizeof(*cpus));

	for (unsigned int i = 0; cpus && i < cpu_count; i++)
		cpus[i] = i;
	for (unsigned int i = 0; cpus && i < plan->point_count; i++) {
		need = point_bytes(&plan->points[i], cpus, cpu_count);
		most = need > most ? need : most;
		sum += need;
	}
	free(cpus);
	need = plan->interleave ? sum : most;
	/* a reclaim needs free pages to work with; the kernel keeps 1/64 of all in page structures
	 */
	total = guest_base_memory_bytes(cpu_count) + (need + need / 8) * nodes;
	return (total + (64ULL << 20) - 1) >> 26 << 26;
}
