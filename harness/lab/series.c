// SPDX-License-Identifier: GPL-2.0-only
/* Reads series folders and arms given by hand. */
#include "series.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/data.h"
#include "../../lib/fs.h"
#include "../../lib/options.h"

#define NAMES_MAX 64

bool kernel_version_parse(const char *text, struct kernel_version *version)
{
	unsigned int major, minor;

	if (!isdigit((unsigned char)*text) || sscanf(text, "%u.%u", &major, &minor) != 2)
		return false;
	*version = (struct kernel_version){ major, minor };
	return true;
}

int kernel_version_compare(struct kernel_version a, struct kernel_version b)
{
	if (a.major != b.major)
		return a.major < b.major ? -1 : 1;
	return a.minor == b.minor ? 0 : a.minor < b.minor ? -1 : 1;
}

static void release_arm(struct lab_arm *arm)
{
	for (unsigned int i = 0; i < arm->patch_count; i++)
		free(arm->patches[i].path);
	free(arm->patches);
	free(arm->name);
	free(arm->arguments);
	free(arm->git_ref);
	free(arm->image);
}

void series_release(struct lab_series *series)
{
	for (unsigned int i = 0; i < series->arm_count; i++)
		release_arm(&series->arms[i]);
	free(series->arms);
	free(series->name);
	free(series->folder);
	free(series->cover);
	memset(series, 0, sizeof(*series));
}

const struct lab_arm *series_arm(const struct lab_series *series, const char *name)
{
	for (unsigned int i = 0; i < series->arm_count; i++)
		if (!strcmp(series->arms[i].name, name))
			return &series->arms[i];
	return NULL;
}

/* Takes over arm when it returns 0. */
static int take_arm(struct lab_series *series, struct lab_arm *arm, struct log *log)
{
	struct lab_arm *larger;

	if (!*arm->name ||
	    strspn(arm->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "0123456789_.+-") != strlen(arm->name) ||
	    *arm->name == '.' || *arm->name == '-') {
		log_error(log, "\"%s\" is no name for an arm: use letters, digits and _ . + -",
			  arm->name);
		return -EINVAL;
	}
	if (series_arm(series, arm->name)) {
		log_error(log, "there are two arms \"%s\": give each a name of its own", arm->name);
		return -EINVAL;
	}
	larger = realloc(series->arms, (series->arm_count + 1) * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	series->arms = larger;
	series->arms[series->arm_count++] = *arm;
	return 0;
}

/* Takes over path. */
static int add_patch(struct lab_arm *arm, char *path, bool reverse, struct log *log)
{
	struct lab_patch *larger;

	if (!path)
		return -ENOMEM;
	if (access(path, R_OK)) {
		log_error(log, "arm %s: cannot read the patch %s: %s", arm->name, path,
			  strerror(errno));
		free(path);
		return -EINVAL;
	}
	larger = realloc(arm->patches, (arm->patch_count + 1) * sizeof(*larger));
	if (!larger) {
		free(path);
		return -ENOMEM;
	}
	arm->patches = larger;
	arm->patches[arm->patch_count++] = (struct lab_patch){ path, reverse };
	return 0;
}

/* "[args: a b]" at *text; moves over it. */
static int take_arguments(struct lab_arm *arm, const char **text, const char *where,
			  struct log *log)
{
	static const char opening[] = "[args:";
	const char *start, *end;

	if (**text != '[')
		return 0;
	end = strchr(*text, ']');
	if (strncmp(*text, opening, sizeof(opening) - 1) || !end) {
		log_error(log, "%s: arm %s: \"[\" starts \"[args: KERNEL ARGUMENTS]\"", where,
			  arm->name);
		return -EINVAL;
	}
	start = *text + sizeof(opening) - 1;
	start += strspn(start, " \t");
	arm->arguments = strndup(start, end - start);
	*text = end + 1;
	return arm->arguments ? 0 : -ENOMEM;
}

static int parse_arm_line(struct lab_series *series, const char *line, const char *where,
			  struct log *log)
{
	const char *colon = strchr(line, ':'), *at;
	struct lab_arm arm = { 0 };
	bool reverse = false;
	int rc;

	if (!colon) {
		log_error(log, "%s: \"%s\" is not \"NAME: PATCH...\"", where, line);
		return -EINVAL;
	}
	arm.name = strndup(line, colon - line);
	if (!arm.name)
		return -ENOMEM;
	at = colon + 1 + strspn(colon + 1, " \t");
	rc = take_arguments(&arm, &at, where, log);
	while (!rc && *(at += strspn(at, " \t"))) {
		int length = strcspn(at, " \t");

		if (length == 2 && !strncmp(at, "-R", 2)) {
			reverse = true;
		} else {
			rc = add_patch(&arm, format_string("%s/%.*s", series->folder, length, at),
				       reverse, log);
			reverse = false;
		}
		at += length;
	}
	if (!rc && reverse) {
		log_error(log, "%s: arm %s: -R needs the patch to undo behind it", where, arm.name);
		rc = -EINVAL;
	}
	if (!rc)
		rc = take_arm(series, &arm, log);
	if (rc)
		release_arm(&arm);
	return rc;
}

static bool copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

static int copy_arm(const struct lab_arm *from, struct lab_arm *to)
{
	bool copied = copy_text(from->arguments, &to->arguments) &&
		      copy_text(from->git_ref, &to->git_ref) && copy_text(from->image, &to->image);

	to->name = format_string("%s-again", from->name);
	to->patches = calloc(from->patch_count + 1, sizeof(*to->patches));
	if (!copied || !to->name || !to->patches)
		return -ENOMEM;
	for (; to->patch_count < from->patch_count; to->patch_count++) {
		const struct lab_patch *patch = &from->patches[to->patch_count];

		to->patches[to->patch_count].reverse = patch->reverse;
		if (!copy_text(patch->path, &to->patches[to->patch_count].path))
			return -ENOMEM;
	}
	return 0;
}

int series_repeat_first(struct lab_series *series, struct log *log)
{
	struct lab_arm again = { 0 };
	int rc = copy_arm(&series->arms[0], &again);

	while (!rc && series->arm_count > 1)
		release_arm(&series->arms[--series->arm_count]);
	if (!rc)
		rc = take_arm(series, &again, log);
	if (rc)
		release_arm(&again);
	return rc;
}

/* Calls parse for each line that is not empty after its comment was cut. */
static int each_line(struct lab_series *series, const char *name,
		     int (*parse)(struct lab_series *series, const char *line, const char *where,
				  struct log *log),
		     struct log *log)
{
	char *path = format_string("%s/%s", series->folder, name);
	char *text = NULL, *rest, *line;
	int rc = path ? fs_read("", path, &text, NULL) : -ENOMEM;

	if (rc && path)
		log_error(log, "series %s: cannot read %s: %s", series->name, path, strerror(-rc));
	rest = text;
	while (!rc && (line = strsep(&rest, "\n"))) {
		size_t length = strcspn(line, "#");

		while (length && isspace((unsigned char)line[length - 1]))
			length--;
		line[length] = '\0';
		line += strspn(line, " \t");
		if (*line)
			rc = parse(series, line, path, log);
	}
	free(text);
	free(path);
	return rc == -ENOENT ? -EINVAL : rc;
}

static int parse_base_line(struct lab_series *series, const char *line, const char *where,
			   struct log *log)
{
	const char *dots = strstr(line, "..");

	if (!dots || !kernel_version_parse(line, &series->first) ||
	    !kernel_version_parse(dots + 2, &series->last) ||
	    kernel_version_compare(series->first, series->last) > 0) {
		log_error(log, "%s: \"%s\" is no range of kernel versions such as 7.2..7.3", where,
			  line);
		return -EINVAL;
	}
	series->has_base = true;
	return 0;
}

static int read_series(struct lab_series *series, struct log *log)
{
	char *cover = format_string("%s/cover", series->folder);
	int rc = cover ? each_line(series, "base", parse_base_line, log) : -ENOMEM;

	if (!rc)
		rc = each_line(series, "arms", parse_arm_line, log);
	if (!rc && (!series->has_base || !series->arm_count)) {
		log_error(log, "series %s: %s in %s is empty", series->name,
			  series->has_base ? "arms" : "base", series->folder);
		rc = -EINVAL;
	}
	if (!rc)
		fs_read("", cover, &series->cover, NULL);
	free(cover);
	return rc;
}

static bool is_series(const char *folder)
{
	char *arms = format_string("%s/arms", folder);
	bool found = arms && !access(arms, R_OK);

	free(arms);
	return found;
}

/* The names of the bundled series of all architectures; the caller frees each. */
static unsigned int bundled(char *names[NAMES_MAX + 1])
{
	unsigned int count = 0;
	const struct lab_arch *arch;

	for (unsigned int i = 0; (arch = lab_arch_at(i)); i++) {
		char *folder = data_path(DATA_PATCHES, arch->folder);
		DIR *entries = folder ? opendir(folder) : NULL;
		struct dirent *entry;

		while (entries && count < NAMES_MAX && (entry = readdir(entries))) {
			char *path = format_string("%s/%s", folder, entry->d_name);

			if (path && entry->d_name[0] != '.' && is_series(path))
				names[count] = strdup(entry->d_name);
			if (names[count])
				count++;
			free(path);
		}
		if (entries)
			closedir(entries);
		free(folder);
	}
	return count;
}

static void say_unknown(const char *name, struct log *log)
{
	char *names[NAMES_MAX + 1] = { NULL };
	unsigned int count = bundled(names);
	const char *nearest = nearest_name(name, (const char *const *)names);
	char *list = strdup("");

	for (unsigned int i = 0; list && i < count; i++) {
		char *longer = format_string("%s%s%s", list, i ? ", " : "", names[i]);

		free(list);
		list = longer;
	}
	log_error(log,
		  "there is no series \"%s\"%s%s%s. Bundled: %s. A folder of your own is given "
		  "by its path, and \"-\" stands for none (give --arm then)",
		  name, nearest ? " (did you mean \"" : "", nearest ? nearest : "",
		  nearest ? "\"?)" : "",
		  list && *list ? list : "none (is SHOOTDOWN_PATCHES right?)");
	free(list);
	for (unsigned int i = 0; i < count; i++)
		free(names[i]);
}

/* Looks below arch's folder, or with arch NULL below this machine's first and then the others'. */
static int find_bundled(struct lab_series *series, const char *name, const struct lab_arch *arch)
{
	const struct lab_arch *own = lab_arch_find(NULL), *candidate;

	for (int i = -1; i < 0 || lab_arch_at(i); i++) {
		char *relative, *folder;

		candidate = i < 0 ? (arch ? arch : own) : lab_arch_at(i);
		if (!candidate || (arch && candidate != arch))
			continue;
		relative = format_string("%s/%s", candidate->folder, name);
		folder = relative ? data_path(DATA_PATCHES, relative) : NULL;
		free(relative);
		if (!folder)
			return -ENOMEM;
		if (is_series(folder)) {
			series->folder = folder;
			series->arch = candidate;
			return 0;
		}
		free(folder);
	}
	return -ENOENT;
}

/* A folder given by its path: the architecture is the name of the folder above, when that is one.
 */
static int find_folder(struct lab_series *series, const char *path, const struct lab_arch *arch)
{
	char *full = realpath(path, NULL), *copy;

	if (!full)
		return -errno;
	if (!is_series(full)) {
		free(full);
		return -ENOENT;
	}
	copy = strdup(full);
	series->folder = full;
	series->arch = arch ? arch : copy ? lab_arch_by_folder(basename(dirname(copy))) : NULL;
	free(copy);
	return 0;
}

int series_open(const char *name, const char *arch_name, struct log *log, struct lab_series *series)
{
	struct lab_series found = { 0 };
	const struct lab_arch *arch = NULL;
	int rc = 0;

	if (arch_name && !(arch = lab_arch_find(arch_name))) {
		log_error(log, "the lab does not know the architecture \"%s\"", arch_name);
		return -EINVAL;
	}
	if (strchr(name, '/'))
		rc = find_folder(&found, name, arch);
	else if (strcmp(name, "-"))
		rc = find_bundled(&found, name, arch);
	if (rc == -ENOENT && arch && !strchr(name, '/') && !find_bundled(&found, name, NULL)) {
		log_error(log,
			  "series %.80s is for %s, not for %s: leave out --arch, or name another",
			  name, found.arch->name, arch->name);
		free(found.folder);
		return -EINVAL;
	}
	if (rc == -ENOENT || rc == -ENOTDIR)
		say_unknown(name, log);
	else if (rc)
		log_error(log, "series %.80s: %s", name, strerror(-rc));
	if (rc)
		return rc;
	if (!found.arch)
		found.arch = arch ? arch : lab_arch_find(NULL);
	found.name = strdup(found.folder && strchr(name, '/') ? strrchr(found.folder, '/') + 1
							      : name);
	if (!found.name) {
		rc = -ENOMEM;
	} else if (!found.arch) {
		log_error(log, "the lab does not know this machine's architecture: give --arch");
		rc = -EINVAL;
	} else if (found.folder) {
		rc = read_series(&found, log);
	}
	if (rc)
		series_release(&found);
	else
		*series = found;
	return rc;
}

static int is_patch(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 6 && !strcmp(entry->d_name + length - 6, ".patch");
}

/* One element of --arm: a patch, "-R patch", or a folder of patches (by name, as numbered). */
static int add_patch_files(struct lab_arm *arm, const char *element, struct log *log)
{
	bool reverse = !strncmp(element, "-R ", 3);
	const char *path = element + (reverse ? 3 : 0);
	struct dirent **entries;
	struct stat status;
	int count, rc = 0;

	path += strspn(path, " ");
	if (stat(path, &status) || !S_ISDIR(status.st_mode))
		return add_patch(arm, strdup(path), reverse, log);
	count = scandir(path, &entries, is_patch, alphasort);
	if (count < 0)
		return -errno;
	if (!count) {
		log_error(log, "arm %s: there is no *.patch in %s", arm->name, path);
		rc = -EINVAL;
	}
	for (int i = 0; i < count; i++) {
		/* the last one is undone first */
		const char *name = entries[reverse ? count - 1 - i : i]->d_name;

		if (!rc)
			rc = add_patch(arm, format_string("%s/%s", path, name), reverse, log);
	}
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return rc;
}

static int parse_what(struct lab_arm *arm, const char *what, struct log *log)
{
	char *copy, *rest, *element;
	int rc = 0;

	if (!strncmp(what, "git:", 4) && what[4]) {
		arm->git_ref = strdup(what + 4);
		return arm->git_ref ? 0 : -ENOMEM;
	}
	if (!strncmp(what, "image:", 6)) {
		if (access(what + 6, R_OK)) {
			log_error(log, "arm %s: cannot read the kernel %s: %s", arm->name, what + 6,
				  strerror(errno));
			return -EINVAL;
		}
		arm->image = realpath(what + 6, NULL);
		return arm->image ? 0 : -errno;
	}
	copy = rest = strdup(what);
	if (!copy)
		return -ENOMEM;
	while (!rc && (element = strsep(&rest, ",")))
		if (*element)
			rc = add_patch_files(arm, element, log);
	free(copy);
	return rc;
}

int series_add_arm(struct lab_series *series, const char *text, struct log *log)
{
	const char *equals = strchr(text, '=');
	struct lab_arm arm = { 0 };
	int rc;

	if (!equals) {
		log_error(log,
			  "--arm \"%s\" is not NAME=PATCHFILES, NAME=git:REF or NAME=image:PATH",
			  text);
		return -EINVAL;
	}
	arm.name = strndup(text, equals - text);
	rc = arm.name ? parse_what(&arm, equals + 1, log) : -ENOMEM;
	if (!rc)
		rc = take_arm(series, &arm, log);
	if (rc)
		release_arm(&arm);
	return rc;
}
