/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests of NETLINK_RDMA by their number; devices, ports, character devices, links, the system.
 *
 * As in the kernel, a request that asks for an acknowledgement, or fails, is answered by
 * NLMSG_ERROR; a dump ends with NLMSG_DONE instead. What nobody serves is EINVAL.
 */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/kernel/link.h"
#include "verbs/kernel/nldev_priv.h"
#include "verbs/kernel/nodes.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/uverbs.h"

enum { NODE_CA = 1, NETNS_SHARED = 1 };
enum { PORT_DOWN = 1, PORT_ACTIVE = 4, PHYS_POLLING = 2, PHYS_DISABLED = 3, PHYS_LINK_UP = 5 };

size_t nl_answer_begin(const struct nl_call *call, struct nl_buf *b, bool dump)
{
	b->len = 0;
	b->full = false;
	return nl_message_begin(b, call->request->nlmsg_type, dump ? NLM_F_MULTI : 0,
				call->request->nlmsg_seq, call->peer->portid);
}

int nl_answer_end(const struct nl_call *call, struct nl_buf *b, size_t at)
{
	nl_message_end(b, at);
	if (b->full)
		return -EMSGSIZE;
	call->peer->packet(call->peer->ctx, b->data, b->len);
	return 0;
}

static struct kdevice *device_by_index(struct kernel *k, uint32_t index)
{
	struct kdevice *d = k->devices;

	while (d && d->number != index)
		d = d->next;
	return d;
}

struct kdevice *nl_call_device(const struct nl_call *call)
{
	const struct nlattr *index = call->attrs.at[RDMA_NLDEV_ATTR_DEV_INDEX];

	return index ? device_by_index(call->kernel, nl_u32(index)) : NULL;
}

bool nl_call_port_is_good(const struct nl_call *call)
{
	const struct nlattr *port = call->attrs.at[RDMA_NLDEV_ATTR_PORT_INDEX];

	return !port || nl_u32(port) == NLDEV_PORT;
}

void nl_put_device(struct nl_buf *b, const struct kdevice *dev)
{
	nl_put_u32(b, RDMA_NLDEV_ATTR_DEV_INDEX, dev->number);
	nl_put_text(b, RDMA_NLDEV_ATTR_DEV_NAME, dev->name);
}

static uint64_t guid_value(const struct kdevice *dev)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | dev->guid[i];
	return value;
}

static int device_answer(const struct nl_call *call, const struct kdevice *dev, bool dump)
{
	struct nl_buf b;
	size_t at = nl_answer_begin(call, &b, dump);

	nl_put_device(&b, dev);
	nl_put_u32(&b, RDMA_NLDEV_ATTR_PORT_INDEX, NLDEV_PORT); /* how many there are */
	nl_put_u64(&b, RDMA_NLDEV_ATTR_CAP_FLAGS, uverbs_device_caps(dev));
	nl_put_u64(&b, RDMA_NLDEV_ATTR_NODE_GUID, guid_value(dev));
	nl_put_u64(&b, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, guid_value(dev));
	nl_put_u8(&b, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_CA);
	nl_put_u8(&b, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	nl_put_text(&b, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
	return nl_answer_end(call, &b, at);
}

static int device_get(struct nl_call *call, bool dump)
{
	struct kdevice *dev = nl_call_device(call);

	if (!dump)
		return dev ? device_answer(call, dev, false) : -EINVAL;
	for (dev = call->kernel->devices; dev; dev = dev->next)
		device_answer(call, dev, true);
	return 0;
}

static int device_set(struct nl_call *call, bool dump)
{
	const struct nlattr *name = call->attrs.at[RDMA_NLDEV_ATTR_DEV_NAME];
	struct kdevice *dev = nl_call_device(call);
	char text[sizeof(dev->name)];

	(void)dump;
	if (!dev)
		return -EINVAL;
	if (name)
		return kernel_device_rename(call->kernel, dev, nl_text(name, text, sizeof(text)));
	/* Another network namespace, or interrupt moderation: not what rxe has. */
	if (call->attrs.at[RDMA_NLDEV_NET_NS_FD] || call->attrs.at[RDMA_NLDEV_ATTR_DEV_DIM])
		return -EOPNOTSUPP;
	return 0;
}

static int port_answer(const struct nl_call *call, const struct kdevice *dev, bool dump)
{
	bool active = rnic_port_active(dev->rnic);
	struct nl_buf b;
	size_t at = nl_answer_begin(call, &b, dump);

	nl_put_device(&b, dev);
	nl_put_u32(&b, RDMA_NLDEV_ATTR_PORT_INDEX, NLDEV_PORT);
	nl_put_u8(&b, RDMA_NLDEV_ATTR_PORT_STATE, active ? PORT_ACTIVE : PORT_DOWN);
	nl_put_u8(&b, RDMA_NLDEV_ATTR_PORT_PHYS_STATE,
		  active	   ? PHYS_LINK_UP
		  : dev->netdev_up ? PHYS_POLLING
				   : PHYS_DISABLED);
	if (dev->netdev[0]) {
		nl_put_u32(&b, RDMA_NLDEV_ATTR_NDEV_INDEX, dev->ifindex);
		nl_put_text(&b, RDMA_NLDEV_ATTR_NDEV_NAME, dev->netdev);
	}
	return nl_answer_end(call, &b, at);
}

static int port_get(struct nl_call *call, bool dump)
{
	struct kdevice *dev = nl_call_device(call);

	if (!dev)
		return -EINVAL;
	if (!dump && (!call->attrs.at[RDMA_NLDEV_ATTR_PORT_INDEX] || !nl_call_port_is_good(call)))
		return -EINVAL;
	return port_answer(call, dev, dump);
}

static int link_new(struct nl_call *call, bool dump)
{
	const struct nlattr *const *at = call->attrs.at;
	char name[64], type[64], netdev[16];

	(void)dump;
	if (!at[RDMA_NLDEV_ATTR_DEV_NAME] || !at[RDMA_NLDEV_ATTR_LINK_TYPE] ||
	    !at[RDMA_NLDEV_ATTR_NDEV_NAME])
		return -EINVAL;
	nl_text(at[RDMA_NLDEV_ATTR_DEV_NAME], name, sizeof(name));
	nl_text(at[RDMA_NLDEV_ATTR_LINK_TYPE], type, sizeof(type));
	nl_text(at[RDMA_NLDEV_ATTR_NDEV_NAME], netdev, sizeof(netdev));
	if (strcmp(type, "rxe"))
		return -EINVAL;
	return kernel_link_add(call->kernel, name, netdev);
}

static int link_del(struct nl_call *call, bool dump)
{
	struct kdevice *dev = nl_call_device(call);

	(void)dump;
	return dev ? kernel_link_del(call->kernel, dev) : -EINVAL;
}

static int system_get(struct nl_call *call, bool dump)
{
	struct nl_buf b;
	size_t at = nl_answer_begin(call, &b, dump);

	nl_put_u8(&b, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, NETNS_SHARED);
	/* Nothing is pinned: a parent's memory stays its own when it forks. */
	nl_put_u8(&b, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	return nl_answer_end(call, &b, at);
}

static int system_set(struct nl_call *call, bool dump)
{
	const struct nlattr *mode = call->attrs.at[RDMA_NLDEV_SYS_ATTR_NETNS_MODE];

	(void)dump;
	if (!mode || nl_u8(mode) > NETNS_SHARED)
		return -EINVAL;
	return nl_u8(mode) == NETNS_SHARED ? 0 : -EBUSY;
}

/* The kernel's huge_encode_dev. */
static uint64_t devt(unsigned int major, unsigned int minor)
{
	return (minor & 0xff) | major << 8 | (uint64_t)(minor & ~0xffu) << 12;
}

static int chardev_answer(const struct nl_call *call, const struct nl_buf *more, uint64_t number,
			  uint64_t abi, const char *name)
{
	struct nl_buf b;
	size_t at = nl_answer_begin(call, &b, false);

	nl_put_all(&b, more);
	nl_put_u64(&b, RDMA_NLDEV_ATTR_CHARDEV, number);
	nl_put_u64(&b, RDMA_NLDEV_ATTR_CHARDEV_ABI, abi);
	nl_put_text(&b, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	return nl_answer_end(call, &b, at);
}

static int chardev_of_device(const struct nl_call *call, const struct kdevice *dev,
			     const char *type)
{
	const struct node_kind *kind = node_kind_named(type);
	bool port = call->attrs.at[RDMA_NLDEV_ATTR_PORT_INDEX];
	struct nl_buf more = {0};
	char name[32];

	if (!kind)
		return -EOPNOTSUPP;
	if (port != kind->per_port || !nl_call_port_is_good(call))
		return -EINVAL;
	if (!kind->per_port)
		nl_put_u32(&more, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_RXE);
	snprintf(name, sizeof(name), "%s%u", kind->type, dev->index);
	return chardev_answer(call, &more, devt(NODES_MAJOR, kind->minor + dev->index), kind->abi,
			      name);
}

static int chardev_get(struct nl_call *call, bool dump)
{
	const struct nlattr *type = call->attrs.at[RDMA_NLDEV_ATTR_CHARDEV_TYPE];
	const struct nl_buf none = {0};
	struct kdevice *dev;
	char text[64];

	(void)dump;
	if (!type)
		return -EINVAL;
	nl_text(type, text, sizeof(text));
	if (call->attrs.at[RDMA_NLDEV_ATTR_DEV_INDEX]) {
		dev = nl_call_device(call);
		return dev ? chardev_of_device(call, dev, text) : -EINVAL;
	}
	if (call->attrs.at[RDMA_NLDEV_ATTR_PORT_INDEX])
		return -EINVAL;
	if (strcmp(text, "rdma_cm"))
		return -EOPNOTSUPP;
	return chardev_answer(call, &none, devt(UCMA_MAJOR, UCMA_MINOR), UCMA_ABI, "rdma_cm");
}

static const struct command {
	int (*run)(struct nl_call *call, bool dump);
	bool get, dump, admin;
} commands[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = {device_get, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_SET] = {device_set, .get = true, .admin = true},
	[RDMA_NLDEV_CMD_NEWLINK] = {link_new, .get = true, .admin = true},
	[RDMA_NLDEV_CMD_DELLINK] = {link_del, .get = true, .admin = true},
	[RDMA_NLDEV_CMD_PORT_GET] = {port_get, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_SYS_GET] = {system_get, .get = true},
	[RDMA_NLDEV_CMD_SYS_SET] = {system_set, .get = true, .admin = true},
	[RDMA_NLDEV_CMD_RES_GET] = {nldev_res_summary, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_RES_QP_GET] = {nldev_res_qp, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {nldev_res_cm_id, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_RES_CQ_GET] = {nldev_res_cq, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_RES_MR_GET] = {nldev_res_mr, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_RES_PD_GET] = {nldev_res_pd, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {chardev_get, .get = true},
	[RDMA_NLDEV_CMD_STAT_SET] = {nldev_stat_set, .get = true, .admin = true},
	[RDMA_NLDEV_CMD_STAT_GET] = {nldev_stat_get, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_STAT_DEL] = {nldev_stat_set, .get = true, .admin = true},
	[RDMA_NLDEV_CMD_RES_CTX_GET] = {nldev_res_ctx, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = {nldev_res_srq, .get = true, .dump = true},
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = {nldev_stat_status, .get = true},
};

/* What NLMSG_DONE tells of a dump: 0 or the error that ended it. */
static void done_send(const struct nl_call *call, int32_t error)
{
	struct nl_buf b = {0};
	size_t at = nl_message_begin(&b, NLMSG_DONE, NLM_F_MULTI, call->request->nlmsg_seq,
				     call->peer->portid);

	memcpy(b.data + b.len, &error, sizeof(error));
	b.len += sizeof(error);
	nl_message_end(&b, at);
	call->peer->packet(call->peer->ctx, b.data, b.len);
}

/* 1: it needs no acknowledgement. */
static int command_run(struct nl_call *call)
{
	uint16_t type = call->request->nlmsg_type, number = type & 0x3ff;
	const struct command *c;
	bool dump = (call->request->nlmsg_flags & NLM_F_DUMP) != 0;
	int rc;

	if (RDMA_NL_GET_CLIENT(type) != RDMA_NL_NLDEV || number >= RDMA_NLDEV_NUM_OPS)
		return -EINVAL;
	c = &commands[number];
	if (!c->run)
		return -EINVAL;
	if (c->admin && !call->peer->admin)
		return -EPERM;
	if (dump ? !c->dump : !c->get)
		return -EINVAL;
	if (dump && call->peer->busy)
		return -EBUSY;
	rc = nl_attrs_read(call->request, &call->attrs);
	if (!dump)
		return rc ? rc : c->run(call, false);
	call->peer->busy = true;
	if (!rc)
		rc = c->run(call, true);
	done_send(call, rc);
	return 1;
}

/* With what was asked, if it failed. */
static void error_send(const struct nl_call *call, int error)
{
	const struct nlmsghdr *asked = call->request;
	size_t part = error ? asked->nlmsg_len : sizeof(*asked);
	size_t len = NLMSG_HDRLEN + sizeof(int) + part;
	struct nlmsghdr *h = calloc(1, NLMSG_ALIGN(len));
	struct nlmsgerr *e = h ? NLMSG_DATA(h) : NULL;

	if (!h)
		return;
	h->nlmsg_len = (uint32_t)len;
	h->nlmsg_type = NLMSG_ERROR;
	h->nlmsg_flags = error ? 0 : NLM_F_CAPPED;
	h->nlmsg_seq = asked->nlmsg_seq;
	h->nlmsg_pid = call->peer->portid;
	e->error = error;
	memcpy(&e->msg, asked, part);
	call->peer->packet(call->peer->ctx, h, NLMSG_ALIGN(len));
	free(h);
}

static void message_run(struct nl_call *call)
{
	const struct nlmsghdr *m = call->request;
	int rc = 0;

	if (m->nlmsg_flags & NLM_F_REQUEST && m->nlmsg_type >= NLMSG_MIN_TYPE)
		rc = command_run(call);
	if (rc <= 0 && (rc || m->nlmsg_flags & NLM_F_ACK))
		error_send(call, rc);
}

size_t nldev_receive(struct kernel *k, struct nl_peer *peer, const void *data, size_t len)
{
	const struct nlmsghdr *m = data;
	struct nl_call call = {.kernel = k, .peer = peer, .request = m};
	size_t step;

	if (len < NLMSG_HDRLEN || m->nlmsg_len < NLMSG_HDRLEN || m->nlmsg_len > len)
		return len;
	step = NLMSG_ALIGN(m->nlmsg_len);
	message_run(&call);
	return step < len ? step : len;
}
