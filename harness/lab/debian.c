// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel trees from Debian's linux-source-X.Y packages. The mirror is the one
 * this machine's apt is configured for; suites it is not configured for are
 * reached with package lists of the lab's own, so that the machine's stay as
 * they are. Nothing is installed and no root is needed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/fs.h"
#include "../../lib/spawn.h"
#include "cache.h"
#include "source.h"

#define PACKAGE_PREFIX "linux-source-"

/* Suites that carry kernels newer than a stable release's own. */
static const char *const suites[] = { "bookworm-backports", "trixie", "trixie-backports" };

struct apt {
	char *folder;	   /* lists, archives, configuration */
	char *environment; /* APT_CONFIG=... */
};

static void apt_release(struct apt *apt)
{
	free(apt->folder);
	free(apt->environment);
}

static int run_apt(const struct apt *apt, const char *const *argv, const char *folder,
		   char **output)
{
	const char *const environment[] = { "LC_ALL=C", apt->environment, NULL };
	struct spawn spawn = { .argv = argv,
			       .folder = folder,
			       .environment = environment + (apt->environment ? 0 : 2),
			       .output = output };

	return spawn_run(&spawn);
}

/* VERSION_CODENAME of /etc/os-release; caller frees, NULL: none. */
static char *codename(void)
{
	static const char label[] = "VERSION_CODENAME=";
	char *text, *rest, *line, *found = NULL;

	if (fs_read("", "/etc/os-release", &text, NULL))
		return NULL;
	rest = text;
	while (!found && (line = strsep(&rest, "\n")))
		if (!strncmp(line, label, sizeof(label) - 1)) {
			line += sizeof(label) - 1;
			line += *line == '"';
			found = strndup(line, strcspn(line, "\" "));
		}
	free(text);
	return found;
}

/* The first line that apt prints for this machine's main archive. */
static int find_mirror(struct log *log, char **mirror)
{
	const struct apt none = { 0 };
	char *name = codename();
	char *release = format_string("Release: %s", name ? name : "stable");
	const char *const argv[] = {
		"apt-get", "indextargets",    "--format", "$(REPO_URI)", "Created-By: Packages",
		release,   "Component: main", NULL
	};
	char *output = NULL;
	int rc = release ? run_apt(&none, argv, NULL, &output) : -ENOMEM;

	if (!rc && output[strspn(output, " \n")]) {
		output[strcspn(output, "\n")] = '\0';
		*mirror = output;
		output = NULL;
	} else if (rc != -ENOMEM && rc != -EINTR) {
		log_error(log,
			  "there is no Debian mirror to fetch a kernel tree from (%s): give "
			  "--source a tarball or a tree",
			  rc == -ENOENT ? "no apt-get" : "apt is not configured for one");
		rc = -ENOENT;
	}
	free(output);
	free(release);
	free(name);
	return rc;
}

/* Debian's archive keys, when this release's apt does not trust them by itself. */
static const char *trust(void)
{
	static const char keyring[] = "/usr/share/keyrings/debian-archive-keyring.gpg";
	glob_t found;
	bool own = !glob("/etc/apt/trusted.gpg.d/debian-archive*", 0, NULL, &found);

	if (own)
		globfree(&found);
	return own || access(keyring, R_OK)
		       ? ""
		       : "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ";
}

static int write_text(const char *folder, const char *name, char *text, struct log *log)
{
	char *path = format_string("%s/%s", folder, name);
	int rc = path && text ? fs_replace(path, text, strlen(text)) : -ENOMEM;

	if (rc && path)
		cache_say(log, path, rc);
	free(path);
	free(text);
	return rc;
}

static int configure(struct apt *apt, const char *mirror, struct log *log)
{
	char *sources = strdup("");
	char *lists = format_string("%s/lists/partial", apt->folder);
	char *archives = format_string("%s/cache/archives/partial", apt->folder);
	int rc = lists && archives ? fs_make_folders(lists, 0700) : -ENOMEM;

	if (!rc)
		rc = fs_make_folders(archives, 0700);
	for (size_t i = 0; sources && i < sizeof(suites) / sizeof(suites[0]); i++) {
		char *longer = format_string("%sdeb %s%s %s main\n", sources, trust(), mirror,
					     suites[i]);

		free(sources);
		sources = longer;
	}
	free(lists);
	free(archives);
	if (rc) {
		free(sources);
		return cache_say(log, apt->folder, rc);
	}
	rc = write_text(apt->folder, "sources.list", sources, log);
	if (rc)
		return rc;
	/* as root, apt would change to a user who cannot read our folders */
	return write_text(apt->folder, "apt.conf",
			  format_string("Dir::State::Lists \"%s/lists\";\n"
					"Dir::Cache \"%s/cache\";\n"
					"Dir::Etc::sourcelist \"%s/sources.list\";\n"
					"Dir::Etc::sourceparts \"/nonexistent\";\n"
					"%s",
					apt->folder, apt->folder, apt->folder,
					geteuid() ? "" : "APT::Sandbox::User \"root\";\n"),
			  log);
}

static int apt_open(const char *cache, struct log *log, struct apt *apt)
{
	static const char *const update[] = { "apt-get", "-qq", "update", NULL };
	char *mirror;
	int rc = find_mirror(log, &mirror);

	if (rc)
		return rc;
	apt->folder = format_string("%s/apt", cache);
	apt->environment = format_string("APT_CONFIG=%s/apt/apt.conf", cache);
	rc = apt->folder && apt->environment ? configure(apt, mirror, log) : -ENOMEM;
	if (!rc) {
		log_progress(log, "asking the Debian mirror for kernel trees", 0, 0);
		rc = run_apt(apt, update, NULL, NULL);
		log_progress_end(log);
		if (rc > 0) {
			log_error(log,
				  "apt could not read the package lists of %s: check the network, "
				  "or give --source a tarball or a tree",
				  mirror);
			rc = -ENETUNREACH;
		}
	}
	free(mirror);
	if (rc)
		apt_release(apt);
	return rc;
}

/* Is text "linux-source-X.Y" within the range, and newer than best? */
static bool better(const char *text, struct kernel_version first, struct kernel_version last,
		   struct kernel_version *best)
{
	struct kernel_version version;
	const char *number = text + sizeof(PACKAGE_PREFIX) - 1;

	if (strncmp(text, PACKAGE_PREFIX, sizeof(PACKAGE_PREFIX) - 1) ||
	    !kernel_version_parse(number, &version) ||
	    strspn(number, "0123456789.") != strcspn(number, " _") ||
	    kernel_version_compare(version, first) < 0 ||
	    kernel_version_compare(version, last) > 0 || kernel_version_compare(version, *best) < 0)
		return false;
	*best = version;
	return true;
}

/* The newest package in the range and its newest version. */
static int find_package(const struct apt *apt, struct kernel_version first,
			struct kernel_version last, struct log *log, char **package, char **version)
{
	static const char *const search[] = { "apt-cache", "search", "--names-only",
					      "^linux-source-[0-9.]+$", NULL };
	const char *show[] = { "apt-cache", "show", "--no-all-versions", NULL, NULL };
	struct kernel_version best = { 0, 0 };
	char *output = NULL, *rest, *line, *name = NULL, *field;
	int rc = run_apt(apt, search, NULL, &output);

	rest = rc ? NULL : output;
	while ((line = strsep(&rest, "\n"))) {
		if (!better(line, first, last, &best))
			continue;
		free(name);
		name = strndup(line, strcspn(line, " "));
	}
	free(output);
	output = NULL;
	if (!rc && !name) {
		log_error(log,
			  "the Debian mirror has no linux-source package from %u.%u to %u.%u: give "
			  "--source a tarball or a tree",
			  first.major, first.minor, last.major, last.minor);
		return -ENOENT;
	}
	show[3] = name;
	if (!rc)
		rc = run_apt(apt, show, NULL, &output);
	field = !rc && output ? strstr(output, "\nVersion: ") : NULL;
	if (field) {
		field += strlen("\nVersion: ");
		*version = strndup(field, strcspn(field, "\n"));
		*package = name;
		name = NULL;
		rc = *version ? 0 : -ENOMEM;
	} else if (rc >= 0) {
		log_error(log, "apt does not say which version %s has", name);
		rc = -EIO;
	}
	free(output);
	free(name);
	return rc;
}

/* A file in folder whose name ends so; caller frees, NULL: none. */
static char *find_file(const char *folder, const char *ending)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	char *found = NULL;

	while (entries && !found && (entry = readdir(entries))) {
		size_t length = strlen(entry->d_name), tail = strlen(ending);

		if (length > tail && !strcmp(entry->d_name + length - tail, ending))
			found = format_string("%s/%s", folder, entry->d_name);
	}
	if (entries)
		closedir(entries);
	return found;
}

/* Downloads and unpacks into folder, then moves the tarball to its name. */
static int download_into(const struct apt *apt, const char *folder, const char *package,
			 const char *version, const char *tarball, struct log *log)
{
	char *wanted = format_string("%s=%s", package, version);
	char *inside = format_string("%s/usr/src/%s.tar.xz", folder, package), *deb = NULL;
	const char *const get[] = { "apt-get", "-q", "download", wanted, NULL };
	const char *extract[] = { "dpkg-deb", "-x", NULL, folder, NULL };
	int rc = wanted && inside ? 0 : -ENOMEM;

	log_progress(log, "downloading the kernel tree", 0, 0);
	if (!rc)
		rc = run_apt(apt, get, folder, NULL);
	if (!rc && (extract[2] = deb = find_file(folder, ".deb")))
		rc = run_apt(apt, extract, folder, NULL);
	log_progress_end(log);
	if (!rc && (!deb || rename(inside, tarball)))
		rc = deb ? -errno : -ENOENT;
	if (rc && rc != -EINTR) {
		struct stat status;

		log_error(log,
			  "could not fetch %s %s%s: see above; check the network and the room on "
			  "the disk, or give --source a tarball or a tree",
			  package, version,
			  deb && stat(deb, &status) == 0 ? " (it was downloaded, but not unpacked)"
							 : "");
		rc = rc > 0 ? -EIO : rc;
	}
	free(wanted);
	free(inside);
	free(deb);
	return rc;
}

static int download(const struct apt *apt, const char *cache, const char *package,
		    const char *version, const char *tarball, struct log *log)
{
	char *folder = format_string("%s/sources/.download", cache);
	int rc = folder ? fs_remove_tree(folder) : -ENOMEM;

	if (!rc)
		rc = fs_make_folders(folder, 0700);
	if (!rc)
		rc = download_into(apt, folder, package, version, tarball, log);
	else if (folder)
		cache_say(log, folder, rc);
	if (folder)
		fs_remove_tree(folder);
	free(folder);
	return rc;
}

/* The newest tarball PACKAGE_VERSION.tar.xz of the range that is in the cache. */
static bool find_cached(struct kernel_version first, struct kernel_version last, const char *cache,
			char **tarball, char **package, char **version)
{
	char *folder = format_string("%s/sources", cache);
	struct kernel_version best = { 0, 0 };
	char *name = NULL;
	struct dirent **entries;
	int count = folder ? scandir(folder, &entries, NULL, versionsort) : -1;

	for (int i = 0; i < count; i++) {
		char *entry = entries[i]->d_name;
		size_t length = strlen(entry);

		if (length > 7 && strchr(entry, '_') && !strcmp(entry + length - 7, ".tar.xz") &&
		    better(entry, first, last, &best)) {
			free(name);
			name = strdup(entry);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (name) {
		char *line = strchr(name, '_');

		*tarball = format_string("%s/%s", folder, name);
		*package = strndup(name, line - name);
		*version = strndup(line + 1, strlen(line + 1) - 7);
	}
	free(name);
	free(folder);
	return name != NULL;
}

static int ask_mirror(struct kernel_version first, struct kernel_version last, const char *cache,
		      struct log *log, char **tarball, char **package, char **version)
{
	struct apt apt = { 0 };
	char *path;
	int rc = apt_open(cache, log, &apt);

	if (rc)
		return rc;
	rc = find_package(&apt, first, last, log, package, version);
	if (rc)
		goto out;
	path = format_string("%s/sources/%s_%s.tar.xz", cache, *package, *version);
	rc = path ? 0 : -ENOMEM;
	if (!rc && access(path, R_OK)) {
		log_info(log, "fetching %s %s", *package, *version);
		rc = download(&apt, cache, *package, *version, path, log);
	}
	if (rc) {
		free(path);
		free(*package);
		free(*version);
	} else {
		*tarball = path;
	}
out:
	apt_release(&apt);
	return rc;
}

int debian_source(struct kernel_version first, struct kernel_version last, const char *cache,
		  bool fresh, struct log *log, char **tarball, char **package, char **version)
{
	char *lock_path = format_string("%s/sources/debian", cache);
	int lock = lock_path ? cache_lock(lock_path, "the package lists", log) : -ENOMEM;
	int rc = lock < 0 ? lock : 0;

	free(lock_path);
	if (rc)
		return rc;
	if (fresh || !find_cached(first, last, cache, tarball, package, version))
		rc = ask_mirror(first, last, cache, log, tarball, package, version);
	close(lock);
	return rc;
}
