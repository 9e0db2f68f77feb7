// SPDX-License-Identifier: GPL-2.0-only
/* Kernel images that are there: what they call themselves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/fs.h"
#include "build.h"
#include "cache.h"

void kernel_release(struct lab_kernel *kernel)
{
	free(kernel->key);
	free(kernel->image);
	free(kernel->release);
	free(kernel->version);
	*kernel = (struct lab_kernel){ 0 };
}

int kernel_identify(struct lab_kernel *kernel)
{
	char *bytes;
	size_t length;
	int rc = fs_read("", kernel->image, &bytes, &length);

	if (rc)
		return rc;
	rc = image_identify((unsigned char *)bytes, length, &kernel->release, &kernel->version);
	free(bytes);
	return rc;
}

int kernel_from_image(const char *path, const struct lab_arch *arch, struct log *log,
		      struct lab_kernel *kernel)
{
	struct lab_kernel found = { 0 };
	char hex[CONTENT_KEY_SIZE];
	int rc;

	found.image = realpath(path, NULL);
	if (!found.image || !SHA256File(found.image, hex)) {
		rc = -errno;
		log_error(log, "cannot read the kernel %s: %s", path, strerror(-rc));
		goto fail;
	}
	found.key = strdup(hex);
	rc = found.key ? kernel_identify(&found) : -ENOMEM;
	if (rc == -EINVAL)
		log_error(log, "%s does not say which kernel it is: give the %s that make %s left",
			  path, arch->image, arch->target);
	if (rc)
		goto fail;
	*kernel = found;
	return 0;
fail:
	kernel_release(&found);
	return rc;
}
