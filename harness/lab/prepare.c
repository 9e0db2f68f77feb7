// SPDX-License-Identifier: GPL-2.0-only
/* From a request to kernels. */
#include "prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/data.h"
#include "../../lib/fs.h"
#include "cache.h"

static int add_arms(struct lab_prepared *prepared, struct log *log)
{
	const char *const *arms = prepared->setup->arms;
	struct lab_series *series = &prepared->series;
	int rc = 0;

	if (!series->folder && !prepared->setup->twice && arms && arms[0] && !arms[1] &&
	    strncmp(arms[0], "baseline=", 9))
		rc = series_add_arm(series, "baseline=", log);
	for (; !rc && arms && *arms; arms++)
		rc = series_add_arm(series, *arms, log);
	if (!rc && !series->arm_count) {
		log_error(log, "there are no arms: give a series, or --arm NAME=PATCHFILES");
		rc = -EINVAL;
	}
	if (!rc && prepared->setup->twice)
		rc = series_repeat_first(series, log);
	return rc;
}

static int add_instruments(struct lab_prepared *prepared, struct log *log)
{
	struct lab_series *series = &prepared->series;
	int rc = instruments_open(prepared->setup->instruments, series, log,
				  &prepared->instruments);

	for (unsigned int i = 0; !rc && i < series->arm_count; i++)
		if (!series->arms[i].image)
			rc = instruments_add(&prepared->instruments, &series->arms[i]);
	return rc;
}

int prepare_arms(const struct lab_setup *setup, struct log *log, struct lab_prepared *prepared)
{
	struct lab_prepared made = { .setup = setup };
	int rc = series_open(setup->series_name, setup->arch, log, &made.series);

	if (!rc)
		rc = add_arms(&made, log);
	if (!rc)
		rc = add_instruments(&made, log);
	if (!rc)
		rc = cache_open(setup->cache, log, &made.cache);
	if (!rc && !(made.kernels = calloc(made.series.arm_count, sizeof(*made.kernels))))
		rc = -ENOMEM;
	if (rc)
		prepare_release(&made);
	else
		*prepared = made;
	return rc;
}

int prepare_source(struct lab_prepared *prepared, bool fresh, struct log *log)
{
	if (prepared->source.identity)
		return 0;
	return source_open(prepared->setup->source, &prepared->series, prepared->cache, fresh, log,
			   &prepared->source);
}

/* Calls act for the arm's request: its source is the setup's, or a commit of it. */
static int with_request(struct lab_prepared *prepared, unsigned int index,
			int (*act)(const struct build_request *request, struct log *log,
				   void *result),
			void *result, struct log *log)
{
	const struct lab_arm *arm = &prepared->series.arms[index];
	struct build_request request = { .source = &prepared->source,
					 .arch = prepared->series.arch,
					 .arm = arm,
					 .configs = prepared->setup->configs,
					 .cache = prepared->cache,
					 .jobs = prepared->setup->jobs };
	struct lab_source commit = { 0 };
	int rc = prepare_source(prepared, false, log);

	if (!rc && arm->git_ref) {
		rc = source_open_commit(&prepared->source, arm->git_ref, log, &commit);
		request.source = &commit;
	}
	if (!rc)
		rc = act(&request, log, result);
	source_release(&commit);
	return rc;
}

/* A commit that exists is enough of an answer: to look into it would change the work tree. */
static int check(const struct build_request *request, struct log *log, void *result)
{
	(void)result;
	return request->arm->git_ref ? 0 : build_check(request, log, NULL);
}

int prepare_check(struct lab_prepared *prepared, unsigned int index, struct log *log)
{
	if (prepared->series.arms[index].image)
		return prepare_kernel(prepared, index, log);
	return with_request(prepared, index, check, NULL, log);
}

/* Why the instruments do not go with one arm. */
struct misfit {
	const struct lab_instruments *instruments;
	char *why; /* NULL: they do */
};

/* With them, and nothing said: what the arm's own patches have to say was said before. */
static int try_quietly(const struct build_request *request)
{
	FILE *nowhere = fopen("/dev/null", "we");
	struct log quiet;
	int rc;

	if (!nowhere)
		return -errno;
	log_open(&quiet, nowhere, LOG_LEVEL_ERROR);
	rc = build_check(request, &quiet, NULL);
	fclose(nowhere);
	return rc;
}

static int find_misfit(const struct build_request *request, struct log *log, void *result)
{
	struct misfit *misfit = result;
	struct lab_arm plain = instruments_without(request->arm);
	struct build_request without = *request;
	struct kernel_version version = { 0 };
	const char *which;
	int rc = build_cached(request, log);

	if (rc)
		return rc < 0 ? rc : 0;
	without.arm = &plain;
	rc = build_check(&without, log, &version);
	if (rc)
		return rc;
	if (version.major && !instruments_cover(misfit->instruments, version, &which)) {
		misfit->why = format_string("%s is not made for Linux %u.%u", which, version.major,
					    version.minor);
		return misfit->why ? 0 : -ENOMEM;
	}
	rc = try_quietly(request);
	if (rc != -EINVAL)
		return rc;
	misfit->why = format_string(
		"the source does not take it%s%s",
		plain.patch_count ? " together with the patches of arm " : " in arm ", plain.name);
	return misfit->why ? 0 : -ENOMEM;
}

/* Takes over why. */
static int go_without(struct lab_prepared *prepared, char *why, struct log *log)
{
	struct lab_series *series = &prepared->series;
	int rc = 0;

	if (prepared->instruments.given) {
		log_error(log,
			  "the instrument %s cannot be used: %s; --instrument none leaves it out",
			  prepared->instruments.names, why);
		rc = -EINVAL;
	} else {
		log_info(log, "all arms go without the instrument %s: %s",
			 prepared->instruments.names, why);
		for (unsigned int i = 0; i < series->arm_count; i++)
			instruments_remove(&series->arms[i]);
		instruments_release(&prepared->instruments);
	}
	free(why);
	return rc;
}

int prepare_instruments(struct lab_prepared *prepared, struct log *log)
{
	const struct lab_series *series = &prepared->series;
	struct misfit misfit = { .instruments = &prepared->instruments };
	int rc = 0;

	if (!prepared->instruments.count)
		return 0;
	for (unsigned int i = 0; !misfit.why && i < series->arm_count; i++)
		if (series->arms[i].image) {
			misfit.why = format_string("arm %s is an image that is there already",
						   series->arms[i].name);
			rc = misfit.why ? 0 : -ENOMEM;
		}
	for (unsigned int i = 0; !rc && !misfit.why && i < series->arm_count; i++)
		rc = with_request(prepared, i, find_misfit, &misfit, log);
	return !rc && misfit.why ? go_without(prepared, misfit.why, log) : rc;
}

static int add_options(struct content_key *key, const char *path, struct log *log)
{
	int rc = content_key_file(key, "options", path);

	if (rc)
		log_error(log, "cannot read the kernel options in %s: %s", path, strerror(-rc));
	return rc;
}

int prepare_options_key(const struct lab_prepared *prepared, struct log *log,
			char hex[CONTENT_KEY_SIZE])
{
	const char *const *config = prepared->setup->configs;
	char *relative = format_string("config/%s.config", prepared->series.arch->folder);
	char *own = relative ? data_path(DATA_PATCHES, relative) : NULL;
	struct content_key key;
	int rc;

	content_key_start(&key);
	rc = own ? add_options(&key, own, log) : -ENOMEM;
	for (; !rc && config && *config; config++)
		rc = add_options(&key, *config, log);
	content_key_end(&key, hex);
	free(own);
	free(relative);
	return rc;
}

static int build(const struct build_request *request, struct log *log, void *result)
{
	return build_kernel(request, log, result);
}

int prepare_kernel(struct lab_prepared *prepared, unsigned int index, struct log *log)
{
	const char *image = prepared->series.arms[index].image;

	if (prepared->kernels[index].image)
		return 0;
	if (image)
		return kernel_from_image(image, prepared->series.arch, log,
					 &prepared->kernels[index]);
	return with_request(prepared, index, build, &prepared->kernels[index], log);
}

void prepare_release(struct lab_prepared *prepared)
{
	for (unsigned int i = 0; prepared->kernels && i < prepared->series.arm_count; i++)
		kernel_release(&prepared->kernels[i]);
	free(prepared->kernels);
	instruments_release(&prepared->instruments);
	series_release(&prepared->series);
	source_release(&prepared->source);
	free(prepared->cache);
	*prepared = (struct lab_prepared){ 0 };
}
