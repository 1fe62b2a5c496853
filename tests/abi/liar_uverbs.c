/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of uverbs and methods of its ioctl, nearly right. */
#include <errno.h>
#include <string.h>

#include <rdma/rdma_user_ioctl.h>

#include "liar.h"
#include "raw.h"
#include "rig.h"

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED
#define CMD(name, fields, room)                                                                    \
	{                                                                                          \
		IB_USER_VERBS_CMD_##name, fields, room                                             \
	}
#define EX_CMD(name, fields, room)                                                                 \
	{                                                                                          \
		EX | IB_USER_VERBS_EX_CMD_##name, fields, room                                     \
	}

/* Those that make things come more often than those that end them. */
static const struct liar_command commands[] = {
	CMD(ALLOC_PD, "R", 4),
	CMD(ALLOC_PD, "R", 4),
	CMD(REG_MR, "RALA1k", 12),
	CMD(REG_MR, "RALA1k", 12),
	CMD(REREG_MR, "R2fALA1k", 8),
	CMD(ALLOC_MW, "R1b", 8),
	CMD(CREATE_COMP_CHANNEL, "R", 4),
	CMD(CREATE_CQ, "RUnfdz", 24),
	CMD(CREATE_CQ, "RUnfdz", 24),
	CMD(RESIZE_CQ, "R4n", 24),
	CMD(REQ_NOTIFY_CQ, "4f", 0),
	CMD(CREATE_SRQ, "RU1nnf", 40),
	CMD(CREATE_XSRQ, "RUf1nnfzz4", 40),
	CMD(MODIFY_SRQ, "5fnfA", 0),
	CMD(QUERY_SRQ, "R5z", 16),
	CMD(CREATE_QP, "RU1445nnnnnt", 64),
	CMD(CREATE_QP, "RU1445nnnnnt", 64),
	CMD(CREATE_QP, "RU1445nnnnnt", 64),
	CMD(QUERY_QP, "R6x", 128),
	CMD(MODIFY_QP, "GfzbbGfzbb6xxxxhkzbbbbb", 0),
	CMD(POST_SEND, "R6zzn", 4),
	CMD(CREATE_AH, "RU1zGfbzbb", 12),
	CMD(ATTACH_MCAST, "G6z", 0),
	CMD(DETACH_MCAST, "G6z", 0),
	CMD(QUERY_DEVICE, "R", 176),
	CMD(QUERY_PORT, "Rbz", 40),
	CMD(GET_CONTEXT, "R", 8),
	CMD(DESTROY_AH, "7", 0),
	CMD(DEREG_MR, "2", 0),
	CMD(DEALLOC_MW, "3", 0),
	CMD(DEALLOC_PD, "1", 0),
	CMD(DESTROY_CQ, "R4z", 8),
	CMD(DESTROY_QP, "R6z", 4),
	CMD(DESTROY_SRQ, "R5z", 4),
	CMD(OPEN_XRCD, "Rdf", 4),
	EX_CMD(QUERY_DEVICE, "zz", 304),
	EX_CMD(CREATE_CQ, "Unfdzfz", 40),
	EX_CMD(CREATE_QP, "U1445nnnnntzfzz", 72),
	EX_CMD(MODIFY_QP, "GfzbbGfzbb6xxxxhkzbbbbbzz", 8),
	EX_CMD(CREATE_FLOW, "zhbbbb", 8),
};

/* ---- a step that a QP may take: INIT, RTR or RTS as a program would ask for it ---- */

static size_t step_fill(uint8_t *to)
{
	static const uint32_t masks[3] = {0x39, 0x121181, 0x12e01};
	uint32_t step = liar_rnd(3);
	struct ib_uverbs_modify_qp m = {
		.qp_handle = liar_object(LIAR_QP),
		.attr_mask = masks[step],
		.qp_state = (uint8_t)(step + 1),
		.path_mtu = 3,
		.port_num = 1,
		.qp_access_flags = 15,
		.dest_qp_num = liar_rnd(64),
		.min_rnr_timer = 1,
		.timeout = 10,
		.dest = {.is_global = 1, .port_num = 1, .hop_limit = 1, .sgid_index = 1},
	};

	liar_fill("G", m.dest.dgid);
	memcpy(to, &m, sizeof(m));
	return sizeof(m);
}

/* Of the command's own input; what lies behind the response is the provider's. */
static size_t request_fill(const struct liar_command *c, uint8_t *to)
{
	size_t len = c->number == IB_USER_VERBS_CMD_MODIFY_QP && !liar_now(3)
			     ? step_fill(to)
			     : liar_fill(c->fields, to);

	liar_spoil(to, len);
	return len;
}

/* -errno, or what has succeeded. */
static void answer_see(int64_t rc)
{
	MUST(rc != -EIO && rc != -EPIPE);
	liar_done += rc >= 0;
}

static void by_write(int device, const struct liar_command *c)
{
	_Alignas(8) uint8_t buf[24 + LIAR_ROOM];
	bool ex = c->number & EX;
	size_t head = ex ? 24 : 8, len = request_fill(c, buf + head), unit = ex ? 8 : 4;
	struct ib_uverbs_cmd_hdr hdr = {c->number, (uint16_t)((ex ? len : len + head) / unit),
					(uint16_t)(c->room / unit)};
	struct ib_uverbs_ex_cmd_hdr more = {.response = liar_address()};

	if (liar_now(20))
		hdr.in_words = (uint16_t)liar_value();
	if (liar_now(20))
		hdr.out_words = (uint16_t)liar_value();
	if (liar_now(10))
		more.provider_out_words = (uint16_t)liar_rnd(8);
	memcpy(buf, &hdr, sizeof(hdr));
	if (ex)
		memcpy(buf + sizeof(hdr), &more, sizeof(more));
	answer_see(liar_write(device, buf, head + len));
}

/* ---- methods ---- */

struct liar_method {
	uint16_t object, method;
	const char *attrs;
};

/*
 * Attributes: a letter and the number (a letter from a on stands for 10 and more), then the length:
 *   h handle   1 to 7 handle of that enum liar_kind   d descriptor   v value
 *   o output   s list of SGEs   w the provider's output
 */
#define METHOD(object, method, attrs)                                                              \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##method, attrs                              \
	}

static const struct liar_method methods[] = {
	METHOD(DEVICE, INFO_HANDLES, "v0:8 o1:4 o2:64"),
	METHOD(DEVICE, QUERY_PORT, "v0:8 o1:48"),
	METHOD(DEVICE, GET_CONTEXT, "o0:4 o1:8"),
	METHOD(DEVICE, QUERY_CONTEXT, "o0:4 o1:8"),
	METHOD(DEVICE, QUERY_GID_TABLE, "v0:8 v1:4 o2:640 o3:8"),
	METHOD(DEVICE, QUERY_GID_ENTRY, "v0:8 v1:8 v2:4 o3:32"),
	METHOD(ASYNC_EVENT, ASYNC_EVENT_ALLOC, "d0:0"),
	METHOD(PD, PD_DESTROY, "10:0"),
	METHOD(MR, MR_DESTROY, "20:0"),
	METHOD(MR, ADVISE_MR, "10:0 v1:8 v2:4 s3:32"),
	METHOD(MR, QUERY_MR, "20:0 o1:4 o2:4 o3:8 o4:8"),
	METHOD(MR, REG_DMABUF_MR, "h0:0 11:0 v2:8 v3:8 v4:8 d5:0 v6:4 o7:4 o8:4"),
	METHOD(MW, MW_DESTROY, "30:0"),
	METHOD(CQ, CQ_CREATE, "h0:0 v1:4 v2:8 d3:0 v4:4 v5:4 o6:4 d7:0 w0:16"),
	METHOD(CQ, CQ_CREATE, "h0:0 v1:4 v2:8 v4:4 o6:4 w0:16"),
	METHOD(CQ, CQ_DESTROY, "40:0 o1:8"),
	METHOD(QP, QP_CREATE,
	       "h0:0 12:0 43:0 44:0 55:0 v7:8 c8:20 v9:8 va:4 dc:0 od:20 oe:4 w0:32"),
	METHOD(QP, QP_CREATE, "h0:0 12:0 43:0 44:0 v7:8 c8:20 v9:8 od:20 oe:4 w0:32"),
	METHOD(QP, QP_DESTROY, "60:0 o1:4"),
	METHOD(SRQ, SRQ_CREATE, "h0:0 11:0 v4:8 v5:4 v6:4 v7:4 v9:8 da:0 ob:4 oc:4 od:4 w0:24"),
	METHOD(SRQ, SRQ_DESTROY, "50:0 o1:4"),
	METHOD(AH, AH_DESTROY, "70:0"),
};

static uint64_t list_put(char kind, uint16_t len)
{
	uint8_t fill[LIAR_ROOM] = {0}, *at = liar_memory();

	liar_fill(kind == 's' ? "AnhAnh" : "nnnnn", fill);
	memcpy(at, fill, len);
	return (uintptr_t)at;
}

static struct ib_uverbs_attr attr_make(const char *s)
{
	uint16_t id = (uint16_t)(s[1] <= '9' ? s[1] - '0' : s[1] - 'a' + 10), len = 0;

	for (s += 3; *s && *s != ' '; s++)
		len = (uint16_t)(len * 10 + (*s - '0'));
	return raw_value(id, liar_address(), len);
}

static void attr_fill(char kind, struct ib_uverbs_attr *a)
{
	switch (kind) {
	case 'h':
		a->data = liar_handle();
		break;
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
		a->data = liar_object((enum liar_kind)(kind - '0'));
		break;
	case 'd':
		a->data = (uint64_t)(int64_t)liar_fd();
		break;
	case 'v':
		a->data = liar_now(4) ? liar_value() : liar_rnd(9);
		break;
	case 's':
	case 'c':
		a->data = list_put(kind, a->len);
		break;
	case 'w':
		a->attr_id = UVERBS_ATTR_UHW_OUT;
		break;
	default:
		break;
	}
}

/* An attribute too few, one twice, one that nobody knows, of another length, not mandatory. */
static uint16_t attrs_spoil(struct ib_uverbs_attr *a, uint16_t n)
{
	struct ib_uverbs_attr *one = &a[liar_rnd(n)];

	switch (liar_rnd(12)) {
	case 0:
		*one = a[--n];
		return n;
	case 1:
		a[n] = *one;
		return (uint16_t)(n + 1);
	case 2:
		one->attr_id = (uint16_t)liar_value();
		return n;
	case 3:
		one->len = (uint16_t)liar_value();
		return n;
	case 4:
		one->flags = (uint16_t)liar_rnd(4);
		return n;
	case 5:
		one->attr_data.reserved = 1;
		return n;
	default:
		return n;
	}
}

static void by_method(int device, const struct liar_method *m)
{
	struct ib_uverbs_attr a[RAW_ATTRS_MAX];
	uint16_t n = 0;

	for (const char *s = m->attrs; s; s = strchr(s, ' '), s = s ? s + 1 : NULL) {
		a[n] = attr_make(s);
		attr_fill(*s, &a[n]);
		n++;
	}
	n = attrs_spoil(a, n);
	answer_see(-liar_ioctl(device, m->object, m->method, a, n));
}

static void by_invoke(int device, const struct liar_command *c)
{
	uint8_t *req = liar_memory();
	size_t len = request_fill(c, req);
	struct ib_uverbs_attr a[] = {
		raw_value(UVERBS_ATTR_WRITE_CMD, c->number, 8),
		raw_ptr(UVERBS_ATTR_CORE_IN, req, len),
		raw_value(UVERBS_ATTR_CORE_OUT, liar_address(), c->room),
		raw_value(UVERBS_ATTR_UHW_OUT, liar_address(), (uint16_t)(liar_rnd(5) * 8)),
		{0},
	};

	answer_see(-liar_ioctl(device, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, a,
			       attrs_spoil(a, 4)));
}

void liar_uverbs(int device, bool by_ioctl)
{
	const struct liar_command *c = &commands[liar_rnd(sizeof(commands) / sizeof(commands[0]))];

	if (!by_ioctl)
		by_write(device, c);
	else if (liar_now(2))
		by_invoke(device, c);
	else
		by_method(device, &methods[liar_rnd(sizeof(methods) / sizeof(methods[0]))]);
}
