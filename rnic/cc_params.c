/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Defaults, profiles, and setting by name.
 *
 * The published values (Zhu et al., SIGCOMM 2015: g 1/256, N 50 us, K and T 55 us, B 10 MB, F 5,
 * R_AI 40 Mbit/s) belong to 40 Gbit/s. R_HAI and a minimum are not published with them; ten times
 * R_AI is what QCN and mlx5 have. A profile for a slower line keeps what so many packets mean:
 * where the rates shrink, the timer stretches. The time between CNPs stretches less: it also says
 * how soon sixteen senders that begin at the rate of the line are slowed down.
 */
#include "config.h"

#include "rnic/cc_params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What does not depend on the rate of the line. */
#define CC_COMMON                                                                                  \
	.mode = CC_DCQCN, .rp_clamp_tgt_rate = 1, .rp_clamp_tgt_rate_ati = 1, .rp_threshold = 5,   \
	.rp_min_dec_fac = 50, .rp_rate_to_set_on_first_cnp = 0, .rp_dce_tcp_g = 1020,              \
	.rp_initial_alpha_value = 1024, .rp_gd = 11, .rp_rate_reduce_monitor_period = 4,           \
	.np_cnp_dscp = 48, .np_cnp_prio_mode = 0, .np_cnp_prio = 6

const struct cc_params cc_params_default = {
	CC_COMMON,	   .rp_time_reset = 55,	 .rp_byte_reset = 10000000,
	.rp_ai_rate = 40,  .rp_max_rate = 40000, .rp_hai_rate = 400,
	.rp_min_rate = 10, .rp_dce_tcp_rtt = 55, .np_min_time_between_cnps = 50,
};

static const struct cc_params profile_10g = {
	CC_COMMON,	  .rp_time_reset = 220, .rp_byte_reset = 10000000,
	.rp_ai_rate = 10, .rp_max_rate = 10000, .rp_hai_rate = 100,
	.rp_min_rate = 5, .rp_dce_tcp_rtt = 55, .np_min_time_between_cnps = 50,
};

static const struct cc_params profile_1g = {
	CC_COMMON,	  .rp_time_reset = 2200, .rp_byte_reset = 10000000,
	.rp_ai_rate = 1,  .rp_max_rate = 1000,	 .rp_hai_rate = 10,
	.rp_min_rate = 1, .rp_dce_tcp_rtt = 220, .np_min_time_between_cnps = 200,
};

static const struct {
	const char *name;
	const struct cc_params *params;
} profiles[] = {{"40g", &cc_params_default}, {"10g", &profile_10g}, {"1g", &profile_1g}};

static const char *const mode_names[] = {
	[CC_NONE] = "none", [CC_WINDOW] = "window", [CC_DCQCN] = "dcqcn"};

static const struct param {
	const char *name;
	size_t offset;
	uint32_t least, most;
} params[] = {
#define X(name, least, most) {#name, offsetof(struct cc_params, name), least, most},
	CC_PARAMS(X)
#undef X
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *cc_mode_name(enum cc_mode mode)
{
	return mode_names[mode];
}

static int mode_set(struct cc_params *p, const char *value, char *err, size_t err_size)
{
	for (size_t i = 0; i < COUNT(mode_names); i++)
		if (!strcmp(value, mode_names[i])) {
			p->mode = (enum cc_mode)i;
			return 0;
		}
	snprintf(err, err_size, "mode is none, window or dcqcn, not %.40s", value);
	return -EINVAL;
}

static int profile_set(struct cc_params *p, const char *value, char *err, size_t err_size)
{
	enum cc_mode mode = p->mode;

	for (size_t i = 0; i < COUNT(profiles); i++)
		if (!strcmp(value, profiles[i].name)) {
			*p = *profiles[i].params;
			p->mode = mode;
			return 0;
		}
	snprintf(err, err_size, "profile is 40g, 10g or 1g, not %.40s", value);
	return -EINVAL;
}

static int number_set(struct cc_params *p, const struct param *param, const char *value, char *err,
		      size_t err_size)
{
	unsigned long number;
	uint32_t n;
	char *end;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || number < param->least ||
	    number > param->most) {
		snprintf(err, err_size, "%s is a number from %u to %u, not %.40s", param->name,
			 param->least, param->most, value);
		return -EINVAL;
	}
	n = (uint32_t)number;
	memcpy((char *)p + param->offset, &n, sizeof(n));
	return 0;
}

int cc_params_set(struct cc_params *p, const char *name, const char *value, char *err,
		  size_t err_size)
{
	if (!strcmp(name, "mode"))
		return mode_set(p, value, err, err_size);
	if (!strcmp(name, "profile"))
		return profile_set(p, value, err, err_size);
	for (size_t i = 0; i < COUNT(params); i++)
		if (!strcmp(name, params[i].name))
			return number_set(p, &params[i], value, err, err_size);
	snprintf(err, err_size, "no parameter of congestion control is called %.40s", name);
	return -EINVAL;
}

bool cc_params_get(const struct cc_params *p, uint32_t index, const char **name, uint32_t *value)
{
	if (index >= COUNT(params))
		return false;
	*name = params[index].name;
	memcpy(value, (const char *)p + params[index].offset, sizeof(*value));
	return true;
}
