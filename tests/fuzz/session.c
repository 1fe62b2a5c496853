/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The session that session.h describes. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "lie_feed.h"
#include "rnic/qp.h"
#include "session.h"

#define COMMANDS_MAX 64
#define KINDS 7
#define LIVE_MAX 32
#define ARENA (USER_SIZE / 2) /* the upper half, with the page that cannot be written */

/* ---- what the liar asks ---- */

/* After its device has gone the rest of a context's commands is an errno that no client gets
 * before. */
static int64_t verdict(int64_t rc)
{
	ck_assert_int_ne(rc, -EINPROGRESS);
	return rc == -EIO && !rig.context.dev ? -ENODEV : rc;
}

int64_t liar_write(int fd, const void *data, size_t len)
{
	uint64_t addr = user_put(data, len);
	int64_t rc;

	(void)fd;
	rig.n_reads = 0;
	rc = uverbs_write(&rig.call, &rig.context, addr, len);
	if (rc == -EINPROGRESS) /* one access had to wait: again, from the beginning */
		rc = uverbs_write(&rig.call, &rig.context, addr, len);
	return verdict(rc);
}

int liar_ioctl(int fd, uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n)
{
	(void)fd;
	return (int)-verdict(do_ioctl(object, method, attrs, n));
}

void liar_close(int from)
{
	(void)from;
}

static uint32_t kind_live(enum uobject_kind kind, uint32_t *handle, uint32_t room)
{
	struct uobject *u;
	uint32_t n = 0;

	for (uint32_t from = 0; n < room && (u = uobject_next(&rig.context, kind, from));
	     from = u->handle + 1)
		handle[n++] = u->handle;
	return n;
}

static bool handle_choose(uint8_t kind, uint32_t choice, uint32_t *handle)
{
	uint32_t live[LIVE_MAX], n;

	n = kind_live((enum uobject_kind)(kind ? kind : 1 + choice % KINDS), live, LIVE_MAX);
	if (n)
		*handle = live[(kind ? choice : choice / KINDS) % n];
	return n;
}

static bool fd_choose(uint32_t choice, int32_t *fd)
{
	struct channel *ch = rig.channels;

	for (uint32_t n = choice % (rig.n_channels + 1); ch && n; n--)
		ch = ch->next;
	if (ch)
		*fd = 1000 + (int32_t)ch->id;
	return ch;
}

/* ---- what is there at the beginning ---- */

static void objects_begin(void)
{
	struct ib_uverbs_alloc_mw mw = {.mw_type = 1};
	struct ib_uverbs_alloc_mw_resp mw_resp;
	struct ib_uverbs_create_qp qp;
	struct client c;

	client_begin(&c, (uintptr_t)lie.arena, ARENA / 2);
	mw.pd_handle = c.pd;
	(void)do_write(IB_USER_VERBS_CMD_ALLOC_MW, &mw, sizeof(mw), &mw_resp, sizeof(mw_resp));
	qp_request(c.pd, c.cq, &qp);
	client_qp(&qp);
	qp.qp_type = IB_UVERBS_QPT_UD;
	client_qp(&qp);
	qp.qp_type = IB_UVERBS_QPT_RC;
	qp.is_srq = 1;
	qp.srq_handle = c.srq;
	client_qp(&qp);
}

/* ---- what befalls it ---- */

static void *live(enum uobject_kind kind)
{
	uint32_t handle;

	return handle_choose((uint8_t)kind, liar_rnd(8), &handle) ? object_of(kind, handle) : NULL;
}

static void event_comes(void)
{
	struct rnic_async event = {.type = (enum rnic_event_type)liar_rnd(20), .port = 1};
	struct uverbs_srq *srq = live(UOBJ_SRQ);
	struct uverbs_qp *qp = live(UOBJ_QP);
	struct uverbs_cq *cq = live(UOBJ_CQ);

	switch (liar_rnd(5)) {
	case 0:
		uverbs_port_event(&rig.context, &event);
		return;
	case 1:
		event.qp = qp ? qp->qp : NULL;
		break;
	case 2:
		event.cq = cq ? cq->cq : NULL;
		break;
	case 3:
		event.srq = srq ? srq->srq : NULL;
		break;
	case 4:
		if (cq)
			uverbs_cq_notify(cq->cq);
		return;
	}
	if (event.qp || event.cq || event.srq)
		uverbs_async_event(&event);
}

static void device_goes(void)
{
	if (!rig.context.dev)
		return;
	uverbs_disassociate(&rig.context);
	rig.context.dev = NULL;
}

static void something_happens(void)
{
	uint32_t what = liar_rnd(16);

	if (what <= 10)
		event_comes();
	else if (what == 11)
		rig.session.root = !rig.session.root;
	else if (what == 12)
		uverbs_kick(&rig.context, liar_rnd(40));
	else if (what == 13 && rig.channels)
		rig.channels->client_gone = true;
	else if (what == 14)
		rig.pending_at = 1 + liar_rnd(12);
	else if (what == 15)
		device_goes();
}

void session_run(const uint8_t *data, size_t size, bool by_ioctl)
{
	rig_start_context();
	lie = (struct lie_feed){.feed = {data, size},
				.arena = rig.user + USER_SIZE - ARENA,
				.size = ARENA,
				.handle = handle_choose,
				.fd = fd_choose};
	objects_begin();
	for (uint32_t i = 0; i < COMMANDS_MAX && lie.feed.left; i++) {
		rig.brk = 0; /* none lies in the arena */
		if (feed_u8(&lie.feed) >= 224)
			something_happens();
		else
			liar_uverbs(0, by_ioctl);
		client_reads();
	}
	rig_stop();
}
