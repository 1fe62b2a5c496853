/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Capture files, read as a whole. Every length in them is checked before it is used. */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capread.h"

#define NS 1000000000ull

enum { BLOCK_INTERFACE = 1, BLOCK_PACKET = 6 };
#define BLOCK_SECTION 0x0a0d0d0au
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define PCAP_MAGIC 0xa1b2c3d4u
#define PCAP_NS_MAGIC 0xa1b23c4du
enum { OPT_COMMENT = 1, EPB_FLAGS = 2, EPB_DROPCOUNT = 4, IF_TSRESOL = 9 };

struct interface {
	uint32_t linktype;
	uint64_t ticks; /* a second has */
};

struct capread {
	uint8_t *data;
	size_t len, at;
	bool ng, swapped;
	uint32_t linktype; /* of pcap */
	uint64_t ticks;
	struct interface *interfaces; /* of pcapng */
	uint32_t n_interfaces;
};

static uint32_t get32(const struct capread *c, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return c->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t get16(const struct capread *c, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return c->swapped ? __builtin_bswap16(v) : v;
}

static uint64_t get64(const struct capread *c, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return c->swapped ? __builtin_bswap64(v) : v;
}

static int file_read(struct capread *c, FILE *f)
{
	size_t room = 0, n;

	do {
		if (c->len == room) {
			uint8_t *p = realloc(c->data, room = room ? room * 2 : 1 << 16);

			if (!p)
				return -ENOMEM;
			c->data = p;
		}
		n = fread(c->data + c->len, 1, room - c->len, f);
		c->len += n;
	} while (n > 0);
	return ferror(f) ? -EIO : 0;
}

/* What kind of file is it? */
static bool file_begins(struct capread *c)
{
	uint32_t magic;

	if (c->len < 24)
		return false;
	c->ng = get32(c, c->data) == BLOCK_SECTION;
	if (c->ng)
		return true;
	for (int turn = 0; turn < 2; turn++, c->swapped = !c->swapped) {
		magic = get32(c, c->data);
		if (magic != PCAP_MAGIC && magic != PCAP_NS_MAGIC)
			continue;
		c->ticks = magic == PCAP_NS_MAGIC ? NS : 1000000;
		c->linktype = get32(c, c->data + 20) & 0xffff;
		c->at = 24;
		return true;
	}
	return false;
}

struct capread *capread_open(const char *path, char *err, size_t err_size)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	struct capread *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (!f) {
		snprintf(err, err_size, "%s: %s", path, strerror(errno));
		free(c);
		return NULL;
	}
	if (c)
		rc = file_read(c, f);
	if (f != stdin)
		fclose(f);
	if (!rc && file_begins(c))
		return c;
	snprintf(err, err_size, "%s: %s", path,
		 rc ? strerror(-rc) : "neither a pcap nor a pcapng file");
	capread_close(c);
	return NULL;
}

void capread_close(struct capread *c)
{
	if (!c)
		return;
	free(c->interfaces);
	free(c->data);
	free(c);
}

static uint64_t ticks_to_ns(uint64_t t, uint64_t ticks)
{
	return t / ticks * NS + (uint64_t)((__uint128_t)(t % ticks) * NS / ticks);
}

static int damaged(const struct capread *c, const char *what, char *err, size_t err_size)
{
	snprintf(err, err_size, "the capture is damaged, or ends early, at byte %zu: %s", c->at,
		 what);
	return -1;
}

static int pcap_next(struct capread *c, struct capread_packet *p, char *err, size_t err_size)
{
	const uint8_t *h = c->data + c->at;

	if (c->at == c->len)
		return 0;
	if (c->len - c->at < 16 || get32(c, h + 8) > c->len - c->at - 16)
		return damaged(c, "half a packet", err, err_size);
	*p = (struct capread_packet){
		.time = get32(c, h) * NS + ticks_to_ns(get32(c, h + 4), c->ticks),
		.linktype = c->linktype,
		.data = h + 16,
		.len = get32(c, h + 8),
	};
	c->at += 16 + p->len;
	return 1;
}

/* The option that begins at *at of the block's body; false: there is no more. */
static bool option_next(const struct capread *c, const uint8_t *body, uint32_t len, uint32_t *at,
			uint16_t *code, uint16_t *size, const uint8_t **value)
{
	if (len < 4 || *at > len - 4)
		return false;
	*code = get16(c, body + *at);
	*size = get16(c, body + *at + 2);
	*value = body + *at + 4;
	if (*code == 0 || *size > len - *at - 4)
		return false;
	*at += 4 + (((uint32_t)*size + 3) & ~3u);
	return true;
}

static uint64_t resolution(uint8_t v)
{
	uint64_t ticks = 1;

	for (unsigned i = 0; i < (v & 0x7fu) && ticks < UINT64_MAX / 20; i++)
		ticks *= v & 0x80 ? 2 : 10;
	return ticks;
}

static bool interface_add(struct capread *c, const uint8_t *body, uint32_t len)
{
	struct interface *all, *i;
	const uint8_t *value;
	uint16_t code, size;
	uint32_t at = 8;

	all = realloc(c->interfaces, (c->n_interfaces + 1) * sizeof(*all));
	if (!all)
		return false;
	c->interfaces = all;
	i = &all[c->n_interfaces++];
	*i = (struct interface){.linktype = get16(c, body), .ticks = 1000000};
	while (option_next(c, body, len, &at, &code, &size, &value))
		if (code == IF_TSRESOL && size >= 1)
			i->ticks = resolution(*value);
	return true;
}

static void packet_options(const struct capread *c, const uint8_t *body, uint32_t len, uint32_t at,
			   struct capread_packet *p)
{
	const uint8_t *value;
	uint16_t code, size;

	while (option_next(c, body, len, &at, &code, &size, &value)) {
		if (code == OPT_COMMENT && !p->comment) {
			p->comment = (const char *)value;
			p->comment_len = size;
		} else if (code == EPB_FLAGS && size == 4) {
			uint32_t way = get32(c, value) & 3;

			p->direction = way == 1	  ? CAPREAD_IN
				       : way == 2 ? CAPREAD_OUT
						  : CAPREAD_UNKNOWN;
		} else if (code == EPB_DROPCOUNT && size == 8) {
			p->missing = get64(c, value);
		}
	}
}

static bool packet_block(const struct capread *c, const uint8_t *body, uint32_t len,
			 struct capread_packet *p)
{
	const struct interface *i;
	uint64_t time;

	if (len < 20 || get32(c, body) >= c->n_interfaces || get32(c, body + 12) > len - 20)
		return false;
	i = &c->interfaces[get32(c, body)];
	time = (uint64_t)get32(c, body + 4) << 32 | get32(c, body + 8);
	*p = (struct capread_packet){
		.time = ticks_to_ns(time, i->ticks),
		.linktype = i->linktype,
		.data = body + 20,
		.len = get32(c, body + 12),
	};
	packet_options(c, body, len, 20 + ((p->len + 3) & ~3u), p);
	return true;
}

/* A section has its own byte order and interfaces. */
static bool section_begin(struct capread *c)
{
	uint32_t magic;

	if (c->len - c->at < 12)
		return false;
	c->swapped = false;
	magic = get32(c, c->data + c->at + 8);
	c->swapped = magic != BYTE_ORDER_MAGIC;
	c->n_interfaces = 0;
	return magic == BYTE_ORDER_MAGIC || magic == __builtin_bswap32(BYTE_ORDER_MAGIC);
}

static int block_next(struct capread *c, struct capread_packet *p, char *err, size_t err_size)
{
	const uint8_t *block = c->data + c->at, *body = block + 8;
	uint32_t len, body_len;

	if (c->len - c->at < 12)
		return damaged(c, "half a block", err, err_size);
	if (get32(c, block) == BLOCK_SECTION && !section_begin(c))
		return damaged(c, "no section", err, err_size);
	len = get32(c, block + 4);
	if (len < 12 || len % 4 || len > c->len - c->at)
		return damaged(c, "a block's length", err, err_size);
	body_len = len - 12;
	if (get32(c, block) == BLOCK_INTERFACE &&
	    (body_len < 8 || !interface_add(c, body, body_len)))
		return damaged(c, "an interface", err, err_size);
	if (get32(c, block) == BLOCK_PACKET && !packet_block(c, body, body_len, p))
		return damaged(c, "a packet", err, err_size);
	c->at += len;
	return get32(c, block) == BLOCK_PACKET;
}

int capread_next(struct capread *c, struct capread_packet *p, char *err, size_t err_size)
{
	int rc = 0;

	if (!c->ng)
		return pcap_next(c, p, err, err_size);
	while (rc == 0 && c->at < c->len)
		rc = block_next(c, p, err, err_size);
	return rc;
}
