/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run's record: the folder machine.json, plan.json, samples.jsonl, written as
 * the run goes (append-only, each line complete before the next), with checksums
 * at its end; or the same records as lines on a stream, which is how they leave a
 * guest.
 *
 * samples.jsonl: the first line is {"schema":"shootdown-samples","version":1}.
 * Then, in the order they came to be:
 *   {"point":P,"repetition":R,"metric":NAME,"unit":UNIT,"value":V,"status":S[,"by_cpu":{"CPU":V}][,"reason":TEXT]}
 *   {"point":P,"repetition":R,"outcome":O[,"reason":TEXT],"started_ns":REALTIME,"seconds":T}
 * and last, only when the run came to its own end:
 *   {"end":O,"restored":BOOL[,"reason":TEXT]}
 * value is absent unless status is ok or multiplexed. Points count from 0,
 * repetitions from 1. A repetition that was skipped has an outcome line and no samples; a point
 * that is skipped before it was ever measured has no more.
 *
 * machine.json: {"schema":"shootdown-machine","version":1,"host":NAME,"arch":"x86_64",
 *   "page_size":4096,"kernel":{"release":..,"version":..},"cpus":{"online":N,"used":N},"cpu_model":..,"nodes":N,
 *   "memory_bytes":N,"guest":null|{"host":NAME,"emulator":..,"accel":"tcg"|"icount"|"kvm",
 *   "emulated_time":BOOL},
 *   "arm":null|NAME,"boot":null|K,"cmdline":...}
 * plan.json: {"schema":"shootdown-plan","version":1,"seed":S,"repetitions":R,"duration_s":D|0,
 *   "sources":[..],"counters":[..],"events":[..],"points":[{"stressor":..,"stressor_version":V,
 *   "parameters":{..},"units":{PARAMETER:"ns"|"bytes"},
 *   "metrics":{NAME:{"unit":..,"better":"less"|"more"|"same"|"fixed","predicted":V|null}}}],
 *   "order":[[POINT,REPETITION],..]}
 *   counters are the sources that were asked for besides those of every run; records of before
 *   have neither counters nor units.
 */
#ifndef SHOOTDOWN_RECORD_H
#define SHOOTDOWN_RECORD_H

#include <jansson.h>
#include <stddef.h>

#include "../lib/log.h"

#define RECORD_VERSION 1

struct record;

/* Makes the folder (its parents too); -EEXIST when it is there and not empty. */
int record_create(const char *folder, struct log *log, struct record **record);

/* Sends each record as one line {"record":"machine"|"plan"|"sample","data":{..}} to fd (borrowed).
 */
int record_stream(int fd, struct record **record);

/* These borrow the object. Each is on disk (or in the stream) when it returns; a
 * full disk is -ENOSPC, what was written before stays valid. */
int record_machine(struct record *record, const json_t *machine);
int record_plan(struct record *record, const json_t *plan);
int record_sample(struct record *record, const json_t *line);

/* Takes one line that record_stream() sent, without its newline. -EBADMSG when it is none. */
int record_receive(struct record *record, const char *line, size_t length);

/*
 * Closes and frees; NULL is fine. Does not write the end line: that is a sample
 * line. A folder that has one gets its checksums (results/checksums.h).
 */
void record_close(struct record *record);

#endif
