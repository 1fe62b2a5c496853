/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Netlink messages: reading the attributes of a request, and building answers that end before a
 * reader's buffer does (libmnl's is 4096 bytes).
 */
#ifndef KERNEL_NLMSG_H
#define KERNEL_NLMSG_H

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NL_PACKET_MAX 3776 /* as the kernel's, with pages of 4 KiB */

/* An answer, or a part of one, under construction. */
struct nl_buf {
	size_t len;
	bool full; /* something did not fit: nothing of it is to be sent */
	_Alignas(8) uint8_t data[NL_PACKET_MAX];
};

/* An attribute's header is in the buffer at `at`, and its length is set by nl_nest_end. */
size_t nl_nest_begin(struct nl_buf *b, uint16_t type);
void nl_nest_end(struct nl_buf *b, size_t at);
void nl_put(struct nl_buf *b, uint16_t type, const void *data, size_t len);
void nl_put_u8(struct nl_buf *b, uint16_t type, uint8_t value);
void nl_put_u32(struct nl_buf *b, uint16_t type, uint32_t value);
void nl_put_u64(struct nl_buf *b, uint16_t type, uint64_t value);
void nl_put_text(struct nl_buf *b, uint16_t type, const char *text); /* with its NUL */
/* Attributes that stand in another buffer. */
void nl_put_all(struct nl_buf *b, const struct nl_buf *from);

size_t nl_message_begin(struct nl_buf *b, uint16_t type, uint16_t flags, uint32_t seq,
			uint32_t portid);
void nl_message_end(struct nl_buf *b, size_t at);

/* By type; NULL: not there. */
struct nl_attrs {
	const struct nlattr *at[RDMA_NLDEV_ATTR_MAX];
};

/*
 * The attributes of a message whose length is known to be right. What is too short for its type, or
 * a string without its end, is -EINVAL; longer ones and unknown types are as good as others.
 */
int nl_attrs_read(const struct nlmsghdr *message, struct nl_attrs *attrs);
/* Of attributes that are there. */
uint32_t nl_u32(const struct nlattr *a);
uint8_t nl_u8(const struct nlattr *a);
/* Cut to size. */
const char *nl_text(const struct nlattr *a, char *buf, size_t size);

#endif
