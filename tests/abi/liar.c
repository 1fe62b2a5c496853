/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client whose commands lie, for some seconds.
 *
 *     liar write|ioctl|ucma SECONDS SEED
 */
#include "liar.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "raw.h"

#define ARENA (1u << 20)
#define LIFE 3000 /* commands of one open device */
#define DESCRIPTORS 64

uint64_t liar_done;

static uint64_t state;
static uint8_t *arena;

static uint64_t rnd64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void liar_begin(uint64_t seed)
{
	state = seed * 2654435761u | 1;
	arena = mmap(NULL, 2 * ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(arena != MAP_FAILED);
	MUST(!mprotect(arena, ARENA, PROT_READ | PROT_WRITE));
}

uint32_t liar_rnd(uint32_t below)
{
	return (uint32_t)(rnd64() >> 32) % below;
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
		return rnd64();
	}
}

uint32_t liar_handle(void)
{
	return liar_now(40) ? (uint32_t)liar_value() : liar_rnd(liar_now(3) ? 64 : 12);
}

int32_t liar_fd(void)
{
	return liar_now(3) ? (int32_t)liar_value() : (int32_t)liar_rnd(DESCRIPTORS) - 1;
}

/* ---- fields ---- */

static void gid_put(uint8_t *to)
{
	static const uint8_t own[16] = {[10] = 0xff, 0xff, 127, [15] = 1};

	memcpy(to, own, sizeof(own));
	if (liar_now(6))
		to[15] = (uint8_t)liar_rnd(4);
	if (liar_now(20))
		to[liar_rnd(16)] = 0xff;
}

static void sockaddr_put(uint8_t *to, size_t len)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)(7000 + liar_rnd(6))),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	memset(to, 0, len);
	if (liar_now(10))
		a.sin_addr.s_addr = htonl(0xef010101); /* a group */
	if (liar_now(10))
		a.sin_addr.s_addr = 0;
	if (liar_now(20))
		a.sin_family = (sa_family_t)(liar_now(2) ? AF_INET6 : liar_rnd(40));
	memcpy(to, &a, sizeof(a));
}

static uint32_t word(char field)
{
	static const uint8_t types[] = {2, 2, 2, 3, 4, 4, 8, 9};
	static const uint16_t spaces[] = {0x106, 0x106, 0x111, 0x002, 0x13f};

	switch (field) {
	case 'h':
		return liar_handle();
	case 'n':
		return liar_now(12) ? (uint32_t)liar_value() : 1 + liar_rnd(32);
	case 'k':
		return liar_now(8) ? (uint32_t)liar_value()
				   : 0xf | (liar_now(3) ? liar_rnd(0x100) : 0);
	case 'f':
		return liar_rnd(8);
	case 'd':
		return (uint32_t)liar_fd();
	case 'z':
		return 0;
	case 'b':
		return liar_rnd(4) | liar_rnd(4) << 8 | liar_rnd(4) << 16 | liar_rnd(4) << 24;
	case 't':
		return liar_rnd(2) | (uint32_t)types[liar_rnd(8)] << 8 | liar_rnd(2) << 16;
	case 'p':
		return spaces[liar_rnd(5)] | (uint32_t)types[liar_rnd(8)] << 16;
	default:
		return (uint32_t)liar_value();
	}
}

/* Its length. */
static size_t field_put(char field, uint8_t *to)
{
	uint64_t wide;
	uint32_t narrow;

	switch (field) {
	case 'R':
	case 'A':
		wide = liar_address();
		break;
	case 'L':
		wide = liar_now(8) ? liar_value() : liar_rnd(8192);
		break;
	case 'U':
		wide = liar_value();
		break;
	case 'G':
		gid_put(to);
		return 16;
	case 'S':
		sockaddr_put(to, 28);
		return 28;
	case 'T':
		sockaddr_put(to, 128);
		return 128;
	case 'P':
		memset(to, (int)liar_rnd(256), 256);
		return 256;
	default:
		narrow = word(field);
		memcpy(to, &narrow, sizeof(narrow));
		return sizeof(narrow);
	}
	memcpy(to, &wide, sizeof(wide));
	return sizeof(wide);
}

size_t liar_fill(const char *fields, uint8_t *to)
{
	size_t len = 0;

	for (; *fields; fields++) {
		MUST(len + 256 <= LIAR_ROOM);
		len += field_put(*fields, to + len);
	}
	return len;
}

void liar_spoil(uint8_t *p, size_t len)
{
	if (len < 4 || liar_now(2))
		return;
	for (uint32_t i = 1 + liar_rnd(2); i; i--) {
		uint32_t value = (uint32_t)liar_value();

		memcpy(p + liar_rnd((uint32_t)len / 4) * 4, &value, sizeof(value));
	}
}

void liar_close(int from)
{
	close_range((unsigned int)from, ~0u, 0);
}

/* ---- one after the other ---- */

static void device_lives(const char *kind)
{
	int device = raw_open();

	liar_uverbs(device, LIFE, !strcmp(kind, "ioctl"));
	liar_close(device);
}

static void channel_lives(void)
{
	int channel = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	MUST(channel >= 0);
	liar_ucma(channel, LIFE);
	liar_close(channel);
}

int main(int argc, char **argv)
{
	uint64_t end, lives = 0;

	MUST(argc == 4);
	liar_begin(strtoull(argv[3], NULL, 0));
	end = rig_now() + strtoull(argv[2], NULL, 0) * 1000000000;
	do {
		if (!strcmp(argv[1], "ucma"))
			channel_lives();
		else
			device_lives(argv[1]);
		lives++;
	} while (rig_now() < end);
	printf("%llu of %llu commands were carried out\n", (unsigned long long)liar_done,
	       (unsigned long long)lives * LIFE);
	return 0;
}
