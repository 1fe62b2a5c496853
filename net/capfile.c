/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Blocks of capture files, in this machine's byte order as both formats allow. */
#include "config.h"

#include <string.h>

#include "net/capfile.h"

enum { LINKTYPE_LINUX_SLL2 = 276, SNAPLEN = 262144 };
enum { BLOCK_INTERFACE = 1, BLOCK_STATISTICS = 5, BLOCK_PACKET = 6 };
#define BLOCK_SECTION 0x0a0d0d0au
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define PCAP_NS_MAGIC 0xa1b23c4du

enum {
	OPT_END = 0,
	OPT_COMMENT = 1,
	SHB_USERAPPL = 4,
	IF_NAME = 2,
	IF_DESCRIPTION = 3,
	IF_TSRESOL = 9,
	IF_FILTER = 11,
	EPB_FLAGS = 2,
	EPB_DROPCOUNT = 4,
	ISB_IFRECV = 4,
	ISB_IFDROP = 5,
};
enum { EPB_INBOUND = 1, EPB_OUTBOUND = 2, EPB_UNICAST = 1 << 2, EPB_MULTICAST = 2 << 2 };
enum { TSRESOL_NS = 9, FILTER_IS_TEXT = 0 };

/* A piece of a block; what does not fit spoils the block, not the buffer. */
static void put(struct capfile *f, const void *data, size_t len)
{
	if (len && f->len <= f->size && len <= f->size - f->len)
		memcpy(f->buf + f->len, data, len);
	f->len += len;
}

static void put16(struct capfile *f, uint16_t v)
{
	put(f, &v, sizeof(v));
}

static void put32(struct capfile *f, uint32_t v)
{
	put(f, &v, sizeof(v));
}

static void put_pad(struct capfile *f, size_t len)
{
	static const uint8_t zeros[3];

	put(f, zeros, -len & 3);
}

static void put_option(struct capfile *f, uint16_t code, const void *data, size_t len)
{
	put16(f, code);
	put16(f, (uint16_t)len);
	put(f, data, len);
	put_pad(f, len);
}

static void put_text(struct capfile *f, uint16_t code, const char *text)
{
	if (text && *text)
		put_option(f, code, text, strnlen(text, CAPFILE_TEXT_MAX));
}

static void put_option64(struct capfile *f, uint16_t code, uint64_t v)
{
	put_option(f, code, &v, sizeof(v));
}

/* Where the block begins, for block_end. */
static size_t block_begin(struct capfile *f, uint32_t type)
{
	size_t at = f->len;

	put32(f, type);
	put32(f, 0);
	return at;
}

/* All of it or nothing. */
static bool whole(struct capfile *f, size_t at)
{
	if (f->len <= f->size)
		return true;
	f->len = at;
	return false;
}

static bool block_end(struct capfile *f, size_t at)
{
	uint32_t len;

	put32(f, OPT_END);
	len = (uint32_t)(f->len - at + sizeof(len));
	put32(f, len);
	if (!whole(f, at))
		return false;
	memcpy(f->buf + at + 4, &len, sizeof(len));
	return true;
}

static bool pcap_begin(struct capfile *f)
{
	size_t at = f->len;

	put32(f, PCAP_NS_MAGIC);
	put16(f, 2);
	put16(f, 4);
	put32(f, 0);
	put32(f, 0);
	put32(f, SNAPLEN);
	put32(f, LINKTYPE_LINUX_SLL2);
	return whole(f, at);
}

bool capfile_begin(struct capfile *f, const char *application)
{
	static const uint64_t unknown_length = UINT64_MAX;
	size_t at;

	if (f->format == CAPFILE_PCAP)
		return pcap_begin(f);
	at = block_begin(f, BLOCK_SECTION);
	put32(f, BYTE_ORDER_MAGIC);
	put16(f, 1);
	put16(f, 0);
	put(f, &unknown_length, sizeof(unknown_length));
	put_text(f, SHB_USERAPPL, application);
	return block_end(f, at);
}

static void put_filter(struct capfile *f, const char *filter)
{
	char option[1 + CAPFILE_TEXT_MAX] = {FILTER_IS_TEXT};
	size_t len = strnlen(filter, CAPFILE_TEXT_MAX);

	memcpy(option + 1, filter, len);
	put_option(f, IF_FILTER, option, 1 + len);
}

bool capfile_interface(struct capfile *f, const char *name, const char *description,
		       const char *filter)
{
	static const uint8_t resolution = TSRESOL_NS;
	size_t at;

	if (f->format == CAPFILE_PCAP)
		return true;
	at = block_begin(f, BLOCK_INTERFACE);
	put16(f, LINKTYPE_LINUX_SLL2);
	put16(f, 0);
	put32(f, SNAPLEN);
	put_text(f, IF_NAME, name);
	put_text(f, IF_DESCRIPTION, description);
	put_option(f, IF_TSRESOL, &resolution, sizeof(resolution));
	if (filter && *filter)
		put_filter(f, filter);
	return block_end(f, at);
}

static bool pcap_packet(struct capfile *f, const struct capfile_packet *p)
{
	size_t at = f->len;

	put32(f, (uint32_t)(p->time / 1000000000));
	put32(f, (uint32_t)(p->time % 1000000000));
	put32(f, p->head_len + p->data_len);
	put32(f, p->head_len + p->data_len);
	put(f, p->head, p->head_len);
	put(f, p->data, p->data_len);
	return whole(f, at);
}

bool capfile_packet(struct capfile *f, const struct capfile_packet *p)
{
	uint32_t flags = (p->out ? EPB_OUTBOUND : EPB_INBOUND) |
			 (p->multicast ? EPB_MULTICAST : EPB_UNICAST);
	size_t at;

	if (f->format == CAPFILE_PCAP)
		return pcap_packet(f, p);
	at = block_begin(f, BLOCK_PACKET);
	put32(f, p->interface);
	put32(f, (uint32_t)(p->time >> 32));
	put32(f, (uint32_t)p->time);
	put32(f, p->head_len + p->data_len);
	put32(f, p->head_len + p->data_len);
	put(f, p->head, p->head_len);
	put(f, p->data, p->data_len);
	put_pad(f, p->head_len + p->data_len);
	put_text(f, OPT_COMMENT, p->comment);
	put_option(f, EPB_FLAGS, &flags, sizeof(flags));
	if (p->lost)
		put_option64(f, EPB_DROPCOUNT, p->lost);
	return block_end(f, at);
}

bool capfile_statistics(struct capfile *f, uint32_t interface, uint64_t time, uint64_t seen,
			uint64_t lost)
{
	size_t at;

	if (f->format == CAPFILE_PCAP)
		return true;
	at = block_begin(f, BLOCK_STATISTICS);
	put32(f, interface);
	put32(f, (uint32_t)(time >> 32));
	put32(f, (uint32_t)time);
	put_option64(f, ISB_IFRECV, seen);
	put_option64(f, ISB_IFDROP, lost);
	return block_end(f, at);
}
