/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * fts from a folder of the tree, or from one above it; as with nftw(), the C library's own would
 * not come through our functions, and still walks from everywhere else. Ours never changes the
 * working folder: fts_accpath is fts_path.
 *
 * The entries that live are the one that was told last, those behind it in its folder, its parents
 * and those behind them, and the children of a folder that fts_children() was asked for.
 */
#include "config.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "verbs/preload/hooks.h"
#include "verbs/preload/real.h"

struct walk {
	FTS head; /* what the program has; only cur, child, dev, compar and options are used */
	struct walk *next;
};

struct entry {
	struct stat st;
	FTSENT told; /* its name goes on behind it, and then comes the path */
};

static struct walk *walks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct walk *walk_find(const FTS *head, bool take)
{
	struct walk *w, **at;

	pthread_mutex_lock(&lock);
	for (at = &walks; *at && &(*at)->head != head; at = &(*at)->next)
		;
	w = *at;
	if (w && take)
		*at = w->next;
	pthread_mutex_unlock(&lock);
	return w;
}

/* ---- entries ---- */

static void entry_free(FTSENT *e)
{
	free((char *)e - offsetof(struct entry, told));
}

static void list_free(FTSENT *e)
{
	for (FTSENT *next; e; e = next) {
		next = e->fts_link;
		entry_free(e);
	}
}

/* `name` is all of the path where there is nothing above. */
static FTSENT *entry_create(FTSENT *up, const char *name)
{
	size_t before = up && up->fts_level >= FTS_ROOTLEVEL ? up->fts_pathlen : 0;
	size_t n = strlen(name), total;
	struct entry *new;
	char *text;

	if (before && up->fts_path[before - 1] == '/')
		before--;
	total = before ? before + 1 + n : n;
	if (total > USHRT_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	new = calloc(1, sizeof(*new) + n + total + 2);
	if (!new)
		return NULL;
	text = (char *)new + offsetof(struct entry, told.fts_name);
	memcpy(text, name, n);
	text += n + 1;
	new->told.fts_path = new->told.fts_accpath = text;
	if (before) {
		memcpy(text, up->fts_path, before);
		text[before] = '/';
	}
	memcpy(text + total - n, name, n);
	new->told.fts_namelen = (unsigned short)n;
	new->told.fts_pathlen = (unsigned short)total;
	new->told.fts_parent = up;
	new->told.fts_level = up ? (short)(up->fts_level + 1) : FTS_ROOTPARENTLEVEL;
	new->told.fts_instr = FTS_NOINSTR;
	new->told.fts_statp = &new->st;
	return &new->told;
}

/* What a program gave us has the last part of it for its name, but is sorted by all of it. */
static void entry_shorten_name(FTSENT *e)
{
	const char *slash = strrchr(e->fts_path, '/');

	if (!slash || (slash == e->fts_path && !slash[1]))
		return;
	e->fts_namelen = (unsigned short)strlen(slash + 1);
	memcpy((char *)e + offsetof(FTSENT, fts_name), slash + 1, e->fts_namelen + 1u);
}

static unsigned short folder_type(FTSENT *e)
{
	bool dot = !strcmp(e->fts_name, ".") || !strcmp(e->fts_name, "..");

	if (dot && e->fts_level > FTS_ROOTLEVEL)
		return FTS_DOT;
	for (FTSENT *up = e->fts_parent; up->fts_level >= FTS_ROOTLEVEL; up = up->fts_parent)
		if (up->fts_ino == e->fts_ino && up->fts_dev == e->fts_dev) {
			e->fts_cycle = up;
			return FTS_DC;
		}
	return FTS_D;
}

static void entry_look(const struct walk *w, FTSENT *e, bool follow)
{
	struct stat *st = e->fts_statp;
	bool through = follow || w->head.fts_options & FTS_LOGICAL;
	int ret = through ? stat(e->fts_path, st) : lstat(e->fts_path, st), error = errno;

	if (ret && through && !lstat(e->fts_path, st)) {
		e->fts_info = FTS_SLNONE;
	} else if (ret) {
		memset(st, 0, sizeof(*st));
		e->fts_errno = error;
		e->fts_info = FTS_NS;
	} else {
		e->fts_dev = st->st_dev;
		e->fts_ino = st->st_ino;
		e->fts_nlink = st->st_nlink;
		e->fts_info = S_ISDIR(st->st_mode)   ? folder_type(e)
			      : S_ISLNK(st->st_mode) ? FTS_SL
			      : S_ISREG(st->st_mode) ? FTS_F
						     : FTS_DEFAULT;
	}
}

/* ---- lists of them ---- */

/* In the order that the program wants. */
static FTSENT *list_sort(const struct walk *w, FTSENT *list, size_t n)
{
	FTSENT **all = n > 1 && w->head.fts_compar ? malloc(n * sizeof(FTSENT *)) : NULL;
	size_t i = 0;

	if (!all)
		return list;
	for (; list; list = list->fts_link)
		all[i++] = list;
	qsort(all, n, sizeof(FTSENT *), (int (*)(const void *, const void *))w->head.fts_compar);
	while (i--) {
		all[i]->fts_link = list;
		list = all[i];
	}
	free(all);
	return list;
}

static bool is_wanted(const struct walk *w, const char *name)
{
	return w->head.fts_options & FTS_SEEDOT || (strcmp(name, ".") && strcmp(name, ".."));
}

/* NULL: there are none, or (its fts_info says so) it cannot be read. */
static FTSENT *children_read(struct walk *w, FTSENT *folder)
{
	FTSENT *list = NULL, *e = NULL, **end = &list;
	struct dirent **found;
	int n = scandir(folder->fts_path, &found, NULL, NULL);
	size_t count = 0;
	bool failed = false;

	if (n < 0) {
		folder->fts_info = FTS_DNR;
		folder->fts_errno = errno;
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		if (!failed && is_wanted(w, found[i]->d_name)) {
			e = entry_create(folder, found[i]->d_name);
			failed = !e;
		}
		if (e) {
			entry_look(w, e, false);
			*end = e;
			end = &e->fts_link;
			count++;
			e = NULL;
		}
		free(found[i]);
	}
	free(found);
	if (failed) {
		list_free(list);
		folder->fts_info = FTS_ERR;
		folder->fts_errno = errno;
		return NULL;
	}
	return list_sort(w, list, count);
}

/* ---- the walk ---- */

static FTSENT *go_to(struct walk *w, FTSENT *e, FTSENT *up)
{
	while (e && e->fts_instr == FTS_SKIP) {
		FTSENT *skipped = e;

		e = e->fts_link;
		entry_free(skipped);
	}
	if (!e) {
		w->head.fts_cur = up->fts_level == FTS_ROOTPARENTLEVEL ? NULL : up;
		if (w->head.fts_cur) {
			up->fts_info = up->fts_errno ? FTS_ERR : FTS_DP;
			return up;
		}
		entry_free(up);
		errno = 0;
		return NULL;
	}
	if (e->fts_instr == FTS_FOLLOW)
		entry_look(w, e, true);
	e->fts_instr = FTS_NOINSTR;
	if (e->fts_level == FTS_ROOTLEVEL) {
		w->head.fts_dev = e->fts_dev;
		entry_shorten_name(e);
	}
	return w->head.fts_cur = e;
}

static FTSENT *go_down(struct walk *w, FTSENT *e, int asked)
{
	FTSENT *child = w->head.fts_child;
	bool other_device = w->head.fts_options & FTS_XDEV && e->fts_dev != w->head.fts_dev;

	w->head.fts_child = NULL;
	if (asked == FTS_SKIP || other_device) {
		list_free(child);
		child = NULL;
	} else if (!child) {
		child = children_read(w, e);
	}
	if (child)
		return go_to(w, child, e);
	if (e->fts_info == FTS_D)
		e->fts_info = FTS_DP;
	return e;
}

static FTSENT *walk_read(struct walk *w)
{
	FTSENT *e = w->head.fts_cur, *next, *up;
	int asked;

	if (!e)
		return NULL;
	asked = e->fts_instr;
	e->fts_instr = FTS_NOINSTR;
	if (asked == FTS_AGAIN ||
	    (asked == FTS_FOLLOW && (e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE))) {
		entry_look(w, e, asked == FTS_FOLLOW);
		return e;
	}
	if (e->fts_info == FTS_D)
		return go_down(w, e, asked);
	next = e->fts_link;
	up = e->fts_parent;
	entry_free(e);
	return go_to(w, next, up);
}

/* The places where the walk begins, behind an entry that is none. */
static bool walk_begin(struct walk *w, char *const *paths)
{
	FTSENT *top = entry_create(NULL, ""), *begin = top ? entry_create(top, "") : NULL;
	FTSENT **end = begin ? &begin->fts_link : NULL;
	size_t n = 0;

	for (; end && *paths; paths++, n++) {
		FTSENT *e = entry_create(top, *paths);

		if (!e) {
			list_free(begin);
			begin = NULL;
			break;
		}
		entry_look(w, e, w->head.fts_options & FTS_COMFOLLOW);
		*end = e;
		end = &e->fts_link;
	}
	if (!begin) {
		if (top)
			entry_free(top);
		return false;
	}
	begin->fts_info = FTS_INIT;
	begin->fts_link = list_sort(w, begin->fts_link, n);
	w->head.fts_cur = begin;
	return true;
}

static bool is_ours(char *const *paths)
{
	for (; *paths; paths++)
		if (hooks_walk_is_ours(*paths))
			return true;
	return false;
}

FTS *fts_open(char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **))
{
	struct walk *w;

	if (!paths || options & ~FTS_OPTIONMASK || !is_ours(paths))
		return real()->fts_open(paths, options, compare);
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->head.fts_options = options;
	w->head.fts_compar = (int (*)(const void *, const void *))compare;
	w->head.fts_rfd = -1;
	if (!walk_begin(w, paths)) {
		free(w);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	w->next = walks;
	walks = w;
	pthread_mutex_unlock(&lock);
	return &w->head;
}

FTSENT *fts_read(FTS *head)
{
	struct walk *w = walk_find(head, false);

	return w ? walk_read(w) : real()->fts_read(head);
}

FTSENT *fts_children(FTS *head, int how)
{
	struct walk *w = walk_find(head, false);
	FTSENT *e = w ? w->head.fts_cur : NULL;

	if (!w)
		return real()->fts_children(head, how);
	errno = how && how != FTS_NAMEONLY ? EINVAL : 0;
	if (errno || !e)
		return NULL;
	if (e->fts_info == FTS_INIT)
		return e->fts_link;
	if (e->fts_info != FTS_D)
		return NULL;
	list_free(w->head.fts_child);
	w->head.fts_child = children_read(w, e);
	if (!w->head.fts_child && e->fts_info == FTS_D)
		errno = 0;
	return w->head.fts_child;
}

int fts_close(FTS *head)
{
	struct walk *w = walk_find(head, true);
	FTSENT *e = w ? w->head.fts_cur : NULL, *up;

	if (!w)
		return real()->fts_close(head);
	list_free(w->head.fts_child);
	for (; e; e = up) {
		up = e->fts_parent;
		list_free(e);
	}
	free(w);
	return 0;
}

/* FTS64 and FTSENT64 are the same on 64-bit systems. */
__typeof__(fts64_open) fts64_open __attribute__((alias("fts_open")));
__typeof__(fts64_read) fts64_read __attribute__((alias("fts_read")));
__typeof__(fts64_children) fts64_children __attribute__((alias("fts_children")));
__typeof__(fts64_close) fts64_close __attribute__((alias("fts_close")));
