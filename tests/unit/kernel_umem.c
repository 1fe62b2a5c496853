/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The capability to a process's memory: what it reaches, what it refuses, what may wait. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "tests/abi/older.h"
#include "verbs/kernel/umem_priv.h"
#include "verbs/kernel/umem_slow.h"

static struct umem *own_memory(bool slow)
{
	struct umem *u;

	ck_assert_int_eq(umem_create(open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				     open("/proc/self/maps", O_RDONLY | O_CLOEXEC), slow, &u),
			 0);
	return u;
}

static int check(struct umem *u, uint64_t addr, uint64_t len, bool write, bool *slow)
{
	uint32_t looks = UINT32_MAX;

	return umem_check(u, addr, len, write, &looks, slow);
}

START_TEST(umem_refuses_what_is_no_proc_self_mem)
{
	struct umem *u;

	ck_assert_int_eq(umem_create(open("/dev/zero", O_RDWR), open("/proc/self/maps", O_RDONLY),
				     false, &u),
			 -EINVAL);
	ck_assert_int_eq(
		umem_create(memfd_create("mem", 0), open("/proc/self/maps", O_RDONLY), false, &u),
		-EINVAL);
	ck_assert_int_eq(umem_create(open("/proc/self/mem", O_RDONLY),
				     open("/proc/self/maps", O_RDONLY), false, &u),
			 -EINVAL);
	ck_assert_int_eq(umem_create(open("/proc/self/mem", O_RDWR),
				     open("/proc/self/status", O_RDONLY), false, &u),
			 -EINVAL);
	ck_assert_int_eq(umem_create(-1, -1, false, &u), -EINVAL);
}
END_TEST

START_TEST(umem_check_follows_the_mappings)
{
	struct umem *u = own_memory(false);
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t a = (uint64_t)(uintptr_t)p;
	bool slow;

	if (_i)
		ck_assert_int_eq(older_kernel(), 0);
	ck_assert_int_eq(check(u, a, 3 * 4096, true, &slow), 0);
	ck_assert(!slow);
	mprotect(p + 4096, 4096, PROT_READ);
	ck_assert_int_eq(check(u, a, 3 * 4096, false, &slow), 0);
	ck_assert_int_eq(check(u, a, 3 * 4096, true, &slow), -EFAULT);
	ck_assert_int_eq(check(u, a + 2 * 4096, 4096, true, &slow), 0);
	mprotect(p + 4096, 4096, PROT_NONE);
	ck_assert_int_eq(check(u, a, 3 * 4096, false, &slow), -EFAULT);
	munmap(p + 4096, 4096);
	ck_assert_int_eq(check(u, a, 4097, false, &slow), -EFAULT);
	ck_assert_int_eq(check(u, a, 4096, true, &slow), 0);
	ck_assert_int_eq(check(u, a, 0, true, &slow), 0);
	ck_assert_int_eq(check(u, UINT64_MAX - 10, 100, false, &slow), -EFAULT);
	umem_put(u);
}
END_TEST

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifndef __SANITIZE_ADDRESS__ /* whose shadow does not cover a terabyte */
START_TEST(umem_check_of_a_huge_length_is_quick)
{
	struct umem *u = own_memory(false);
	size_t len = 1ull << 40;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t begin = umem_clock();
	bool slow;

	ck_assert_ptr_ne(p, MAP_FAILED);
	ck_assert_int_eq(check(u, (uint64_t)(uintptr_t)p, len, true, &slow), 0);
	ck_assert_uint_lt(umem_clock() - begin, 1000000000);
	munmap(p, len);
	umem_put(u);
}
END_TEST
#endif

START_TEST(umem_reads_and_writes_scattered)
{
	struct umem *u = own_memory(false);
	char mem[] = "abcdefghij", x[4] = "", y[8] = "";
	struct iovec iov[2] = {{x, 3}, {y, 7}};

	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, iov, 2), 0);
	ck_assert_mem_eq(x, "abc", 3);
	ck_assert_mem_eq(y, "defghij", 7);
	memcpy(x, "XYZ", 3);
	ck_assert_int_eq(umem_writev(u, (uint64_t)(uintptr_t)mem, iov, 2), 0);
	ck_assert_str_eq(mem, "XYZdefghij");
	ck_assert_int_eq(umem_readv(u, 16, iov, 2), -EFAULT);
	ck_assert_int_eq(umem_readv(u, UINT64_MAX - 2, iov, 2), -EFAULT);
	umem_put(u);
}
END_TEST

START_TEST(umem_faults_where_a_mapping_ends)
{
	struct umem *u = own_memory(false);
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buf[64];
	struct iovec iov[2] = {{buf, 32}, {buf + 32, 32}};

	munmap(p + 4096, 4096);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)p + 4096 - 40, iov, 2), -EFAULT);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)p + 4096 - 64, iov, 2), 0);
	umem_put(u);
	munmap(p, 4096);
}
END_TEST

START_TEST(umem_atomics_give_the_value_before)
{
	struct umem *u = own_memory(false);
	uint64_t v = 5, orig, at = (uint64_t)(uintptr_t)&v;

	ck_assert_int_eq(umem_atomic(u, at, RNIC_ATOMIC_FETCH_ADD, 7, 0, &orig), 0);
	ck_assert_uint_eq(orig, 5);
	ck_assert_uint_eq(v, 12);
	ck_assert_int_eq(umem_atomic(u, at, RNIC_ATOMIC_CMP_SWAP, 99, 11, &orig), 0);
	ck_assert_uint_eq(v, 12);
	ck_assert_int_eq(umem_atomic(u, at, RNIC_ATOMIC_CMP_SWAP, 99, 12, &orig), 0);
	ck_assert_uint_eq(v, 99);
	umem_put(u);
}
END_TEST

/* The child passes its memory, then becomes another program: nothing may be reached any more. */
START_TEST(umem_ends_with_exec)
{
	static char secret[16] = "before exec";
	int sv[2], ready[2], pid, status, fds[2];
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(fds))];
	} u;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = u.buf,
			     .msg_controllen = sizeof(u.buf)};
	struct umem *um, *paged;
	char buf[12];
	struct iovec dst = {buf, sizeof(buf)};

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int out[2] = {open("/proc/self/mem", O_RDWR | O_CLOEXEC),
			      open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};

		memset(&u, 0, sizeof(u));
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
							.cmsg_type = SCM_RIGHTS,
							.cmsg_len = CMSG_LEN(sizeof(out))};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), out, sizeof(out));
		if (sendmsg(sv[1], &msg, 0) < 0 || read(sv[1], &byte, 1) < 0)
			_exit(1);
		dup2(ready[1], 1);
		execl("/bin/sh", "sh", "-c", "echo; exec cat >/dev/null", NULL);
		_exit(1);
	}
	ck_assert_int_eq(recvmsg(sv[0], &msg, 0), 1);
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fds));
	ck_assert_int_eq(umem_create(fds[0], fds[1], false, &um), 0);
	ck_assert_int_eq(umem_readv(um, (uint64_t)(uintptr_t)secret, &dst, 1), 0);
	ck_assert_mem_eq(buf, secret, sizeof(buf));
	ck_assert_int_eq(write(sv[0], "x", 1), 1);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1); /* the shell runs: exec is over */
	ck_assert_int_eq(umem_readv(um, (uint64_t)(uintptr_t)secret, &dst, 1), -ESRCH);
	ck_assert_int_eq(umem_writev(um, (uint64_t)(uintptr_t)secret, &dst, 1), -ESRCH);
	paged = umem_paged(um);
	ck_assert_int_eq(umem_readv(paged, (uint64_t)(uintptr_t)secret, &dst, 1), -ESRCH);
	umem_put(paged);
	umem_put(um);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(sv[0]);
	close(sv[1]);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

static void count_ready(void *arg, struct umem *u)
{
	(void)u;
	++*(int *)arg;
}

static void wait_ready(void)
{
	struct pollfd p = {.fd = umem_slow_fd(), .events = POLLIN};

	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	umem_slow_ready();
}

START_TEST(umem_slow_access_is_pending_then_done)
{
	struct umem *u = own_memory(true);
	char mem[] = "hello", buf[6] = "";
	struct iovec iov = {buf, 5};
	int ready = 0;

	umem_on_ready(u, count_ready, &ready);
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, &iov, 1), -EINPROGRESS);
	while (!ready)
		wait_ready();
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, &iov, 1), 0);
	ck_assert_str_eq(buf, "hello");
	/* A new operation reads anew. */
	umem_operation_begin();
	mem[0] = 'j';
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, &iov, 1), -EINPROGRESS);
	ready = 0;
	while (!ready)
		wait_ready();
	ck_assert_int_eq(umem_readv(u, (uint64_t)(uintptr_t)mem, &iov, 1), 0);
	ck_assert_str_eq(buf, "jello");
	umem_put(u);
}
END_TEST

START_TEST(umem_slow_operation_of_many_accesses_ends)
{
	struct umem *u = own_memory(true);
	char mem[32], buf[32] = "";
	int ready = 0, tries = 0, done;

	for (int i = 0; i < 32; i++)
		mem[i] = (char)('a' + i % 26);
	umem_on_ready(u, count_ready, &ready);
	do {
		umem_operation_begin();
		for (done = 0; done < 32; done++) {
			struct iovec iov = {buf + done, 1};

			if (umem_readv(u, (uint64_t)(uintptr_t)(mem + done), &iov, 1))
				break;
		}
		ready = 0;
		while (done < 32 && !ready)
			wait_ready();
	} while (done < 32 && ++tries < 40);
	ck_assert_int_eq(done, 32);
	ck_assert_mem_eq(buf, mem, 32);
	umem_put(u);
}
END_TEST

START_TEST(umem_slow_atomic_is_applied_once)
{
	struct umem *u = own_memory(true);
	uint64_t v = 1, orig;
	int ready = 0;

	umem_on_ready(u, count_ready, &ready);
	ck_assert_int_eq(
		umem_atomic(u, (uint64_t)(uintptr_t)&v, RNIC_ATOMIC_FETCH_ADD, 4, 0, &orig),
		-EINPROGRESS);
	while (!ready)
		wait_ready();
	ck_assert_int_eq(
		umem_atomic(u, (uint64_t)(uintptr_t)&v, RNIC_ATOMIC_FETCH_ADD, 4, 0, &orig), 0);
	ck_assert_uint_eq(orig, 1);
	ck_assert_uint_eq(v, 5);
	umem_put(u);
}
END_TEST

/* The ring of aio is a mapping of the process, of a file system that nobody can know. */
START_TEST(mapping_that_may_sleep_makes_the_memory_slow)
{
	struct umem *u = own_memory(false);
	unsigned long ring = 0;
	bool slow;

	if (syscall(SYS_io_setup, 1, &ring)) {
		umem_put(u);
		return; /* a kernel without it */
	}
	if (_i)
		ck_assert_int_eq(older_kernel(), 0);
	ck_assert_int_eq(check(u, (uintptr_t)&ring, 8, true, &slow), 0);
	ck_assert(!slow && !u->slow);
	ck_assert_int_eq(check(u, ring, 32, true, &slow), 0);
	ck_assert(slow && u->slow);
	umem_put(u);
}
END_TEST

/* ---- many mappings ---- */

#define MANY (UMEM_LOOKS + 88)

/* So many mappings of a page, one behind the other, and one more page that is like the last. */
static char *many_mappings(void)
{
	char *p = mmap(NULL, (MANY + 1) * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	for (int i = 1; i < MANY; i += 2)
		ck_assert_int_eq(mprotect(p + i * 4096, 4096, PROT_READ | PROT_WRITE), 0);
	ck_assert_int_eq(mprotect(p + MANY * 4096, 4096, PROT_READ | PROT_WRITE), 0);
	return p;
}

static int check_at_last(struct umem *u, const char *p, size_t len, int *ready)
{
	uint32_t looks = UMEM_LOOKS;
	bool slow;
	int rc = umem_check(u, (uintptr_t)p, len, false, &looks, &slow);

	ck_assert_int_eq(rc, -EINPROGRESS);
	ck_assert_uint_eq(looks, 0);
	while (rc == -EINPROGRESS) {
		for (*ready = 0; !*ready;)
			wait_ready();
		rc = umem_check(u, (uintptr_t)p, len, false, &looks, &slow);
	}
	umem_operation_begin();
	return rc;
}

START_TEST(check_of_many_mappings_is_for_the_helper)
{
	struct umem *u = own_memory(false);
	char *p = many_mappings();
	int ready;

	if (_i)
		ck_assert_int_eq(older_kernel(), 0);
	umem_on_ready(u, count_ready, &ready);
	ck_assert_int_eq(check_at_last(u, p, MANY * 4096, &ready), 0);
	ck_assert_int_eq(mprotect(p + (MANY - 1) * 4096, 4096, PROT_NONE), 0);
	ck_assert_int_eq(check_at_last(u, p, MANY * 4096, &ready), -EFAULT);
	ck_assert(!u->slow);
	umem_put(u);
}
END_TEST

static int word_rw(struct umem *u, bool write, const void *at)
{
	uint64_t word = 7;
	struct iovec iov = {&word, sizeof(word)};

	return write ? umem_writev(u, (uint64_t)(uintptr_t)at, &iov, 1)
		     : umem_readv(u, (uint64_t)(uintptr_t)at, &iov, 1);
}

/* The descriptor alone would write to what is read-only, and read what is closed. */
START_TEST(paged_memory_is_what_its_mappings_are_now)
{
	struct umem *base = own_memory(_i % 2), *u = umem_paged(base);
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t orig;
	int ready = 0;

	if (_i / 2)
		ck_assert_int_eq(older_kernel(), 0);
	ck_assert_ptr_eq(umem_base(u), base);
	ck_assert_ptr_eq(umem_base(base), base);
	ck_assert_ptr_eq(umem_paged(base), u);
	umem_put(u);
	umem_put(base); /* the view keeps it */
	umem_on_ready(u, count_ready, &ready);
	mprotect(p, 4096, PROT_READ);
	ck_assert_int_eq(word_rw(u, true, p), -EFAULT);
	ck_assert_int_eq(umem_atomic(u, (uint64_t)(uintptr_t)p, RNIC_ATOMIC_FETCH_ADD, 1, 0, &orig),
			 -EFAULT);
	mprotect(p, 4096, PROT_NONE);
	ck_assert_int_eq(word_rw(u, false, p), -EFAULT);
	munmap(p, 4096);
	ck_assert_int_eq(word_rw(u, false, p), -EFAULT);
	ck_assert_ptr_eq(mmap(p, 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 p);
	while (word_rw(u, true, p) == -EINPROGRESS) {
		ready = 0;
		while (!ready)
			wait_ready();
	}
	ck_assert_uint_eq(p[0], 7);
	munmap(p, 4096);
	umem_put(u);
}
END_TEST

static int word_at_last(struct umem *u, bool write, const void *at, int *ready)
{
	int rc = word_rw(u, write, at);

	ck_assert_int_eq(rc, -EINPROGRESS);
	while (rc == -EINPROGRESS) {
		for (*ready = 0; !*ready;)
			wait_ready();
		rc = word_rw(u, write, at);
	}
	umem_operation_begin();
	return rc;
}

/* An older kernel tells of a mapping only after all below it. */
START_TEST(paged_memory_behind_many_mappings_is_for_the_helper)
{
	struct umem *base = own_memory(false), *u = umem_paged(base);
	char *p = many_mappings(), *last = p + MANY * 4096;
	int ready;

	ck_assert_int_eq(older_kernel(), 0);
	umem_on_ready(u, count_ready, &ready);
	ck_assert_int_eq(word_at_last(u, true, last, &ready), 0);
	ck_assert_uint_eq(last[0], 7);
	ck_assert_int_eq(mprotect(last, 4096, PROT_READ), 0);
	ck_assert_int_eq(word_at_last(u, true, last, &ready), -EFAULT);
	ck_assert_int_eq(word_at_last(u, false, last, &ready), 0);
	ck_assert_int_eq(munmap(last, 4096), 0);
	ck_assert_int_eq(word_at_last(u, false, last, &ready), -EFAULT);
	ck_assert_ptr_eq(mmap(last, 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 last);
	ck_assert_int_eq(word_at_last(u, true, last, &ready), 0);
	/* One more that finds that they have gone; then they are asked here. */
	ck_assert_int_eq(munmap(p, MANY * 4096), 0);
	ck_assert_int_eq(word_at_last(u, true, last, &ready), 0);
	ck_assert_int_eq(word_rw(u, true, last), 0);
	umem_put(u);
	umem_put(base);
}
END_TEST

TCase *kernel_umem_tcase(void)
{
	TCase *tc = tcase_create("umem");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, umem_refuses_what_is_no_proc_self_mem);
	tcase_add_loop_test(tc, umem_check_follows_the_mappings, 0, 2);
	tcase_add_loop_test(tc, mapping_that_may_sleep_makes_the_memory_slow, 0, 2);
	tcase_add_loop_test(tc, check_of_many_mappings_is_for_the_helper, 0, 2);
#ifndef __SANITIZE_ADDRESS__
	tcase_add_test(tc, umem_check_of_a_huge_length_is_quick);
#endif
	tcase_add_test(tc, umem_reads_and_writes_scattered);
	tcase_add_test(tc, umem_faults_where_a_mapping_ends);
	tcase_add_test(tc, umem_atomics_give_the_value_before);
	tcase_add_test(tc, umem_ends_with_exec);
	tcase_add_test(tc, umem_slow_access_is_pending_then_done);
	tcase_add_test(tc, umem_slow_operation_of_many_accesses_ends);
	tcase_add_test(tc, umem_slow_atomic_is_applied_once);
	tcase_add_loop_test(tc, paged_memory_is_what_its_mappings_are_now, 0, 4);
	tcase_add_test(tc, paged_memory_behind_many_mappings_is_for_the_helper);
	return tc;
}
