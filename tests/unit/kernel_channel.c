/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Event descriptors: nothing is lost, and a destroyed object's unread events are taken out. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "verbs/kernel/context.h"
#include "verbs/kernel/ucma.h"

static struct rig rig;
static struct context *ctx;
static struct channel *ch;
static int ctx_fd, ch_fd;

static void setup(void)
{
	rig_start(&rig);
	ck_assert_int_eq(context_open(rig.kernel, &rig.dev, &ctx, &ctx_fd), 0);
	ck_assert_int_eq(channel_create(ctx, 8, &ch, &ch_fd), 0);
	fcntl(ch_fd, F_SETFL, O_NONBLOCK);
}

static void teardown(void)
{
	channel_put(ch);
	close(ch_fd);
	close(ctx_fd);
	rig_stop(&rig);
}

struct reading {
	uint64_t next, end;
};

static bool read_all(struct rig *r, void *arg)
{
	struct reading *rd = arg;
	uint64_t record;

	(void)r;
	while (read(ch_fd, &record, sizeof(record)) == sizeof(record))
		ck_assert_uint_eq(record, rd->next++);
	return rd->next == rd->end;
}

START_TEST(channel_loses_none_of_5000_events)
{
	struct reading rd = {.end = 5000};

	for (uint64_t i = 0; i < 5000; i++)
		ck_assert_int_eq(channel_post(ch, &i, (void *)(uintptr_t)(1 + i)), 0);
	ck_assert(rig_until(&rig, read_all, &rd));
	for (uint64_t i = 0; i < 5000; i++)
		ck_assert_uint_eq(channel_forget(ch, (void *)(uintptr_t)(1 + i)), 1);
}
END_TEST

START_TEST(channel_forgets_unread_events_of_one_owner)
{
	int a, b;
	uint64_t record;

	for (uint64_t i = 0; i < 6; i++)
		channel_post(ch, &i, i % 2 ? (void *)&a : (void *)&b);
	ck_assert_int_eq(read(ch_fd, &record, 8), 8); /* 0: b's */
	ck_assert_int_eq(read(ch_fd, &record, 8), 8); /* 1: a's */
	ck_assert_uint_eq(channel_forget(ch, &a), 1);
	ck_assert_int_eq(read(ch_fd, &record, 8), 8);
	ck_assert_uint_eq(record, 2);
	ck_assert_int_eq(read(ch_fd, &record, 8), 8);
	ck_assert_uint_eq(record, 4);
	ck_assert_int_eq(read(ch_fd, &record, 8), -1);
	ck_assert_uint_eq(channel_forget(ch, &b), 3);
	ck_assert_uint_eq(channel_forget(ch, &b), 0);
}
END_TEST

START_TEST(channel_forgets_what_waits_in_its_queue)
{
	int a, b;
	uint64_t i, record, seen = 0;

	for (i = 0; i < 3000; i++)
		channel_post(ch, &i, i % 3 ? (void *)&a : (void *)&b);
	ck_assert_uint_eq(channel_forget(ch, &a), 0);
	for (i = 0; read(ch_fd, &record, 8) == 8 || rig_until(&rig, rig_no_contexts, NULL); i++) {
		ck_assert_uint_eq(record % 3, 0);
		if (++seen == 1000)
			break;
		ev_run(rig.kernel->cfg.loop, EVRUN_NOWAIT);
	}
	ck_assert_uint_eq(seen, 1000);
	ck_assert_uint_eq(channel_forget(ch, &b), 1000);
}
END_TEST

START_TEST(channel_is_readable_like_the_kernels)
{
	struct pollfd p = {.fd = ch_fd, .events = POLLIN};
	uint64_t record = 7;
	char big[64];

	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_assert_int_eq(read(ch_fd, &record, 8), -1);
	ck_assert_int_eq(errno, EAGAIN);
	channel_post(ch, &record, &rig);
	channel_post(ch, &record, &rig);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert_int_eq(read(ch_fd, big, sizeof(big)), 8);
}
END_TEST

static bool client_is_gone(struct rig *r, void *arg)
{
	(void)r;
	(void)arg;
	return channel_client_gone(ch);
}

/* Nobody needs to say so, and what nobody can read costs no descriptor. */
START_TEST(channel_notices_that_its_last_descriptor_is_closed)
{
	int other = dup(ch_fd), lowest = dup(0);
	uint64_t record = 1;

	close(lowest);
	ck_assert_int_eq(channel_post(ch, &record, &rig), 0);
	close(ch_fd);
	ev_run(rig.kernel->cfg.loop, EVRUN_NOWAIT);
	ck_assert(!channel_client_gone(ch));
	ck_assert_int_eq(read(other, &record, sizeof(record)), 8);
	close(other);
	ck_assert(rig_until(&rig, client_is_gone, NULL));
	ch_fd = dup(0);
	ck_assert_int_lt(ch_fd, lowest);
	other = dup(0);
	ck_assert_int_lt(other, lowest);
	close(other);
}
END_TEST

START_TEST(channel_outlives_a_client_that_closed_it)
{
	uint64_t record = 1;

	close(ch_fd);
	ck_assert(rig_until(&rig, client_is_gone, NULL));
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(channel_post(ch, &record, &rig), 0);
	channel_forget(ch, &rig);
	ch_fd = open("/dev/null", O_RDONLY);
}
END_TEST

/* As on a FUSE file system, whose owner chooses the inode numbers. */
START_TEST(file_with_a_channels_inode_number_is_none)
{
	const struct ucma_opener who = {.session = 1, .uid = getuid(), .pid = 1};
	struct ucma_file *file;
	struct stat st;
	int fd;

	ck_assert_int_eq(fstat(ch_fd, &st), 0);
	ck_assert_ptr_eq(channel_find_inode(st.st_dev, st.st_ino), ch);
	ck_assert_ptr_null(channel_find_inode(st.st_dev + 1, st.st_ino));
	ck_assert_int_eq(ucma_open(rig.kernel, &who, &file, &fd), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_ptr_eq(ucma_find_inode(rig.kernel, st.st_dev, st.st_ino), file);
	ck_assert_ptr_null(ucma_find_inode(rig.kernel, st.st_dev + 1, st.st_ino));
	close(fd);
}
END_TEST

TCase *kernel_channel_tcase(void)
{
	TCase *tc = tcase_create("channel");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, channel_loses_none_of_5000_events);
	tcase_add_test(tc, channel_forgets_unread_events_of_one_owner);
	tcase_add_test(tc, channel_forgets_what_waits_in_its_queue);
	tcase_add_test(tc, channel_is_readable_like_the_kernels);
	tcase_add_test(tc, channel_notices_that_its_last_descriptor_is_closed);
	tcase_add_test(tc, channel_outlives_a_client_that_closed_it);
	tcase_add_test(tc, file_with_a_channels_inode_number_is_none);
	return tc;
}
