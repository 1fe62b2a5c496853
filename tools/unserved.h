/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Programs into which the dynamic linker loads no librnic.so. */
#ifndef TOOLS_UNSERVED_H
#define TOOLS_UNSERVED_H

/* Why the program of this name, as execvp finds it, cannot be served; NULL: it can, or there is
 * none. */
const char *unserved(const char *program);

#endif
