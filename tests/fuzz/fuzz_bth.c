/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* For libFuzzer: what decodes is encoded to bytes that decode to the same, and prints. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bth/packet.h"
#include "bth/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[BTH_HEADERS_MAX], third[BTH_HEADERS_MAX];
	struct bth_packet pkt;
	char line[64];
	size_t n;

	if (bth_decode(data, size, &pkt) != BTH_OK)
		return 0;
	bth_print(line, sizeof(line), &pkt);
	n = bth_encode_headers(&pkt, again);
	if (n + pkt.payload_len + pkt.pad != size)
		abort();
	if (pkt.payload_len + pkt.pad > 0)
		return 0;
	if (bth_decode(again, n, &pkt) != BTH_OK)
		abort();
	if (bth_encode_headers(&pkt, third) != n || memcmp(again, third, n) != 0)
		abort();
	return 0;
}
