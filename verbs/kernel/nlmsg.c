/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads and builds netlink messages and their attributes. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs/kernel/nlmsg.h"

#define NAME_MAX_LEN 64 /* IB_DEVICE_NAME_MAX */

/* Room for len bytes, padding zeroed; NULL if there is none. */
static void *room_take(struct nl_buf *b, size_t len)
{
	size_t padded = NLMSG_ALIGN(len);
	uint8_t *p = b->data + b->len;

	if (b->full || padded > sizeof(b->data) - b->len) {
		b->full = true;
		return NULL;
	}
	memset(p, 0, padded);
	b->len += padded;
	return p;
}

size_t nl_nest_begin(struct nl_buf *b, uint16_t type)
{
	size_t at = b->len;
	const struct nlattr head = {.nla_type = type};
	void *p = room_take(b, sizeof(head));

	if (p)
		memcpy(p, &head, sizeof(head));
	return at;
}

void nl_nest_end(struct nl_buf *b, size_t at)
{
	uint16_t len = (uint16_t)(b->len - at);

	if (!b->full)
		memcpy(b->data + at + offsetof(struct nlattr, nla_len), &len, sizeof(len));
}

void nl_put(struct nl_buf *b, uint16_t type, const void *data, size_t len)
{
	const struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};
	uint8_t *p = len < NL_PACKET_MAX ? room_take(b, NLA_HDRLEN + len) : NULL;

	if (!p) {
		b->full = true;
		return;
	}
	memcpy(p, &head, sizeof(head));
	memcpy(p + NLA_HDRLEN, data, len);
}

void nl_put_u8(struct nl_buf *b, uint16_t type, uint8_t value)
{
	nl_put(b, type, &value, sizeof(value));
}

void nl_put_u32(struct nl_buf *b, uint16_t type, uint32_t value)
{
	nl_put(b, type, &value, sizeof(value));
}

void nl_put_u64(struct nl_buf *b, uint16_t type, uint64_t value)
{
	nl_put(b, type, &value, sizeof(value));
}

void nl_put_text(struct nl_buf *b, uint16_t type, const char *text)
{
	nl_put(b, type, text, strlen(text) + 1);
}

void nl_put_all(struct nl_buf *b, const struct nl_buf *from)
{
	void *p = from->full ? NULL : room_take(b, from->len);

	if (p)
		memcpy(p, from->data, from->len);
	else
		b->full = true;
}

size_t nl_message_begin(struct nl_buf *b, uint16_t type, uint16_t flags, uint32_t seq,
			uint32_t portid)
{
	const struct nlmsghdr head = {
		.nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = seq, .nlmsg_pid = portid};
	size_t at = b->len;
	void *p = room_take(b, sizeof(head));

	if (p)
		memcpy(p, &head, sizeof(head));
	return at;
}

void nl_message_end(struct nl_buf *b, size_t at)
{
	uint32_t len = (uint32_t)(b->len - at);

	if (!b->full)
		memcpy(b->data + at + offsetof(struct nlmsghdr, nlmsg_len), &len, sizeof(len));
}

/* Text has a longest length, with its NUL; numbers have a size. Others may be anything. */
static const struct policy {
	uint16_t size, text;
} policies[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = {.size = 4},
	[RDMA_NLDEV_ATTR_DEV_NAME] = {.text = NAME_MAX_LEN + 1},
	[RDMA_NLDEV_ATTR_PORT_INDEX] = {.size = 4},
	[RDMA_NLDEV_ATTR_RES_LQPN] = {.size = 4},
	[RDMA_NLDEV_ATTR_RES_PDN] = {.size = 4},
	[RDMA_NLDEV_ATTR_RES_CQN] = {.size = 4},
	[RDMA_NLDEV_ATTR_RES_MRN] = {.size = 4},
	[RDMA_NLDEV_ATTR_RES_CM_IDN] = {.size = 4},
	[RDMA_NLDEV_ATTR_RES_CTXN] = {.size = 4},
	[RDMA_NLDEV_ATTR_RES_SRQN] = {.size = 4},
	[RDMA_NLDEV_ATTR_LINK_TYPE] = {.text = NAME_MAX_LEN + 1},
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {.text = 16 + 1},
	[RDMA_NLDEV_ATTR_CHARDEV_TYPE] = {.text = 128 + 1},
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = {.size = 1},
	[RDMA_NLDEV_NET_NS_FD] = {.size = 4},
	[RDMA_NLDEV_ATTR_DEV_DIM] = {.size = 1},
	[RDMA_NLDEV_ATTR_STAT_MODE] = {.size = 4},
	[RDMA_NLDEV_ATTR_STAT_RES] = {.size = 4},
	[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] = {.size = 4},
};

static bool attr_is_good(const struct nlattr *a, uint16_t type)
{
	const struct policy *p = &policies[type];
	size_t len = a->nla_len - NLA_HDRLEN;
	const char *text = (const char *)a + NLA_HDRLEN;

	if (p->text)
		return len && strnlen(text, len) < len && len <= p->text;
	return len >= p->size;
}

int nl_attrs_read(const struct nlmsghdr *message, struct nl_attrs *attrs)
{
	const uint8_t *p = (const uint8_t *)message + NLMSG_HDRLEN;
	size_t left = message->nlmsg_len - NLMSG_HDRLEN;

	memset(attrs, 0, sizeof(*attrs));
	while (left >= NLA_HDRLEN) {
		const struct nlattr *a = (const struct nlattr *)(const void *)p;
		uint16_t type = a->nla_type & NLA_TYPE_MASK;
		size_t step = NLA_ALIGN(a->nla_len);

		if (a->nla_len < NLA_HDRLEN || a->nla_len > left)
			break;
		if (type && type < RDMA_NLDEV_ATTR_MAX) {
			if (!attr_is_good(a, type))
				return -EINVAL;
			attrs->at[type] = a;
		}
		if (step >= left)
			break;
		p += step;
		left -= step;
	}
	return 0;
}

uint32_t nl_u32(const struct nlattr *a)
{
	uint32_t value;

	memcpy(&value, (const uint8_t *)a + NLA_HDRLEN, sizeof(value));
	return value;
}

uint8_t nl_u8(const struct nlattr *a)
{
	return ((const uint8_t *)a)[NLA_HDRLEN];
}

const char *nl_text(const struct nlattr *a, char *buf, size_t size)
{
	snprintf(buf, size, "%s", (const char *)a + NLA_HDRLEN);
	return buf;
}
