/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client whose commands lie, for some seconds.
 *
 *     liar write|ioctl|ucma SECONDS SEED
 */
#include "liar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw.h"
#include "rig.h"

#define ARENA (1u << 20)
#define LIFE 3000 /* commands of one open device */
#define DESCRIPTORS 64
#define DONE_PART 50 /* some 6 to 10 of 100 are carried out */

uint64_t liar_done;

static uint64_t state;
static uint8_t *arena;

uint64_t liar_rnd64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void begin(uint64_t seed)
{
	state = seed * 2654435761u | 1;
	arena = mmap(NULL, 2 * ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(arena != MAP_FAILED);
	MUST(!mprotect(arena, ARENA, PROT_READ | PROT_WRITE));
}

uint32_t liar_rnd(uint32_t below)
{
	return (uint32_t)(liar_rnd64() >> 32) % below;
}

bool liar_now(uint32_t of)
{
	return !liar_rnd(of);
}

void *liar_memory(void)
{
	return arena + (liar_rnd(ARENA - LIAR_ROOM) & ~7u);
}

uint64_t liar_address(void)
{
	switch (liar_rnd(24)) {
	case 0:
		return liar_rnd(4096);
	case 1:
		return UINT64_MAX - liar_rnd(100);
	case 2:
		return (uintptr_t)arena + ARENA - liar_rnd(64);
	default:
		return (uintptr_t)arena + (liar_rnd(ARENA - 65536) & ~7u);
	}
}

uint64_t liar_value(void)
{
	switch (liar_rnd(6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return 1ull << liar_rnd(64);
	case 3:
		return liar_rnd(64);
	case 4:
		return liar_address();
	default:
		return liar_rnd64();
	}
}

uint32_t liar_handle(void)
{
	return liar_now(40) ? (uint32_t)liar_value() : liar_rnd(liar_now(3) ? 64 : 12);
}

uint32_t liar_object(enum liar_kind kind)
{
	(void)kind; /* it does not know which are whose */
	return liar_handle();
}

int32_t liar_fd(void)
{
	return liar_now(3) ? (int32_t)liar_value() : (int32_t)liar_rnd(DESCRIPTORS) - 1;
}

int64_t liar_write(int fd, const void *data, size_t len)
{
	ssize_t n = write(fd, data, len);

	return n < 0 ? -errno : n;
}

int liar_ioctl(int fd, uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n)
{
	return raw_ioctl(fd, object, method, attrs, n);
}

void liar_close(int from)
{
	close_range((unsigned int)from, ~0u, 0);
}

/* ---- one after the other ---- */

static void device_lives(const char *kind)
{
	int device = raw_open();

	for (uint32_t i = 0; i < LIFE; i++) {
		liar_uverbs(device, !strcmp(kind, "ioctl"));
		if (i % 500 == 0)
			liar_close(device + 8);
	}
	liar_close(device);
}

static void channel_lives(void)
{
	int channel = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	MUST(channel >= 0);
	for (uint32_t i = 0; i < LIFE; i++)
		liar_ucma(channel);
	liar_close(channel);
}

int main(int argc, char **argv)
{
	uint64_t end, lives = 0;

	MUST(argc == 4);
	begin(strtoull(argv[3], NULL, 0));
	end = rig_now() + strtoull(argv[2], NULL, 0) * 1000000000;
	do {
		if (!strcmp(argv[1], "ucma"))
			channel_lives();
		else
			device_lives(argv[1]);
		lives++;
	} while (rig_now() < end);
	MUST(liar_done >= lives * LIFE / DONE_PART); /* else it has tried nothing */
	printf("%llu of %llu commands were carried out\n", (unsigned long long)liar_done,
	       (unsigned long long)lives * LIFE);
	return 0;
}
