/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One daemon serves in a folder: it has claimed it. */
#ifndef TOOLS_CLAIM_H
#define TOOLS_CLAIM_H

/*
 * A descriptor that holds the claim as long as it is open, or -errno with a line logged:
 * -EADDRINUSE if another daemon serves there. One that begins or ends is waited for.
 */
int claim_folder(const char *dir);

#endif
