/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fields of commands that liar.h describes. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "liar.h"
#include "rig.h"

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
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
		return liar_object((enum liar_kind)(field - '0'));
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
