/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rates and alpha: see cc_rp.h. */
#include "config.h"

#include "rnic/cc_rp.h"

#include "rnic/cc_params.h"

#define MBIT 1000000ull
#define US 1000ull
#define S 1000000000ull
#define EVENTS_MAX 4096 /* of one update; what is left comes with the next */
#define LATE_NS (500 * US)
#define SILENT_NS (100 * US)
#define ONE CC_ALPHA_ONE

void cc_rp_reset(struct cc_rp *rp)
{
	*rp = (struct cc_rp){0};
}

static uint64_t rate_max(const struct cc_params *p)
{
	return p->rp_max_rate * MBIT;
}

/* ---- alpha ---- */

static uint64_t fraction_mul(uint64_t a, uint64_t b)
{
	return (a * b + ONE / 2) / ONE;
}

/* 1 - g, of ONE. */
static uint64_t alpha_keeps(const struct cc_params *p)
{
	return (uint64_t)p->rp_dce_tcp_g * (ONE / 1024);
}

/* Each period without a CNP: alpha = (1 - g) alpha. */
static void alpha_decay(struct cc_rp *rp, const struct cc_params *p, uint64_t now)
{
	uint64_t period = p->rp_dce_tcp_rtt * US;
	uint64_t n = (now - rp->alpha_at) / period;
	uint64_t power = alpha_keeps(p), alpha = rp->alpha;

	rp->alpha_at += n * period;
	for (; n && alpha; n >>= 1) {
		if (n & 1)
			alpha = fraction_mul(alpha, power);
		power = fraction_mul(power, power);
	}
	rp->alpha = (uint32_t)alpha;
}

/* alpha = (1 - g) alpha + g */
static void alpha_raise(struct cc_rp *rp, const struct cc_params *p, uint64_t now)
{
	uint64_t keeps = alpha_keeps(p);

	rp->alpha = (uint32_t)(fraction_mul(rp->alpha, keeps) + ONE - keeps);
	rp->alpha_at = now;
}

/* ---- up ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* One more period of the timer or of the byte counter has passed. */
static void raise(struct cc_rp *rp, const struct cc_params *p)
{
	uint32_t f = p->rp_threshold;

	if (least(rp->time_stage, rp->byte_stage) > f)
		rp->target += (uint64_t)(least(rp->time_stage, rp->byte_stage) - f) *
			      p->rp_hai_rate * MBIT;
	else if (most(rp->time_stage, rp->byte_stage) >= f)
		rp->target += p->rp_ai_rate * MBIT;
	if (rp->target > rate_max(p))
		rp->target = rate_max(p);
	rp->rate = (rp->rate + rp->target + 1) / 2;
	if (rp->rate >= rate_max(p))
		rp->limited = false;
}

void cc_rp_update(struct cc_rp *rp, const struct cc_params *p, uint64_t now)
{
	uint64_t period = p->rp_time_reset * US;

	/* Hosts ask with the time of their round, which may be older than the last one. */
	if (!rp->limited || now < rp->timer_at || now < rp->alpha_at)
		return;
	alpha_decay(rp, p, now);
	for (int i = 0; i < EVENTS_MAX && rp->limited && now - rp->timer_at >= period; i++) {
		rp->timer_at += period;
		rp->time_stage++;
		raise(rp, p);
	}
}

static void bytes_count(struct cc_rp *rp, const struct cc_params *p, uint64_t bytes)
{
	rp->bytes += bytes;
	while (rp->limited && rp->bytes >= p->rp_byte_reset) {
		rp->bytes -= p->rp_byte_reset;
		rp->byte_stage++;
		raise(rp, p);
	}
}

/* ---- down ---- */

static void begin(struct cc_rp *rp, const struct cc_params *p, uint64_t now)
{
	*rp = (struct cc_rp){
		.limited = true,
		.rate = rate_max(p),
		.target = rate_max(p),
		.alpha = p->rp_initial_alpha_value * (ONE / 1024),
		.alpha_at = now,
		.next = now,
	};
}

/* Is the rate of before the cut what it is to come back to? */
static bool target_moves(const struct cc_rp *rp, const struct cc_params *p)
{
	if (p->rp_clamp_tgt_rate)
		return true;
	return rp->byte_stage || (p->rp_clamp_tgt_rate_ati && rp->time_stage);
}

static void cut(struct cc_rp *rp, const struct cc_params *p)
{
	uint64_t alpha = rp->alpha / (ONE / 1024);
	uint64_t rest = rp->rate * p->rp_min_dec_fac / 100;
	uint64_t cut = rp->rate * alpha >> p->rp_gd;
	uint64_t min = p->rp_min_rate * MBIT;

	if (target_moves(rp, p))
		rp->target = rp->rate;
	rp->rate -= cut < rp->rate ? cut : rp->rate;
	if (rp->rate < rest)
		rp->rate = rest;
	if (rp->rate < min)
		rp->rate = min < rate_max(p) ? min : rate_max(p);
	if (rp->target < rp->rate)
		rp->target = rp->rate;
}

static void first_cnp(struct cc_rp *rp, const struct cc_params *p, uint64_t now)
{
	uint64_t rate = p->rp_rate_to_set_on_first_cnp * MBIT;

	begin(rp, p, now);
	if (rate && rate < rate_max(p))
		rp->rate = rp->target = rate;
	else
		cut(rp, p);
}

void cc_rp_cnp(struct cc_rp *rp, const struct cc_params *p, uint64_t now)
{
	cc_rp_update(rp, p, now);
	if (!rp->limited)
		first_cnp(rp, p, now);
	else if (now < rp->cut_at + p->rp_rate_reduce_monitor_period * US)
		return;
	else
		cut(rp, p);
	alpha_raise(rp, p, now);
	rp->cut_at = rp->timer_at = now;
	rp->bytes = 0;
	rp->time_stage = rp->byte_stage = 0;
}

/* ---- packets ---- */

/* No more than this is made up for: much if the host's timer was late, little if there was nothing
 * to send. */
static uint64_t sending_since(const struct cc_rp *rp, uint64_t now)
{
	uint64_t most = rp->waiting ? LATE_NS : SILENT_NS;

	return now > most && rp->next < now - most ? now - most : rp->next;
}

uint32_t cc_rp_grant(struct cc_rp *rp, const struct cc_params *p, uint32_t want, uint32_t bytes,
		     uint64_t now)
{
	uint64_t n;

	cc_rp_update(rp, p, now);
	if (!rp->limited)
		return want;
	if (rp->next > now) {
		rp->waiting = true;
		return 0;
	}
	n = 1 + (now - sending_since(rp, now)) * rp->rate / S / 8 / bytes;
	return n < want ? (uint32_t)n : want;
}

void cc_rp_sent(struct cc_rp *rp, const struct cc_params *p, uint64_t bytes, uint64_t now)
{
	if (!rp->limited)
		return;
	rp->next = sending_since(rp, now) + (bytes * 8 * S + rp->rate / 2) / rp->rate;
	rp->waiting = rp->waiting && rp->next <= now;
	bytes_count(rp, p, bytes);
}
