/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parameters of congestion control, by the names that mlx5 gives them in cc_params. */
#ifndef RNIC_CC_PARAMS_H
#define RNIC_CC_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cc_mode {
	CC_NONE,   /* nothing slows a QP down but the room of the receiving socket */
	CC_WINDOW, /* that room is halved at each loss, and grows with acknowledgements */
	CC_DCQCN,  /* and packets are ECT, and CNPs set the rate of their QP */
};

/*
 * X(name, least, most). Rates in Mbit/s, times in us, bytes as such; rp_dce_tcp_g and
 * rp_initial_alpha_value in parts of 1024, rp_gd a logarithm of base 2.
 */
#define CC_PARAMS(X)                                                                               \
	X(rp_clamp_tgt_rate, 0, 1)                                                                 \
	X(rp_clamp_tgt_rate_ati, 0, 1)                                                             \
	X(rp_time_reset, 1, 131071)                                                                \
	X(rp_byte_reset, 1, 1000000000)                                                            \
	X(rp_threshold, 1, 31)                                                                     \
	X(rp_ai_rate, 1, 400000)                                                                   \
	X(rp_max_rate, 1, 400000)                                                                  \
	X(rp_hai_rate, 1, 400000)                                                                  \
	X(rp_min_dec_fac, 0, 100)                                                                  \
	X(rp_min_rate, 1, 400000)                                                                  \
	X(rp_rate_to_set_on_first_cnp, 0, 400000)                                                  \
	X(rp_dce_tcp_g, 0, 1023)                                                                   \
	X(rp_dce_tcp_rtt, 1, 131071)                                                               \
	X(rp_rate_reduce_monitor_period, 0, 1000000)                                               \
	X(rp_initial_alpha_value, 1, 1024)                                                         \
	X(rp_gd, 10, 20)                                                                           \
	X(np_min_time_between_cnps, 0, 131071)                                                     \
	X(np_cnp_dscp, 0, 63)                                                                      \
	X(np_cnp_prio_mode, 0, 1)                                                                  \
	X(np_cnp_prio, 0, 7)

struct cc_params {
	enum cc_mode mode;
#define X(name, least, most) uint32_t name;
	CC_PARAMS(X)
#undef X
};

/* mode=dcqcn and the published values, which are for 40 Gbit/s. */
extern const struct cc_params cc_params_default;

/*
 * Set one of them by its name; "mode" takes none, window or dcqcn, and "profile" 40g, 10g or 1g,
 * which sets all but the mode. 0, or -EINVAL with a line in err that says what is wrong.
 */
int cc_params_set(struct cc_params *p, const char *name, const char *value, char *err,
		  size_t err_size);

/* The parameter of that number, mode apart: its name and value. False at the end. */
bool cc_params_get(const struct cc_params *p, uint32_t index, const char **name, uint32_t *value);

const char *cc_mode_name(enum cc_mode mode);

#endif
