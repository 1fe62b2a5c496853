/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Large accesses: whole and right whatever way they take, and never another program's memory. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "verbs/kernel/umem_priv.h"

#define AREA (256u << 10)
#define PIECES 64

static struct umem *memory_of(int pid)
{
	char mem[32], maps[32];
	struct umem *u;

	snprintf(mem, sizeof(mem), "/proc/%d/mem", pid);
	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	ck_assert_int_eq(umem_create(open(mem, O_RDWR | O_CLOEXEC),
				     open(maps, O_RDONLY | O_CLOEXEC), false, &u),
			 0);
	return u;
}

static uint8_t *area(void)
{
	uint8_t *p =
		mmap(NULL, AREA + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + (i >> 16));
}

/* n pieces that stand apart in buf. */
static void pieces_make(struct iovec *iov, int n, uint8_t *buf, uint32_t each)
{
	for (int i = 0; i < n; i++)
		iov[i] = (struct iovec){buf + (size_t)i * (each + 16) + 12, each};
}

static const struct {
	uint32_t at, each;
	int n;
} shapes[] = {
	{0, 4096, 1},  {0, 4096, 16}, {100, 4096, 16}, {4095, 256, 16}, {4095, 2, 1},
	{17, 1, 64},   {0, 65536, 1}, {3, 65536, 1},   {0, 4096, 8},	{0, 4095, 8},
	{1, 4096, 33}, {4000, 96, 1}, {4000, 97, 1},   {0, 1024, 64},	{8, 0, 2},
};

static void shape_check(struct umem *u, uint8_t *mem, uint8_t *buf, int i)
{
	uint64_t addr = (uint64_t)(uintptr_t)mem + shapes[i].at;
	struct iovec iov[PIECES];
	uint32_t at;

	pieces_make(iov, shapes[i].n, buf, shapes[i].each);
	for (at = 0; at < AREA; at++)
		mem[at] = pattern(at);
	ck_assert_int_eq(umem_readv(u, addr, iov, shapes[i].n), 0);
	at = shapes[i].at;
	for (int k = 0; k < shapes[i].n; k++)
		for (uint32_t j = 0; j < shapes[i].each; j++, at++)
			ck_assert_uint_eq(((uint8_t *)iov[k].iov_base)[j], pattern(at));
	memset(mem, 0xee, AREA);
	ck_assert_int_eq(umem_writev(u, addr, iov, shapes[i].n), 0);
	for (uint32_t j = 0; j < AREA; j++) {
		bool in = j >= shapes[i].at && j < at;

		ck_assert_uint_eq(mem[j], in ? pattern(j) : 0xee);
	}
}

START_TEST(umem_moves_pieces_of_any_shape)
{
	struct umem *u = memory_of(getpid());
	uint8_t *mem = area(), *buf = area();

	ck_assert_int_eq(u->pid, getpid());
	shape_check(u, mem, buf, _i);
	u->pid = 0; /* and without process_vm_readv */
	shape_check(u, mem, buf, _i);
	munmap(mem, AREA + 4096);
	munmap(buf, AREA + 4096);
	umem_put(u);
}
END_TEST

START_TEST(umem_large_read_faults_where_a_mapping_ends)
{
	struct umem *u = memory_of(getpid());
	uint8_t *mem = area(), *buf = area();
	struct iovec iov[16];

	munmap(mem + 32768, AREA + 4096 - 32768);
	pieces_make(iov, 16, buf, 4096);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, iov, 8), 0);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem + 1, iov, 8), -EFAULT);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, iov, 16), -EFAULT);
	ck_assert_int_eq(umem_writev(u, (uint64_t)(uintptr_t)mem, iov, 16), -EFAULT);
	munmap(mem, 32768);
	munmap(buf, AREA + 4096);
	umem_put(u);
}
END_TEST

START_TEST(umem_knows_a_pid_only_from_our_own_proc)
{
	static const char *const no[] = {
		"/proc/self/mem", "/proc/12/maps",	  "mem", "/mem", "12/mem",
		"/proc/x12/mem",  "/proc/12345678901/mem"};
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", getpid());
	ck_assert_int_eq(umem_pid_of(mem, path), getpid());
	ck_assert_int_eq(umem_pid_of(other, path), 0);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_int_eq(umem_pid_of(mem, no[i]), 0);
	close(mem);
	close(other);
}
END_TEST

/* What the child did, byte by byte: the pipe tells, and is what it waits for. */
struct child {
	int pid, out[2], in[2];
};

static void child_begin(struct child *c)
{
	ck_assert_int_eq(pipe(c->out), 0);
	ck_assert_int_eq(pipe(c->in), 0);
	c->pid = fork();
	if (!c->pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void child_say(const struct child *c)
{
	if (write(c->out[1], "x", 1) != 1)
		_exit(1);
}

static void child_hear(const struct child *c)
{
	char byte;

	if (read(c->in[0], &byte, 1) != 1)
		_exit(1);
}

static void parent_hear(const struct child *c)
{
	char byte;

	ck_assert_int_eq(read(c->out[0], &byte, 1), 1);
}

static void child_end(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->out[0]);
	close(c->out[1]);
	close(c->in[0]);
	close(c->in[1]);
}

/* Where the process has 64 KiB that can be read: its stack's end. */
static uint64_t stack_of(int pid)
{
	char path[32], line[256];
	unsigned long begin, end, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
			found = end - 65536;
	fclose(f);
	return found;
}

/* The pid is that of a program with memory there, which process_vm_readv would read. */
START_TEST(umem_large_read_after_exec_gives_nothing)
{
	static uint8_t buf[65536], before[65536];
	struct iovec iov = {buf, sizeof(buf)};
	struct umem *u;
	struct child c;

	child_begin(&c);
	if (!c.pid) {
		child_say(&c);
		child_hear(&c);
		dup2(c.out[1], 1);
		dup2(c.in[0], 0);
		execl("/bin/sh", "sh", "-c", "echo; read x", NULL);
		_exit(1);
	}
	parent_hear(&c);
	u = memory_of(c.pid);
	ck_assert_int_eq(u->pid, c.pid);
	ck_assert_int_eq(umem_readv(u, stack_of(c.pid), &iov, 1), 0);
	ck_assert_int_eq(write(c.in[1], "x", 1), 1);
	parent_hear(&c); /* the shell runs: exec is over */
	ck_assert_int_eq(umem_readv(u, stack_of(c.pid), &iov, 1), -ESRCH);
	umem_process_left(u);
	memset(buf, 0x5a, sizeof(buf));
	memcpy(before, buf, sizeof(buf));
	ck_assert_int_eq(umem_readv(u, stack_of(c.pid), &iov, 1), -ESRCH);
	ck_assert_mem_eq(buf, before, sizeof(buf));
	umem_put(u);
	child_end(&c);
}
END_TEST

START_TEST(umem_large_read_does_without_the_pid)
{
	static uint8_t buf[65536];
	struct umem *u = memory_of(getpid());
	uint8_t *mem = area();
	struct iovec iov = {buf, sizeof(buf)};
	struct child c;

	child_begin(&c);
	if (!c.pid)
		_exit(0);
	waitpid(c.pid, NULL, 0);
	u->pid = c.pid; /* of nobody */
	memset(mem, 0x77, AREA);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, &iov, 1), 0);
	ck_assert_mem_eq(buf, mem, sizeof(buf));
	ck_assert_int_eq(u->pid, 0);
	munmap(mem, AREA + 4096);
	umem_put(u);
	child_end(&c);
}
END_TEST

/* As with ptrace_scope 1: whoever may not look into the process still has what it was passed. */
static int read_refused(void)
{
	static uint8_t buf[65536];
	uint8_t *mem = area();
	struct iovec iov = {buf, sizeof(buf)};
	struct umem *u;
	struct child c;

	memset(mem, 0x33, AREA);
	child_begin(&c);
	if (!c.pid) {
		prctl(PR_SET_DUMPABLE, 1);
		child_say(&c);
		child_hear(&c);
		prctl(PR_SET_DUMPABLE, 0);
		child_say(&c);
		child_hear(&c);
		_exit(0);
	}
	parent_hear(&c);
	u = memory_of(c.pid);
	ck_assert_int_eq(u->pid, c.pid);
	ck_assert_int_eq(write(c.in[1], "x", 1), 1);
	parent_hear(&c);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, &iov, 1), 0);
	ck_assert_mem_eq(buf, mem, sizeof(buf));
	ck_assert_int_eq(u->pid, 0);
	umem_put(u);
	child_end(&c);
	return 0;
}

START_TEST(umem_large_read_does_without_permission)
{
	struct __user_cap_header_struct self = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	int status, pid = fork();

	if (!pid) {
		if (syscall(SYS_capset, &self, none))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1);
		_exit(read_refused());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

TCase *kernel_bulk_tcase(void)
{
	TCase *tc = tcase_create("bulk");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, umem_moves_pieces_of_any_shape, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tc, umem_large_read_faults_where_a_mapping_ends);
	tcase_add_test(tc, umem_knows_a_pid_only_from_our_own_proc);
	tcase_add_test(tc, umem_large_read_after_exec_gives_nothing);
	tcase_add_test(tc, umem_large_read_does_without_the_pid);
	tcase_add_test(tc, umem_large_read_does_without_permission);
	return tc;
}
