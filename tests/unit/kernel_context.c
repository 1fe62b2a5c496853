/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Contexts live as long as somebody has their memfd, and not longer; rings are theirs alone. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "verbs/kernel/context_priv.h"

static struct rig rig;
static struct context *ctx;
static int fd;

static void setup(void)
{
	rig_start(&rig);
	ck_assert_int_eq(context_open(rig.kernel, &rig.dev, &ctx, &fd), 0);
}

static void teardown(void)
{
	rig_stop(&rig);
}

static void loop_some(void)
{
	for (int i = 0; i < 10; i++)
		ev_run(rig.kernel->cfg.loop, EVRUN_NOWAIT);
}

START_TEST(context_ends_with_its_last_descriptor)
{
	int copy = dup(fd);

	close(fd);
	loop_some();
	ck_assert_uint_eq(kernel_contexts(rig.kernel), 1);
	syscall(SYS_close, copy);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

/* The kernel tells of the close first, and lets go of the file then. */
START_TEST(context_ends_though_its_close_was_told_early)
{
	char path[64], event[4096];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR);
	close(again);
	loop_some();
	ck_assert_uint_eq(kernel_contexts(rig.kernel), 1);
	close(fd);
	ck_assert_int_gt(read(rig.kernel->inotify_fd, event, sizeof(event)), 0);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(context_lives_while_it_is_mapped)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	loop_some();
	ck_assert_uint_eq(kernel_contexts(rig.kernel), 1);
	munmap(p, 4096);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(context_outlives_the_process_that_opened_it)
{
	int go[2], pid, status;
	char byte;

	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) != 0);
	}
	close(go[0]);
	close(fd);
	loop_some();
	ck_assert_uint_eq(kernel_contexts(rig.kernel), 1);
	close(go[1]);
	waitpid(pid, &status, 0);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(context_lives_while_it_was_opened_again)
{
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR);
	ck_assert_int_ge(again, 0);
	close(fd);
	loop_some();
	ck_assert_uint_eq(kernel_contexts(rig.kernel), 1);
	close(again);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(memfd_cannot_be_resized_or_sealed_by_a_client)
{
	ck_assert_int_eq(ftruncate(fd, 4096), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ftruncate(fd, 1ll << 40), -1);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, 0x0010 /* FUTURE_WRITE */), -1);
	ck_assert_int_eq(errno, EPERM);
	close(fd);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

static void all_zeros(const struct ring_mem *ring)
{
	const char *bytes = ring->addr;

	for (uint64_t i = 0; i < ring->size; i++)
		ck_assert_int_eq(bytes[i], 0);
}

/* 1: of another user's client, whose ranges are not punched out. */
START_TEST(rings_are_zeroed_and_disjoint)
{
	struct ring_mem a, b, c;

	ctx->others = _i;
	ck_assert_int_eq(context_ring_alloc(ctx, 5000, &a), 0);
	ck_assert_int_eq(context_ring_alloc(ctx, 4096, &b), 0);
	ck_assert_uint_eq(a.size, 8192);
	ck_assert_uint_ge(a.offset, RNIC_DB_RINGS);
	ck_assert(a.offset + a.size <= b.offset || b.offset + b.size <= a.offset);
	memset(a.addr, 0xff, a.size);
	memset(b.addr, 0xff, b.size);
	context_ring_free(ctx, &a);
	ck_assert_int_eq(context_ring_alloc(ctx, 8192, &c), 0);
	all_zeros(&c);
	context_ring_free(ctx, &b);
	context_ring_free(ctx, &c);
	ck_assert_int_eq(context_ring_alloc(ctx, 32768, &c), 0); /* and where none was before */
	all_zeros(&c);
	context_ring_free(ctx, &c);
	close(fd);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(rings_have_a_limit)
{
	struct ring_mem a, b;

	ck_assert_int_eq(context_ring_alloc(ctx, 1ull << 40, &a), -ENOMEM);
	ck_assert_int_eq(context_ring_alloc(ctx, 0, &a), -ENOMEM);
	ck_assert_int_eq(context_ring_alloc(ctx, 1ull << 30, &a), 0);
	ck_assert_int_eq(context_ring_alloc(ctx, 4096, &b), -ENOMEM);
	context_ring_free(ctx, &a);
	close(fd);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(handles_are_lowest_first_and_by_kind)
{
	struct uobject *u, *v;
	int x;

	ck_assert_int_eq(uobject_add(ctx, UOBJ_PD, &x, 0, &u), 0);
	ck_assert_int_eq(uobject_add(ctx, UOBJ_CQ, &x, 0, &v), 0);
	ck_assert_uint_eq(u->handle, 0);
	ck_assert_ptr_null(uobject_get(ctx, UOBJ_CQ, u->handle));
	ck_assert_ptr_eq(uobject_get(ctx, UOBJ_CQ, v->handle), v);
	ck_assert_ptr_null(uobject_get(ctx, UOBJ_CQ, 1000000));
	uobject_remove(ctx, u);
	ck_assert_int_eq(uobject_add(ctx, UOBJ_QP, &x, 0, &u), 0);
	ck_assert_uint_eq(u->handle, 0);
	ck_assert_ptr_eq(uobject_next(ctx, UOBJ_CQ, 0), v);
	uobject_remove(ctx, u);
	uobject_remove(ctx, v);
	close(fd);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

TCase *kernel_context_tcase(void)
{
	TCase *tc = tcase_create("context");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, context_ends_with_its_last_descriptor);
	tcase_add_test(tc, context_ends_though_its_close_was_told_early);
	tcase_add_test(tc, context_lives_while_it_is_mapped);
	tcase_add_test(tc, context_outlives_the_process_that_opened_it);
	tcase_add_test(tc, context_lives_while_it_was_opened_again);
	tcase_add_test(tc, memfd_cannot_be_resized_or_sealed_by_a_client);
	tcase_add_loop_test(tc, rings_are_zeroed_and_disjoint, 0, 2);
	tcase_add_test(tc, rings_have_a_limit);
	tcase_add_test(tc, handles_are_lowest_first_and_by_kind);
	return tc;
}
