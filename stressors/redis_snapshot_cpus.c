// SPDX-License-Identifier: GPL-2.0-only
/* CPUs for servers and for load generators. */
#include "redis_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/nodes.h"

/* The node's CPUs that the point may use, a fresh set; NULL: none. */
static hwloc_bitmap_t node_cpus(const struct node *node, hwloc_const_bitmap_t all)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	if (cpus && !hwloc_bitmap_and(cpus, node->cpus, all) && !hwloc_bitmap_iszero(cpus))
		return cpus;
	hwloc_bitmap_free(cpus);
	return NULL;
}

/* The node that an option names, or the first with CPUs that is not `other`; NULL: none. */
static const struct node *choose(const struct nodes *nodes, const char *given,
				 hwloc_const_bitmap_t all, const struct node *other)
{
	if (strcmp(given, "auto"))
		return nodes_find(nodes, strtoul(given, NULL, 10));
	for (unsigned int i = 0; i < nodes->count; i++) {
		const struct node *node = &nodes->list[i];

		if (node != other && hwloc_bitmap_intersects(node->cpus, all))
			return node;
	}
	return other;
}

/* The first half stays, the second goes to `second`. */
static void halve(hwloc_bitmap_t first, hwloc_bitmap_t second)
{
	int count = hwloc_bitmap_weight(first), seen = 0, cpu;

	for (cpu = hwloc_bitmap_first(first); cpu >= 0; cpu = hwloc_bitmap_next(first, cpu))
		if (seen++ >= count / 2) {
			hwloc_bitmap_set(second, cpu);
			hwloc_bitmap_clr(first, cpu);
		}
}

/* -EUSERS: there is one CPU, which is not to be shared. */
static int split(hwloc_bitmap_t *loads, hwloc_bitmap_t *servers, bool shared)
{
	if (!*loads)
		return -ENOMEM;
	if (hwloc_bitmap_weight(*loads) < 2) {
		if (!shared)
			return -EUSERS;
		*servers = hwloc_bitmap_dup(*loads);
		return *servers ? 0 : -ENOMEM;
	}
	*servers = hwloc_bitmap_alloc();
	if (!*servers)
		return -ENOMEM;
	halve(*loads, *servers);
	return 0;
}

static bool named(const struct point *point, const char *option)
{
	return strcmp(option_string(point->parameters, option), "auto");
}

static int by_nodes(const struct nodes *nodes, const struct point *point, hwloc_const_bitmap_t all,
		    hwloc_bitmap_t *servers, hwloc_bitmap_t *loads)
{
	const char *server_given = option_string(point->parameters, "server-node");
	const char *load_given = option_string(point->parameters, "load-node");
	const struct node *server = NULL, *load;

	if (named(point, "server-node"))
		server = choose(nodes, server_given, all, NULL);
	load = choose(nodes, load_given, all, server);
	server = choose(nodes, server_given, all, load);
	*loads = load ? node_cpus(load, all) : NULL;
	if (!*loads || !server)
		return -ENODEV;
	if (server == load)
		return split(loads, servers,
			     named(point, "server-node") && named(point, "load-node"));
	*servers = node_cpus(server, all);
	return *servers ? 0 : -ENODEV;
}

int redis_cpus(const char *root, const struct point *point, hwloc_bitmap_t *servers,
	       hwloc_bitmap_t *loads, char *reason, size_t size)
{
	hwloc_bitmap_t all = helper_cpus(point->cpus, point->cpu_count);
	hwloc_bitmap_t server_cpus = NULL, load_cpus = NULL;
	struct nodes *nodes = NULL;
	int rc = all ? nodes_read(root, &nodes) : -ENOMEM;

	if (!rc) {
		rc = by_nodes(nodes, point, all, &server_cpus, &load_cpus);
		nodes_free(nodes);
	} else if (rc == -ENOENT && !named(point, "server-node") && !named(point, "load-node")) {
		load_cpus = hwloc_bitmap_dup(all);
		rc = split(&load_cpus, &server_cpus, false);
	}
	hwloc_bitmap_free(all);
	if (!rc) {
		*servers = server_cpus;
		*loads = load_cpus;
		return 0;
	}
	hwloc_bitmap_free(server_cpus);
	hwloc_bitmap_free(load_cpus);
	if (rc == -EUSERS)
		snprintf(reason, size,
			 "needs two CPUs at least: servers and load generators are kept apart; "
			 "give more with --cpus, or both server-node and load-node to share one");
	else if (rc == -ENODEV || rc == -ENOENT)
		snprintf(reason, size,
			 "server-node or load-node names a node without CPUs that may be used; "
			 "\"shootdown check\" shows the nodes");
	else
		snprintf(reason, size, "cannot tell which CPUs are whose: %s", strerror(-rc));
	return 1;
}
