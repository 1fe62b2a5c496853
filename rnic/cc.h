/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Congestion control of a device's RC and UC QPs: marks that come are answered with CNPs (the
 * notification point), CNPs that come limit their QP (the reaction point, cc_rp.h), and what is
 * sent says that it may be marked. Nothing of it has a timer but a limited QP with something to
 * send.
 */
#ifndef RNIC_CC_H
#define RNIC_CC_H

#include <stdint.h>

#include "rnic/cc_params.h"

struct rnic_device;
struct rnic_qp;

/* Hold for all QPs from now on, those that are limited included. */
void rnic_cc_set(struct rnic_device *dev, const struct cc_params *params);
const struct cc_params *rnic_cc_get(const struct rnic_device *dev);

/* The rate in bit/s to which congestion limits the QP now, 0: none, and alpha in parts of
 * 1000000. */
uint64_t rnic_qp_cc_rate(const struct rnic_qp *qp, uint64_t now, uint32_t *alpha);

#endif
