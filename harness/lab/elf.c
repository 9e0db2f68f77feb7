// SPDX-License-Identifier: GPL-2.0-only
/* What a program's ELF headers say that it needs. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"

void elf_needs_release(struct elf_needs *needs)
{
	for (unsigned int i = 0; i < needs->library_count; i++)
		free(needs->libraries[i]);
	free(needs->libraries);
	free(needs->interpreter);
	free(needs->runpath);
	*needs = (struct elf_needs){ 0 };
}

static int add_library(struct elf_needs *needs, const char *name)
{
	char **larger = realloc(needs->libraries, (needs->library_count + 1) * sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	needs->libraries = larger;
	larger[needs->library_count] = strdup(name);
	return larger[needs->library_count] ? needs->library_count++, 0 : -ENOMEM;
}

static int read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			struct elf_needs *needs)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	int rc = data ? 0 : -ENOEXEC;

	for (size_t i = 0; !rc && i < count; i++) {
		const char *text;
		GElf_Dyn entry;

		if (!gelf_getdyn(data, i, &entry))
			return -ENOEXEC;
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RUNPATH &&
		    entry.d_tag != DT_RPATH)
			continue;
		text = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
		if (!text)
			return -ENOEXEC;
		if (entry.d_tag == DT_NEEDED) {
			rc = add_library(needs, text);
		} else {
			free(needs->runpath);
			needs->runpath = strdup(text);
			rc = needs->runpath ? 0 : -ENOMEM;
		}
	}
	return rc;
}

static int read_interpreter(Elf *elf, struct elf_needs *needs)
{
	size_t count, length;
	const char *raw = elf_rawfile(elf, &length);
	GElf_Phdr header;

	if (!raw || elf_getphdrnum(elf, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &header) || header.p_type != PT_INTERP)
			continue;
		if (header.p_offset >= length || header.p_filesz > length - header.p_offset)
			return -ENOEXEC;
		needs->interpreter = strndup(raw + header.p_offset, header.p_filesz);
		return needs->interpreter ? 0 : -ENOMEM;
	}
	return 0;
}

static int read_elf(Elf *elf, struct elf_needs *needs)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Ehdr head;
	int rc;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head))
		return -ENOEXEC;
	needs->machine = head.e_machine;
	rc = read_interpreter(elf, needs);
	while (!rc && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
			rc = read_dynamic(elf, section, &header, needs);
	return rc;
}

int elf_needs_read(const char *path, struct elf_needs *needs)
{
	struct elf_needs found = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	rc = elf ? read_elf(elf, &found) : -ENOEXEC;
	elf_end(elf);
	close(fd);
	if (rc)
		elf_needs_release(&found);
	else
		*needs = found;
	return rc;
}
