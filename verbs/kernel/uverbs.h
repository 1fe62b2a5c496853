/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The uverbs commands: write() with its command numbers and RDMA_VERBS_IOCTL with its objects and
 * methods, both leading to the same functions (rdma/ib_user_verbs.h, rdma/rdma_user_ioctl.h).
 */
#ifndef KERNEL_UVERBS_H
#define KERNEL_UVERBS_H

#include <stdint.h>

struct call;
struct context;
struct kdevice;
struct rnic_async;
struct rnic_cq;

/* What write() and ioctl() return: >= 0, -errno, or -EINPROGRESS (run again). */
int64_t uverbs_write(struct call *call, struct context *c, uint64_t addr, uint64_t len);
int64_t uverbs_ioctl(struct call *call, struct context *c, uint32_t request, uint64_t addr);

/* The doorbell area says that this QP may have something. */
void uverbs_kick(struct context *c, uint32_t qp_handle);

/* rnic/host.h's cq_notify and async_event, for objects that uverbs made. */
void uverbs_cq_notify(struct rnic_cq *cq);
void uverbs_async_event(const struct rnic_async *event);
/* Port events go to every context of the device. */
void uverbs_port_event(struct context *c, const struct rnic_async *event);

/* The context's device goes: destroy everything in it but the handles, tell it, and end its event
 * descriptors. Commands that destroy still succeed then, all others are EIO. */
void uverbs_disassociate(struct context *c);
/* What ibv_query_device shows as device_cap_flags. */
uint64_t uverbs_device_caps(const struct kdevice *dev);

/* The context ends: destroy everything in it. */
void uverbs_cleanup(struct context *c);

#endif
