/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Programs into which the dynamic linker loads no librnic.so. */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/unserved.h"

#define PATH_DEFAULT "/bin:/usr/bin"

static bool find(const char *program, char *path)
{
	const char *p = getenv("PATH");

	if (strchr(program, '/'))
		return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX;
	for (p = p ? p : PATH_DEFAULT; p; p = strchr(p, ':'), p = p ? p + 1 : NULL) {
		int len = (int)strcspn(p, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", len, p, program) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* Only of this machine's kind; scripts and others are the kernel's matter. */
static bool is_static(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool elf = false, linked = false;
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (fd < 0)
		return false;
	if (pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
	    !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.e_phentsize == sizeof(part))
		elf = true;
	for (unsigned int i = 0; elf && i < head.e_phnum; i++) {
		if (pread(fd, &part, sizeof(part), (off_t)(head.e_phoff + i * sizeof(part))) !=
		    sizeof(part))
			elf = false;
		else
			linked |= part.p_type == PT_INTERP;
	}
	close(fd);
	return elf && !linked;
}

const char *unserved(const char *program)
{
	char path[PATH_MAX];
	struct stat st;

	if (!find(program, path) || stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    (st.st_mode & S_ISGID && st.st_gid != getegid()))
		return "is set-uid or set-gid";
	if (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		return "has capabilities of its own";
	return is_static(path) ? "is linked statically" : NULL;
}
