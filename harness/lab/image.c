// SPDX-License-Identifier: GPL-2.0-only
/* Collects programs and libraries and packs them with cpio. */
#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "cache.h"

/* One file of the image. */
struct member {
	char *from; /* on this machine */
	char *to;   /* in the image, without '/' at its start */
};

struct members {
	struct member *list;
	unsigned int count;
	const struct lab_arch *arch;
	struct log *log;
};

static void members_release(struct members *members)
{
	for (unsigned int i = 0; i < members->count; i++) {
		free(members->list[i].from);
		free(members->list[i].to);
	}
	free(members->list);
}

/* Takes over to; 1 when the image has it already. */
static int add_member(struct members *members, const char *from, char *to)
{
	struct member *larger;
	char *copy;

	if (!to)
		return -ENOMEM;
	for (unsigned int i = 0; i < members->count; i++)
		if (!strcmp(members->list[i].to, to)) {
			free(to);
			return 1;
		}
	larger = realloc(members->list, (members->count + 1) * sizeof(*larger));
	copy = strdup(from);
	if (larger)
		members->list = larger;
	if (!larger || !copy) {
		free(copy);
		free(to);
		return -ENOMEM;
	}
	members->list[members->count++] = (struct member){ copy, to };
	return 0;
}

static bool fits(const char *path, uint16_t machine)
{
	struct elf_needs needs;
	bool same;

	if (access(path, R_OK) || elf_needs_read(path, &needs))
		return false;
	same = needs.machine == machine;
	elf_needs_release(&needs);
	return same;
}

/* name in one of the folders of runpath, where $ORIGIN is the folder of user. */
static char *find_in_runpath(const char *runpath, const char *user, const char *name,
			     uint16_t machine)
{
	const char *slash = strrchr(user, '/');
	int origin = slash ? slash - user : 0;

	while (runpath && *runpath) {
		int length = strcspn(runpath, ":");
		const char *rest = strncmp(runpath, "$ORIGIN", 7) ? NULL : runpath + 7;
		char *path = rest ? format_string("%.*s%.*s/%s", origin, user, length - 7, rest,
						  name)
				  : format_string("%.*s/%s", length, runpath, name);

		if (path && fits(path, machine))
			return path;
		free(path);
		runpath += length;
		runpath += *runpath == ':';
	}
	return NULL;
}

static char *find_library(const struct elf_needs *needs, const char *user, const char *name,
			  const struct lab_arch *arch)
{
	char *path = find_in_runpath(needs->runpath, user, name, arch->elf_machine);

	for (const char *const *folder = arch->library_folders; !path && *folder; folder++) {
		path = format_string("%s/%s", *folder, name);
		if (path && !fits(path, arch->elf_machine)) {
			free(path);
			path = NULL;
		}
	}
	return path;
}

static int add_libraries(struct members *members, const char *user);

static int add_library(struct members *members, const struct elf_needs *needs, const char *user,
		       const char *name)
{
	char *path = find_library(needs, user, name, members->arch);
	int rc;

	if (!path) {
		log_error(members->log,
			  "%s needs the library %s for %s, which is in none of its "
			  "folders: install it",
			  user, name, members->arch->name);
		return -ENOENT;
	}
	rc = add_member(members, path,
			format_string("%s/%s", members->arch->library_folders[0] + 1, name));
	if (!rc)
		rc = add_libraries(members, path);
	free(path);
	return rc < 0 ? rc : 0;
}

/* The loader has to be at the very path that the program names. */
static int add_interpreter(struct members *members, const struct elf_needs *needs, const char *user)
{
	const char *name = strrchr(needs->interpreter, '/');
	char *path = find_library(needs, user, name ? name + 1 : needs->interpreter, members->arch);
	int rc;

	if (!path) {
		log_error(members->log,
			  "the loader %s for %s is not there: install the C library of "
			  "that architecture",
			  needs->interpreter, members->arch->name);
		return -ENOENT;
	}
	rc = add_member(members, path, strdup(needs->interpreter + 1));
	free(path);
	return rc < 0 ? rc : 0;
}

/* What user (a program or a library) needs, and what that needs. */
static int add_libraries(struct members *members, const char *user)
{
	struct elf_needs needs;
	int rc = elf_needs_read(user, &needs);

	if (rc == -ENOEXEC)
		return 0; /* a script: its interpreter is the user's to add */
	if (rc)
		return rc;
	if (needs.machine != members->arch->elf_machine) {
		log_error(members->log,
			  "%s is not a program for %s: give one that was built for it", user,
			  members->arch->name);
		rc = -ENOEXEC;
	}
	if (!rc && needs.interpreter)
		rc = add_interpreter(members, &needs, user);
	for (unsigned int i = 0; !rc && i < needs.library_count; i++)
		rc = add_library(members, &needs, user, needs.libraries[i]);
	elf_needs_release(&needs);
	return rc;
}

static int add_program(struct members *members, const char *path, const char *name)
{
	int rc;

	if (access(path, R_OK)) {
		rc = -errno;
		log_error(members->log, "cannot read the program %s: %s", path, strerror(-rc));
		return rc;
	}
	rc = add_member(members, path, format_string("bin/%s", name));
	return rc ? (rc < 0 ? rc : 0) : add_libraries(members, path);
}

/* --add names a file, or a program in PATH. */
static int add_programs(struct members *members, const char *const *added)
{
	int rc = 0;

	for (; !rc && added && *added; added++) {
		char *path = NULL;

		if (!spawn_find(*added, &path))
			path = strdup(*added);
		rc = path ? add_program(members, path,
					strrchr(path, '/') ? strrchr(path, '/') + 1 : path)
			  : -ENOMEM;
		free(path);
	}
	return rc;
}

static int members_key(const struct members *members, char hex[CONTENT_KEY_SIZE])
{
	struct content_key key;
	int rc = 0;

	content_key_start(&key);
	content_key_text(&key, "layout", "2");
	for (unsigned int i = 0; !rc && i < members->count; i++) {
		content_key_text(&key, "name", members->list[i].to);
		rc = content_key_file(&key, "file", members->list[i].from);
	}
	content_key_end(&key, hex);
	return rc;
}

/* Copies all members below staging and writes their names (and their folders') to list. */
static int stage(const struct members *members, const char *staging, FILE *list)
{
	char *link = format_string("%s/init", staging);
	int rc = link ? fs_make_folders(staging, 0755) : -ENOMEM;

	if (!rc && symlink("bin/shootdown", link))
		rc = -errno;
	fputs("init\n", list);
	for (unsigned int i = 0; !rc && i < members->count; i++) {
		const char *to = members->list[i].to;
		char *target = format_string("%s/%s", staging, to);
		char *slash = target ? strrchr(target, '/') : NULL;

		rc = slash ? 0 : -ENOMEM;
		if (!rc) {
			*slash = '\0';
			rc = fs_make_folders(target, 0755);
			*slash = '/';
		}
		if (!rc)
			rc = fs_copy(members->list[i].from, target);
		for (const char *at = strchr(to, '/'); at; at = strchr(at + 1, '/'))
			fprintf(list, "%.*s\n", (int)(at - to), to);
		fprintf(list, "%s\n", to);
		free(target);
	}
	free(link);
	return !rc && ferror(list) ? -EIO : rc;
}

/*
 * Packs staging into partial: newc, owned by root. Not compressed: under emulation a
 * guest greets 0.1 to 0.2 s sooner than with zstd -1, at 4 and at 16 CPUs.
 */
static int pack(const char *staging, const char *list, const char *partial, struct log *log)
{
	const char *const argv[] = { "cpio", "-o",    "-H",	 "newc",
				     "-R",   "0:0",   "--quiet", "--reproducible",
				     "-O",   partial, NULL };
	struct spawn spawn = { .argv = argv, .folder = staging, .input_path = list };
	int rc = spawn_run(&spawn);

	if (rc == -ENOENT)
		log_error(log, "the initramfs is made by cpio: install it (ci/setup does)");
	return rc > 0 ? -EIO : rc;
}

static int make_initramfs(const struct members *members, const char *cache, const char *path,
			  struct log *log)
{
	char *staging = format_string("%s/initramfs/.staging.%d", cache, (int)getpid());
	char *list_path = format_string("%s/initramfs/.list.%d", cache, (int)getpid());
	char *partial = format_string("%s.%d.partial", path, (int)getpid());
	FILE *list = NULL;
	int rc = staging && list_path && partial ? fs_remove_tree(staging) : -ENOMEM;

	if (!rc && !(list = fopen(list_path, "we")))
		rc = -errno;
	if (!rc)
		rc = stage(members, staging, list);
	if (list && fclose(list) && !rc)
		rc = -errno;
	if (!rc)
		rc = pack(staging, list_path, partial, log);
	if (!rc && rename(partial, path))
		rc = -errno;
	if (rc) {
		if (rc != -ENOENT)
			cache_say(log, path, rc);
		if (partial)
			unlink(partial);
	}
	if (list_path)
		unlink(list_path);
	if (staging)
		fs_remove_tree(staging);
	free(staging);
	free(list_path);
	free(partial);
	return rc;
}

int image_initramfs(const char *cache, const char *program, const char *const *added,
		    const struct lab_arch *arch, struct log *log, char **path)
{
	struct members members = { .arch = arch, .log = log };
	char *self = program ? strdup(program) : realpath("/proc/self/exe", NULL);
	char hex[CONTENT_KEY_SIZE], *found = NULL;
	int rc = self ? add_program(&members, self, "shootdown") : -errno;

	if (!rc)
		rc = add_programs(&members, added);
	if (!rc)
		rc = members_key(&members, hex);
	if (!rc && !(found = format_string("%s/initramfs/%s.cpio", cache, hex)))
		rc = -ENOMEM;
	if (!rc && access(found, R_OK))
		rc = make_initramfs(&members, cache, found, log);
	if (rc)
		free(found);
	else
		*path = found;
	free(self);
	members_release(&members);
	return rc;
}
