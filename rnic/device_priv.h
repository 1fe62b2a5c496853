/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inside of a device and its simple objects, for rnic/ only. */
#ifndef RNIC_DEVICE_PRIV_H
#define RNIC_DEVICE_PRIV_H

#include "rnic/cc_params.h"
#include "rnic/device.h"
#include "rnic/objects.h"
#include "rnic/table.h"

/* Deadlines of a device: a binary heap of timers, each embedded in its owner. */
struct rnic_timer {
	uint64_t deadline; /* ns */
	uint32_t pos;	   /* 1 + index in the heap; 0: not armed */
	/* What rnic_timer_fired does with it, once it is disarmed; set by the owner. */
	void (*fired)(struct rnic_device *dev, struct rnic_timer *t, uint64_t now);
};

struct rnic_timers {
	struct rnic_timer **heap;
	uint32_t n, room, reserved;
};

void timer_arm(struct rnic_device *dev, struct rnic_timer *t, uint64_t deadline);
void timer_disarm(struct rnic_device *dev, struct rnic_timer *t);
/* For rnic_timer_fired: a timer that is due, disarmed, or NULL. At the end timer_tell tells the
 * host when to come next. */
struct rnic_timer *timer_take_due(struct rnic_device *dev, uint64_t now);
void timer_tell(struct rnic_device *dev);
/* Every QP reserves room for its timers when it is created, so that arming cannot fail. */
int timers_reserve(struct rnic_device *dev, uint32_t n);
void timers_release(struct rnic_device *dev, uint32_t n);

struct qp_list { /* circular, doubly linked */
	struct qp_list *next, *prev;
};

struct gid_slot {
	uint8_t gid[16];
	uint32_t ifindex;
};

/* What may still be sent to a destination of UC and UD traffic: pace.c. */
struct pace {
	uint8_t gid[16];
	uint64_t credit;     /* bytes of its socket memory */
	uint64_t next;	     /* no more before then */
	uint64_t full_since; /* 0: it has room */
};

#define PACE_PLACES 256
#define MCAST_PLACES 256

struct rnic_device {
	struct rnic_device_config cfg;
	struct rnic_limits limits;
	struct rnic_counters counters;
	struct cc_params cc;
	struct gid_slot gids[RNIC_GID_TABLE_LEN];
	bool port_active;
	bool credits; /* rnic_credits_set */
	enum rnic_mtu mtu;
	struct rnic_table qps; /* by QPN */
	struct rnic_qp *gsi;   /* QP 1, or NULL */
	struct rnic_table mrs; /* by key >> 8 */
	uint8_t mr_variant;    /* low byte of the next key */
	struct rnic_table mws; /* by (key >> 8) & ~MW_INDEX_FLAG */
	uint32_t n_pd, n_cq, n_srq, n_ah;
	struct rnic_timers timers;
	uint64_t timer_told;	/* what timer_set was last called with */
	struct qp_list active;	/* QPs that want a turn of rnic_run */
	struct qp_list waiting; /* QPs that wait for rnic_mem_resume */
	struct qp_list held;	/* QPs whose acknowledgement waits for a reply */
	uint32_t acks_trust;	/* answers before the first waits; 0: none ever does */
	struct pace pace[PACE_PLACES];
	struct mcast_group *mcast[MCAST_PLACES]; /* by hash: mcast.c */
	uint32_t n_mcast;
	struct peer *peers;   /* windows by destination: peer.c */
	struct cm_device *cm; /* NULL before rnic_cm_start */
	bool cq_failed;	      /* a CQ has overflowed, its QPs have not been told */
};

struct rnic_pd {
	struct rnic_device *dev;
	uint32_t users;
};

struct rnic_mr {
	struct rnic_pd *pd;
	struct rnic_mr_attr attr;
	uint32_t key;
	uint32_t n_mw; /* windows bound to it */
};

struct rnic_cq {
	struct rnic_device *dev;
	const struct rnic_personality *ops;
	void *user;
	uint32_t cqe;
	uint32_t users;
	bool overflowed;
};

struct rnic_srq {
	struct rnic_pd *pd;
	const struct rnic_personality *ops;
	void *user;
	uint32_t max_sge, limit, users;
	bool error;
};

struct rnic_ah {
	struct rnic_pd *pd;
	struct rnic_av av;
};

enum mr_verdict {
	MR_OK,
	MR_BAD_KEY,    /* no such key, or another PD's */
	MR_BAD_ACCESS, /* the MR does not permit this */
	MR_BAD_RANGE,
};

/*
 * May `access` (enum rnic_access bits; 0: local read) be done on [addr, addr+len) by key in this
 * PD? On MR_OK *mem and *vaddr tell where. A length of 0 is MR_OK whatever the key (C9-88).
 */
enum mr_verdict mr_check(struct rnic_pd *pd, uint32_t key, uint64_t addr, uint64_t len,
			 uint32_t access, struct rnic_mem **mem, uint64_t *vaddr);

/* [addr, addr + len) lies in [start, start + room). */
static inline bool range_holds(uint64_t start, uint64_t room, uint64_t addr, uint64_t len)
{
	/* Wraps for an address below the start: then the offset is above the room. */
	uint64_t offset = addr - start;

	return offset <= room && len <= room - offset;
}

/* Where an address of the region is. */
static inline void mr_place(const struct rnic_mr *mr, uint64_t addr, struct rnic_mem **mem,
			    uint64_t *vaddr)
{
	*mem = mr->attr.mem;
	*vaddr = mr->attr.start + (addr - mr->attr.iova);
}

/* Push a CQE and notify; on overflow raises CQ_ERR once and marks the CQ, which takes no more. */
void cq_complete(struct rnic_cq *cq, const struct rnic_cqe *cqe);
/* The QPs of CQs that have overflowed enter ERR. Called by the transport at the end of rnic_rx,
 * rnic_run, rnic_timer_fired and rnic_mem_resume, where no QP is in use. */
void cq_settle(struct rnic_device *dev, uint64_t now);

/* 0, or -EINVAL or -ENODATA as the kernel says and one log line: may a QP or AH use this AV?
 * Fills in *out, a copy with the source GID; who begins the line ("QP 17"). */
int av_resolve(struct rnic_device *dev, const char *who, const struct rnic_av *av,
	       struct rnic_av *out);
/* Is the source address of a resolved one still in the table? Without it there is no way to send,
 * as Linux finds, too: a request is then LOC_QP_OP_ERR. */
bool av_has_source(const struct rnic_device *dev, const struct rnic_av *av);

void dev_log(struct rnic_device *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
