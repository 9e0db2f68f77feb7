/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs from another machine, taken into a store: a folder whose subfolders are runs
 * or whole lab folders. They come as a folder, or as an archive that tar(1) unpacks.
 *
 * An archive is not trusted: its list is read first, and it is refused as a whole
 * when a member is a link or a device, has an absolute name or "..", is no file that
 * shootdown writes, or when it holds more than IMPORT_BYTES_MAX or IMPORT_FILES_MAX;
 * what was unpacked is looked at once more. Every run is read and its checksums are
 * compared before anything is in the store, where it appears in one step.
 */
#ifndef SHOOTDOWN_IMPORT_H
#define SHOOTDOWN_IMPORT_H

#include <stdbool.h>

#include "../lib/log.h"

#define IMPORT_BYTES_MAX (16ULL << 30)
#define IMPORT_FILES_MAX 1000000

/*
 * Takes what is at source into the store folder (made when it is not there). *folder is
 * where it is then, the caller's to free; *known: it was there already. Negative errno,
 * said: -EBADMSG for what is refused or damaged, -ENOENT, -ENOSPC.
 */
int import_into(const char *source, const char *store, struct log *log, char **folder, bool *known);

/*
 * Checks the text of "tar --list --verbose --numeric-owner --full-time
 * --quoting-style=escape". 0, or -EBADMSG with the member named.
 */
int import_check_list(const char *archive, char *list, struct log *log);

#endif
