/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Programs that reach libibverbs and the system in ways of their own. Not linked to libibverbs.
 *
 *     holes dlvsym      by symbols with versions, of a library opened at run time
 *     holes children    in children by fork, vfork and posix_spawn
 *     holes closers     after all descriptors that it does not know were closed
 *     holes sandbox     under a seccomp filter that forbids to open, connect and execute
 *
 * The allocator is the program's own, which asks nobody for memory.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(what) ((what) ? (void)0 : failed(__LINE__, #what))

extern char **environ;

static void __attribute__((noreturn)) failed(int line, const char *what)
{
	dprintf(2, "line %d: %s (errno %d)\n", line, what, errno);
	_exit(1);
}

/* ---- the allocator ---- */

#define HEAP (64u << 20)
#define HEAD 16

static _Alignas(16) uint8_t heap[HEAP];
static _Atomic size_t used;

static void *take(size_t align, size_t size)
{
	size_t at, end;

	if (align < HEAD)
		align = HEAD;
	size = (size + 15) & ~(size_t)15;
	end = atomic_fetch_add(&used, size + align + HEAD) + size + align + HEAD;
	if (end > HEAP) {
		errno = ENOMEM;
		return NULL;
	}
	at = (end - size) & ~(align - 1);
	memcpy(heap + at - HEAD, &size, sizeof(size));
	return heap + at;
}

void *malloc(size_t size)
{
	return take(HEAD, size);
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t n, size_t size)
{
	return take(HEAD, n * size); /* never used before, so zero */
}

void *realloc(void *p, size_t size)
{
	void *q = take(HEAD, size);
	size_t old = 0;

	if (!p || !q)
		return q;
	memcpy(&old, (uint8_t *)p - HEAD, sizeof(old));
	memcpy(q, p, old < size ? old : size);
	return q;
}

int posix_memalign(void **out, size_t align, size_t size)
{
	*out = take(align, size);
	return *out ? 0 : ENOMEM;
}

void *aligned_alloc(size_t align, size_t size)
{
	return take(align, size);
}

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size)
{
	return take(align, size);
}

/* ---- libibverbs, by its symbols' versions ---- */

static struct {
	struct ibv_device **(*get_device_list)(int *);
	struct ibv_context *(*open_device)(struct ibv_device *);
	int (*close_device)(struct ibv_context *);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *);
	int (*dealloc_pd)(struct ibv_pd *);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *, size_t, int);
	int (*dereg_mr)(struct ibv_mr *);
} verbs;

static void *symbol(void *library, const char *name)
{
	void *p = dlvsym(library, name, "IBVERBS_1.1");

	MUST(p);
	return p;
}

static void verbs_load(void)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);

	MUST(library);
	*(void **)&verbs.get_device_list = symbol(library, "ibv_get_device_list");
	*(void **)&verbs.open_device = symbol(library, "ibv_open_device");
	*(void **)&verbs.close_device = symbol(library, "ibv_close_device");
	*(void **)&verbs.alloc_pd = symbol(library, "ibv_alloc_pd");
	*(void **)&verbs.dealloc_pd = symbol(library, "ibv_dealloc_pd");
	*(void **)&verbs.reg_mr = symbol(library, "ibv_reg_mr");
	*(void **)&verbs.dereg_mr = symbol(library, "ibv_dereg_mr");
}

static struct ibv_context *device_open(void)
{
	struct ibv_device **list = verbs.get_device_list(NULL);
	struct ibv_context *ctx;

	MUST(list && list[0]);
	ctx = verbs.open_device(list[0]);
	MUST(ctx);
	return ctx;
}

/* Commands are answered, and the daemon reaches our memory. */
static void device_works(struct ibv_context *ctx)
{
	static uint8_t memory[4096];
	struct ibv_pd *pd = verbs.alloc_pd(ctx);
	struct ibv_mr *mr;

	MUST(pd);
	mr = verbs.reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	MUST(mr && mr->lkey);
	MUST(!verbs.dereg_mr(mr));
	MUST(!verbs.dealloc_pd(pd));
}

static void dlvsym_finds_the_device(void)
{
	struct ibv_context *ctx = device_open();

	device_works(ctx);
	MUST(!verbs.close_device(ctx));
}

/* ---- children ---- */

static void child_ends_well(pid_t pid)
{
	int status;

	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

static void children_have_the_device(const char *self)
{
	char *argv[] = {(char *)self, "dlvsym", NULL};
	struct ibv_context *ctx = device_open();
	pid_t pid;

	pid = fork();
	if (!pid) {
		device_works(ctx); /* the parent's, with memory of our own */
		dlvsym_finds_the_device();
		_exit(0);
	}
	child_ends_well(pid);
	pid = vfork();
	if (!pid) {
		execv(self, argv);
		_exit(1);
	}
	child_ends_well(pid);
	MUST(!posix_spawn(&pid, self, NULL, NULL, argv, environ));
	child_ends_well(pid);
	MUST(!posix_spawnp(&pid, self, NULL, NULL, argv, environ));
	child_ends_well(pid);
	device_works(ctx);
	MUST(!verbs.close_device(ctx));
}

/* ---- closers ---- */

static void close_by_walk(int first, int but)
{
	int fds[256], n = 0;
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;

	MUST(dir);
	while ((e = readdir(dir)) && n < 256) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] != '.' && fd >= first && fd != but && fd != dirfd(dir))
			fds[n++] = fd;
	}
	MUST(!closedir(dir));
	while (n)
		close(fds[--n]);
}

static void close_by_number(int first, int but)
{
	for (int fd = first; fd < 1024; fd++)
		if (fd != but)
			close(fd);
}

static void close_by_range(int first, int but)
{
	MUST(but <= first || !close_range((unsigned int)first, (unsigned int)but - 1, 0));
	MUST(!close_range((unsigned int)but + 1, ~0u, 0));
}

/* A device that stays open goes on; one that went is opened anew. */
static void closing_the_unknown_harms_nothing(void)
{
	static void (*const ways[])(int first, int but) = {close_by_walk, close_by_number,
							   close_by_range};
	struct ibv_context *ctx = device_open();

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		ways[i](3, ctx->cmd_fd);
		device_works(ctx);
		dlvsym_finds_the_device();
	}
	closefrom(3);
	dlvsym_finds_the_device();
}

/* ---- sandbox ---- */

#define FORBID(number)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static void filter_install(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		FORBID(SYS_open),
		FORBID(SYS_openat),
		FORBID(SYS_socket),
		FORBID(SYS_connect),
		FORBID(SYS_execve),
		FORBID(SYS_clone),
		FORBID(SYS_clone3),
		FORBID(SYS_ptrace),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(filter) / sizeof(filter[0]), filter};

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

/* What is open goes on; what would have to be opened is refused like any file. */
static void sandbox_keeps_what_is_open(void)
{
	struct ibv_context *ctx = device_open();
	FILE *file;

	device_works(ctx);
	filter_install();
	file = fopen("/etc/passwd", "r");
	MUST(!file && errno == EPERM);
	device_works(ctx);
	MUST(!verbs.close_device(ctx));
}

int main(int argc, char **argv)
{
	MUST(argc == 2);
	verbs_load();
	if (!strcmp(argv[1], "dlvsym"))
		dlvsym_finds_the_device();
	else if (!strcmp(argv[1], "children"))
		children_have_the_device("/proc/self/exe");
	else if (!strcmp(argv[1], "closers"))
		closing_the_unknown_harms_nothing();
	else if (!strcmp(argv[1], "sandbox"))
		sandbox_keeps_what_is_open();
	else
		return 2;
	MUST(used < HEAP && used); /* it was this allocator that they used */
	return 0;
}
