/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Encoding and decoding of the header that management datagrams share. */
#include "config.h"

#include "bth/mad.h"

#include <string.h>

#include "bth/wire.h"

bool mad_decode(const uint8_t *buf, size_t len, struct mad *mad)
{
	if (len < MAD_LEN)
		return false;
	*mad = (struct mad){
		.base_version = buf[0],
		.mgmt_class = buf[1],
		.class_version = buf[2],
		.method = buf[3],
		.status = wire_get16(buf + 4),
		.class_specific = wire_get16(buf + 6),
		.tid = wire_get64(buf + 8),
		.attr_id = wire_get16(buf + 16),
		.attr_mod = wire_get32(buf + 20),
		.data = buf + MAD_HEADER_LEN,
	};
	return true;
}

void mad_encode(const struct mad *mad, uint8_t *buf)
{
	memset(buf, 0, MAD_HEADER_LEN);
	buf[0] = mad->base_version;
	buf[1] = mad->mgmt_class;
	buf[2] = mad->class_version;
	buf[3] = mad->method;
	wire_put16(buf + 4, mad->status);
	wire_put16(buf + 6, mad->class_specific);
	wire_put64(buf + 8, mad->tid);
	wire_put16(buf + 16, mad->attr_id);
	wire_put32(buf + 20, mad->attr_mod);
}
