/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest's memory as --numa, --cxl and --memory describe it: NUMA nodes with CPUs
 * and memory, distances, speeds (HMAT, from which the kernel makes memory tiers),
 * and CXL memory. Pure; guest.c turns it into the emulator's arguments, agent.c
 * makes the CXL region.
 *
 * --numa N       N nodes, CPUs and memory split evenly
 * --numa SPEC    nodes with ";" between, numbered from 0 as they come; a node is
 *                KEY=VALUE with "," between (the rows are in memory.c):
 *   cpus=0-3/6     its CPUs, "/" between ranges; "all": those that no other node names;
 *                  left out: a memory-only node
 *   mem=SIZE       its memory, 0: none; all nodes say it, or none does and what --memory
 *                  gives is split evenly among them
 *   latency=NS     to its nearest CPU, and
 *   bandwidth=MBS  from there, in MB/s
 *   distances=10/21/30   to every node; all nodes say it, or none
 * The last node may have neither CPUs nor memory (mem=0): it is never online, and the
 * numbers of the guest's nodes have a gap when --cxl adds another one.
 *
 * --cxl SIZE[,ways=N]   a region of SIZE on N emulated devices, interleaved; it is the
 *                node after those of --numa (1 node without)
 */
#ifndef SHOOTDOWN_MEMORY_H
#define SHOOTDOWN_MEMORY_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../lib/log.h"
#include "arch.h"

#define LAB_NODES_MAX 16

struct plan;

struct lab_node {
	hwloc_bitmap_t cpus;   /* may be empty */
	uint64_t memory_bytes; /* may be 0 */
	uint64_t latency_ns, bandwidth_mbs;
	unsigned int distances[LAB_NODES_MAX];
	unsigned int initiator; /* the nearest node that has CPUs, itself if it has */
};

struct lab_memory {
	uint64_t ram_bytes; /* all nodes; CXL memory comes on top */
	struct lab_node nodes[LAB_NODES_MAX];
	unsigned int node_count; /* 0: a machine without NUMA tables */
	bool sized;		 /* the nodes' sizes came with --numa */
	bool has_speeds, has_distances;
	uint64_t cxl_bytes; /* of the region; 0: none */
	unsigned int cxl_ways;
};

/*
 * numa and cxl may be NULL. Sizes that the nodes do not have themselves are
 * lab_memory_settle()'s. -EINVAL, said with what to do.
 */
int lab_memory_parse(const char *numa, const char *cxl, const struct lab_arch *arch,
		     unsigned int cpus, struct log *log, struct lab_memory *memory);

/*
 * Decides ram_bytes and each node's share: given is --memory (0: it was not given),
 * otherwise is for a guest about whose memory nothing was said. -EINVAL, said, when
 * --memory and --numa contradict each other.
 */
int lab_memory_settle(struct lab_memory *memory, uint64_t given, uint64_t otherwise,
		      struct log *log);
void lab_memory_release(struct lab_memory *memory);

/*
 * The layout in the words of the options, every choice spelled out, for the record:
 * two guests with the same text have the same nodes. Caller frees. NULL: neither nodes
 * nor CXL memory were asked for (or no memory, which *err tells).
 */
char *lab_memory_text(const struct lab_memory *memory, int *err);

/* Is the last node one that is never online? */
bool lab_memory_has_gap(const struct lab_memory *memory);

/*
 * What a guest needs for the plan, on top of its own: the most that any point does or,
 * of points that run at once, what all do together. On each node, since every point may
 * have all of its pages on one, and those of a mix on the same.
 */
uint64_t lab_memory_for(const struct plan *plan, unsigned int cpus,
			const struct lab_memory *memory);

/* clang-format off */
#define LAB_MEMORY_OPTIONS                                                                        \
	{ .name = "numa",                                                                         \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "SPEC",                                                                      \
	  .help = "NUMA nodes: a number of equal ones, or nodes with \";\" between, each "        \
		  "cpus=LIST,mem=SIZE,latency=NS,bandwidth=MBS,distances=D/D as needed; "        \
		  "cpus=all takes the rest, and a node without cpus has memory only" },           \
	{ .name = "cxl",                                                                          \
	  .type = OPTION_STRING,                                                                  \
	  .metavar = "SIZE[,ways=N]",                                                             \
	  .help = "CXL memory, online as a node of its own before anything runs; with ways=2 "    \
		  "two devices interleaved" }
/* clang-format on */

#endif
