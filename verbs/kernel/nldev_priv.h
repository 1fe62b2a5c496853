/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of nldev share. */
#ifndef KERNEL_NLDEV_PRIV_H
#define KERNEL_NLDEV_PRIV_H

#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/nldev.h"
#include "verbs/kernel/nlmsg.h"

#define NLDEV_PORT 1

/* A request under way. */
struct nl_call {
	struct kernel *kernel;
	struct nl_peer *peer;
	const struct nlmsghdr *request;
	struct nl_attrs attrs;
};

/* ---- nldev.c ---- */
/* Begin an answer, of a dump or not, and send it. nl_answer_end: 0 or -EMSGSIZE. */
size_t nl_answer_begin(const struct nl_call *call, struct nl_buf *b, bool dump);
int nl_answer_end(const struct nl_call *call, struct nl_buf *b, size_t at);
/* The device that the request names by its index, or NULL. */
struct kdevice *nl_call_device(const struct nl_call *call);
/* Does it name no port, or the one that there is? */
bool nl_call_port_is_good(const struct nl_call *call);
void nl_put_device(struct nl_buf *b, const struct kdevice *dev);

/* ---- nldev_res.c: 0 or -errno ---- */
int nldev_res_summary(struct nl_call *call, bool dump);
int nldev_res_qp(struct nl_call *call, bool dump);
int nldev_res_cm_id(struct nl_call *call, bool dump);
int nldev_res_cq(struct nl_call *call, bool dump);
int nldev_res_mr(struct nl_call *call, bool dump);
int nldev_res_pd(struct nl_call *call, bool dump);
int nldev_res_ctx(struct nl_call *call, bool dump);
int nldev_res_srq(struct nl_call *call, bool dump);

/* ---- nldev_stat.c ---- */
int nldev_stat_get(struct nl_call *call, bool dump);
int nldev_stat_set(struct nl_call *call, bool dump);
int nldev_stat_status(struct nl_call *call, bool dump);

#endif
