/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules of the daemon's devices: those that it was started with, and rnicctl fault. */
#ifndef TOOLS_FAULTS_H
#define TOOLS_FAULTS_H

#include <stdbool.h>

struct adapter;
struct admin_reply;
struct daemon;

/* Reads the file of --faults, once for all devices. Are its rules and those of --fault right? 0, or
 * -errno with a line logged. */
int faults_load(struct daemon *d);
void faults_unload(struct daemon *d);
/* Those that are this device's become its own. */
int faults_apply(struct adapter *a);

/* rnicctl's command, the word "fault" being argv[0]. */
int faults_command(struct daemon *d, int argc, char **argv, bool json, struct admin_reply *reply);

#endif
