/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which IDs pass.
 *
 * An unconnected UDP socket with DF sends ID 0, and the kernel numbers the datagrams that it
 * cuts from a GSO run 0, 1, 2, ... to 63 at most: mode INDEX, where those 64 IDs pass in any
 * order (flows interleave, datagrams get lost). All others are taken to count: mode COUNTER.
 * Linux rxe draws from a counter that other traffic of the same pair of addresses may advance,
 * and that the kernel advances, when it was unused for t clock ticks, by a random number below
 * t; a tick is 1 to 10 ms. So AHEAD IDs from the expected one on pass, more after a pause (one
 * for each ms), and the BEHIND last ones, for datagrams that were overtaken. A constant ID passes
 * too.
 *
 * Of packets whose ICRC is random, this lets pass (ID 0 included)
 *   64 / 2^32, one in 67 million, of a peer in mode INDEX,
 *   129 / 2^32, one in 33 million, of a peer in mode COUNTER (twice that while a suspect is kept),
 *   (129 + t) / 2^32 as the first one after a pause of t ms, at most 1 / 2^16 after a minute,
 *   1 / 2^16 as the first one ever.
 * They come on top of what the link's own checksum, and the UDP checksum where there is one, let
 * pass. One that did pass moves the expected ID by at most AHEAD = BEHIND, so that the right ones
 * still pass afterwards.
 *
 * An ID elsewhere is a suspect: its packet is dropped, and if a later packet fits the suspect,
 * before too many have fitted the old numbering, the peer is taken to number like this now (it
 * began anew, or more than AHEAD packets were lost).
 */
#include "config.h"

#include "bth/icrc.h"
#include "bth/ipid.h"

enum ipid_mode { FRESH, INDEX, COUNTER };

enum { RUN_MAX = 64, AHEAD = 64, BEHIND = 64, PATIENCE = 64 };

static uint32_t idle_ms(uint64_t now, uint64_t seen)
{
	uint64_t ms = now > seen ? (now - seen) / 1000000 : 0;

	return ms < UINT16_MAX ? (uint32_t)ms : UINT16_MAX;
}

static bool is_ahead(uint16_t id, uint16_t next, uint32_t more)
{
	return (uint16_t)(id - next) < AHEAD + more;
}

static bool is_near(uint16_t id, uint16_t next, uint32_t more)
{
	return is_ahead(id, next, more) || (uint16_t)(next - id) <= BEHIND;
}

static enum ipid_verdict judge(const struct ipid_peer *peer, uint64_t now, uint16_t id)
{
	switch ((enum ipid_mode)peer->mode) {
	case FRESH:
		return id < RUN_MAX ? IPID_PREDICTED : IPID_SOLVED;
	case INDEX:
		if (id < RUN_MAX)
			return IPID_PREDICTED;
		break;
	case COUNTER:
		if (id == 0 || is_near(id, peer->next, 0))
			return IPID_PREDICTED;
		if (is_ahead(id, peer->next, idle_ms(now, peer->seen)))
			return IPID_SOLVED;
		break;
	}
	if (peer->patience > 0 && is_near(id, peer->suspect, idle_ms(now, peer->suspect_seen)))
		return IPID_SOLVED;
	return IPID_WRONG;
}

static void suspect(struct ipid_peer *peer, uint64_t now, uint16_t id)
{
	peer->patience = PATIENCE;
	peer->suspect = (uint16_t)(id + 1);
	peer->suspect_seen = now;
}

static void learn(struct ipid_peer *peer, uint64_t now, uint16_t id, enum ipid_verdict verdict)
{
	if (verdict == IPID_SOLVED)
		peer->patience = 0;
	else if (peer->patience > 0)
		peer->patience--;

	if (peer->mode == INDEX && verdict == IPID_PREDICTED) {
		peer->run = (uint8_t)((id + 1) % RUN_MAX);
		return;
	}
	/* A counter near 0 passes it like any other; of one elsewhere 0 is the end. */
	if (id == 0 && (peer->mode == FRESH || !is_near(id, peer->next, 0))) {
		peer->mode = INDEX;
		peer->run = 1;
		return;
	}
	if (peer->mode == COUNTER && verdict == IPID_PREDICTED && !is_ahead(id, peer->next, 0))
		return; /* overtaken */
	peer->mode = COUNTER;
	peer->next = (uint16_t)(id + 1);
	peer->seen = now;
}

enum ipid_verdict ipid_check_at(struct ipid_peer *peer, uint64_t now, uint32_t computed,
				uint32_t received, size_t len)
{
	uint16_t expected = peer->mode == INDEX ? peer->run : peer->next;
	enum ipid_verdict verdict;
	int32_t id;

	if (computed == received)
		id = 0;
	else if (icrc_with_id(computed, expected, len) == received)
		id = expected;
	else
		id = icrc_solve_id(computed, received, len);
	if (id < 0)
		return IPID_WRONG;

	verdict = judge(peer, now, (uint16_t)id);
	if (verdict == IPID_WRONG)
		suspect(peer, now, (uint16_t)id);
	else
		learn(peer, now, (uint16_t)id, verdict);
	return verdict;
}
