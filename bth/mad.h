/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Management datagrams: the header that they share (IBA vol. 1, 13.4). */
#ifndef BTH_MAD_H
#define BTH_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAD_LEN 256
#define MAD_HEADER_LEN 24
#define MAD_DATA_LEN (MAD_LEN - MAD_HEADER_LEN)

#define MAD_BASE_VERSION 1
#define MAD_CLASS_CM 7
#define MAD_CLASS_VERSION_CM 2
#define MAD_METHOD_SEND 3

struct mad {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;
	uint16_t class_specific;
	uint64_t tid;
	uint16_t attr_id;
	uint32_t attr_mod;
	const uint8_t
		*data; /* MAD_DATA_LEN bytes, within the decoded buffer; encoding ignores it */
};

/* False if the buffer is shorter than a MAD. */
bool mad_decode(const uint8_t *buf, size_t len, struct mad *mad);
/* Writes the MAD_HEADER_LEN bytes before the data; reserved fields become 0. */
void mad_encode(const struct mad *mad, uint8_t *buf);

#endif
