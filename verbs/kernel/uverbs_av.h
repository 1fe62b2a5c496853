/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Address vectors as commands have them. */
#ifndef KERNEL_UVERBS_AV_H
#define KERNEL_UVERBS_AV_H

struct ib_uverbs_ah_attr;
struct ib_uverbs_qp_dest;
struct rnic_av;

/* The source GID is left for the core. */
void av_from_ah_attr(const struct ib_uverbs_ah_attr *a, struct rnic_av *av);
void av_from_qp_dest(const struct ib_uverbs_qp_dest *d, struct rnic_av *av);
void av_to_qp_dest(const struct rnic_av *av, struct ib_uverbs_qp_dest *d);

#endif
