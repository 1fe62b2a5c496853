/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * syscall(), for the sake of openat2: the C library has no function for it, so that programs call
 * it by its number.
 *
 * All other numbers go to the kernel as the C library's own syscall() sends them, without a stack
 * frame: a clone may return here on another stack. Our own calls come through here too.
 */
#include "config.h"

#include <errno.h>
#include <linux/openat2.h>

#include "verbs/preload/hooks.h"
#include "verbs/preload/path.h"
#include "verbs/preload/real.h"

#ifdef __x86_64__
_Static_assert(SYS_openat2 == 437, "the number below");

__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	endbr64\n"
	"	cmpq $437, %rdi\n"
	"	je number_openat2\n"
	".globl number_raw\n"
	".hidden number_raw\n"
	".type number_raw, @function\n"
	"number_raw:\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	"	cmpq $-4095, %rax\n"
	"	jae 1f\n"
	"	ret\n"
	"1:	movq %rax, %rdi\n"
	"	jmp number_failed\n"
	".size number_raw, .-number_raw\n"
	".size syscall, .-syscall\n");

long number_raw(long number, ...) __attribute__((visibility("hidden")));
long number_failed(long ret) __attribute__((visibility("hidden")));
long number_openat2(long number, int dirfd, const char *path, const struct open_how *how,
		    size_t size) __attribute__((visibility("hidden")));

long number_failed(long ret)
{
	errno = (int)-ret;
	return -1;
}

/* Whether the kernel takes the arguments: there is no file of no name. Else errno. */
static bool how_is_valid(const struct open_how *how, size_t size)
{
	return number_raw(SYS_openat2, AT_FDCWD, "", how, size) < 0 && errno == ENOENT;
}

/* What the program rules out on the way is for the kernel to find: the tree is made of folders. */
static bool way_is_allowed(int dirfd, const char *path, const struct open_how *how)
{
	struct open_how look = {.flags = O_PATH | O_CLOEXEC, .resolve = how->resolve};
	long fd;

	if (!how->resolve)
		return true;
	fd = number_raw(SYS_openat2, dirfd, path, &look, sizeof(look));
	if (fd >= 0)
		number_raw(SYS_close, fd);
	return fd >= 0;
}

long number_openat2(long number, int dirfd, const char *path, const struct open_how *how,
		    size_t size)
{
	int fd = -2, saved = errno;

	if (path_maybe(dirfd, path)) {
		if (!how_is_valid(how, size) || !way_is_allowed(dirfd, path, how))
			return -1;
		errno = saved;
		fd = hooks_open_ours(dirfd, path, (int)how->flags, (mode_t)how->mode);
	}
	if (fd != -2)
		return fd;
	fd = (int)number_raw(number, dirfd, path, how, size);
	return fd < 0 ? fd : hooks_folder_opened(fd, (int)how->flags);
}
#endif
