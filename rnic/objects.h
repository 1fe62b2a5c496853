/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Verbs objects but for QPs (IBA vol. 1, chapter 11): PD, MR, MW, CQ, SRQ, AH.
 * Functions return 0 or a negative errno and log one line that says why. Destroying an object
 * that others use gives -EBUSY.
 */
#ifndef RNIC_OBJECTS_H
#define RNIC_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "rnic/personality.h"
#include "rnic/types.h"

struct rnic_device;
struct rnic_mem;
struct rnic_pd;
struct rnic_mr;
struct rnic_mw;
struct rnic_cq;
struct rnic_srq;
struct rnic_ah;

int rnic_pd_create(struct rnic_device *dev, struct rnic_pd **pd);
int rnic_pd_destroy(struct rnic_pd *pd);
uint32_t rnic_pd_users(const struct rnic_pd *pd); /* objects */

struct rnic_mr_attr {
	struct rnic_mem *mem; /* the core keeps the pointer only; the host keeps it alive */
	uint64_t start;	      /* address in the process */
	uint64_t length;
	uint64_t iova;	 /* address that requests use */
	uint32_t access; /* enum rnic_access and the optional bits, which are ignored */
};

/* REMOTE_WRITE or REMOTE_ATOMIC without LOCAL_WRITE: -EINVAL. lkey == rkey. */
int rnic_mr_create(struct rnic_pd *pd, const struct rnic_mr_attr *attr, struct rnic_mr **mr);
/* -EINVAL, as the kernel's rxe, while windows are bound to it. */
int rnic_mr_destroy(struct rnic_mr *mr);
/*
 * Reregister: another PD, another memory, range or access, all at once; the keys
 * stay. -EINVAL while windows are bound to it, and for what rnic_mr_create refuses.
 */
int rnic_mr_modify(struct rnic_mr *mr, struct rnic_pd *pd, const struct rnic_mr_attr *attr);
/* The MR of this PD that the key names, or NULL. */
const struct rnic_mr *rnic_mr_find(const struct rnic_pd *pd, uint32_t key);
uint32_t rnic_mr_key(const struct rnic_mr *mr);
const struct rnic_mr_attr *rnic_mr_attr_get(const struct rnic_mr *mr);
struct rnic_pd *rnic_mr_pd(const struct rnic_mr *mr);

/*
 * A window of type 1 begins without a range, one of type 2 is free; requests bind
 * them. Destroying a bound one unbinds it.
 */
int rnic_mw_create(struct rnic_pd *pd, enum rnic_mw_type type, struct rnic_mw **mw);
int rnic_mw_destroy(struct rnic_mw *mw);
uint32_t rnic_mw_key(const struct rnic_mw *mw);

/* cqe: capacity; user goes to the personality's cq_* functions and back to the host. */
int rnic_cq_create(struct rnic_device *dev, uint32_t cqe, const struct rnic_personality *ops,
		   void *user, struct rnic_cq **cq);
int rnic_cq_destroy(struct rnic_cq *cq);
void *rnic_cq_user(const struct rnic_cq *cq);
uint32_t rnic_cq_users(const struct rnic_cq *cq); /* QPs, twice if for both queues */
bool rnic_cq_overflowed(const struct rnic_cq *cq);

/*
 * SRQs: IBA 10.2.9. Its receives are checked against its own PD, whatever the QP's. Arming with a
 * limit raises SRQ_LIMIT_REACHED once, when a receive is taken and fewer are left; 0 disarms.
 */
int rnic_srq_create(struct rnic_pd *pd, uint32_t max_sge, uint32_t limit,
		    const struct rnic_personality *ops, void *user, struct rnic_srq **srq);
int rnic_srq_destroy(struct rnic_srq *srq);
int rnic_srq_arm(struct rnic_srq *srq, uint32_t limit);
uint32_t rnic_srq_limit(const struct rnic_srq *srq);
struct rnic_pd *rnic_srq_pd(const struct rnic_srq *srq);
void *rnic_srq_user(const struct rnic_srq *srq);

/* Checks the AV (GRH, port 1, sgid_index filled) and fills av->sgid in from the table. */
int rnic_ah_create(struct rnic_pd *pd, const struct rnic_av *av, struct rnic_ah **ah);
int rnic_ah_destroy(struct rnic_ah *ah);
const struct rnic_av *rnic_ah_av(const struct rnic_ah *ah);
struct rnic_pd *rnic_ah_pd(const struct rnic_ah *ah);

#endif
