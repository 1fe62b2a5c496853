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
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_suites.h"
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

	ck_assert_int_eq(umem_check(u, a, 3 * 4096, true, &slow), 0);
	ck_assert(!slow);
	mprotect(p + 4096, 4096, PROT_READ);
	ck_assert_int_eq(umem_check(u, a, 3 * 4096, false, &slow), 0);
	ck_assert_int_eq(umem_check(u, a, 3 * 4096, true, &slow), -EFAULT);
	ck_assert_int_eq(umem_check(u, a + 2 * 4096, 4096, true, &slow), 0);
	mprotect(p + 4096, 4096, PROT_NONE);
	ck_assert_int_eq(umem_check(u, a, 3 * 4096, false, &slow), -EFAULT);
	munmap(p + 4096, 4096);
	ck_assert_int_eq(umem_check(u, a, 4097, false, &slow), -EFAULT);
	ck_assert_int_eq(umem_check(u, a, 4096, true, &slow), 0);
	ck_assert_int_eq(umem_check(u, a, 0, true, &slow), 0);
	ck_assert_int_eq(umem_check(u, UINT64_MAX - 10, 100, false, &slow), -EFAULT);
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
	ck_assert_int_eq(umem_check(u, (uint64_t)(uintptr_t)p, len, true, &slow), 0);
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
	struct umem *base = own_memory(_i), *u = umem_paged(base);
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t orig;
	int ready = 0;

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

TCase *kernel_umem_tcase(void)
{
	TCase *tc = tcase_create("umem");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, umem_refuses_what_is_no_proc_self_mem);
	tcase_add_test(tc, umem_check_follows_the_mappings);
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
	tcase_add_loop_test(tc, paged_memory_is_what_its_mappings_are_now, 0, 2);
	return tc;
}
