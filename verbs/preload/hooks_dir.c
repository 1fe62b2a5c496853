/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Folders that are read: those of the tree, and those of the system that have parts of it among
 * their own (/sys/class). Of the latter a listing is kept: what the system has there but for names
 * that are ours, then what the tree has.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "verbs/preload/hooks.h"
#include "verbs/preload/path.h"
#include "verbs/preload/real.h"

struct listing {
	struct listing *next;
	DIR *dir;
	const char *path;
	unsigned int n, at; /* of the tree's entries; shown so far */
	struct dirent entry[];
};

static struct listing *_Atomic listings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_ours(const char *folder, const char *name)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path) &&
	       path_absolute_is_ours(path);
}

/* The tree's entries at `path`; NULL if there are none. */
static struct listing *listing_read(const char *path)
{
	struct listing *l = NULL, *more;
	struct dirent *e;
	struct path p;
	unsigned int n = 0;
	DIR *tree = path_lookup(AT_FDCWD, path, &p) ? real()->opendir(p.tree) : NULL;

	while (tree && (e = real()->readdir(tree))) {
		if (!is_ours(path, e->d_name))
			continue;
		more = realloc(l, sizeof(*l) + (n + 1) * sizeof(l->entry[0]));
		if (!more)
			break;
		l = more;
		memcpy(&l->entry[n++], e, e->d_reclen);
	}
	if (tree)
		real()->closedir(tree);
	if (l) {
		l->path = path;
		l->n = n;
		l->at = 0;
	}
	return l;
}

static void listing_begin(DIR *d, const char *path)
{
	int saved = errno;
	struct listing *l = listing_read(path);

	errno = saved;
	if (!l)
		return;
	l->dir = d;
	pthread_mutex_lock(&lock);
	l->next = listings;
	listings = l;
	pthread_mutex_unlock(&lock);
}

static struct listing *listing_find(DIR *d, bool take)
{
	struct listing *l = NULL, *before = NULL;

	if (!listings)
		return NULL;
	pthread_mutex_lock(&lock);
	for (l = listings; l && l->dir != d; l = l->next)
		before = l;
	if (l && take && before)
		before->next = l->next;
	else if (l && take)
		listings = l->next;
	pthread_mutex_unlock(&lock);
	return l;
}

static struct dirent *listing_next(struct listing *l)
{
	struct dirent *e;

	while ((e = real()->readdir(l->dir)))
		if (!is_ours(l->path, e->d_name))
			return e;
	return l->at < l->n ? &l->entry[l->at++] : NULL;
}

/* Is it a folder of the system that has parts of the tree? Then they are listed too. */
static bool above_begin(DIR *d)
{
	struct stat st;
	const char *path = real()->fstat(dirfd(d), &st) ? NULL : path_above(st.st_dev, st.st_ino);

	if (!path)
		return false;
	fdtab_mark(dirfd(d), FDTAB_TREE);
	listing_begin(d, path);
	return true;
}

__attribute__((noinline)) static DIR *our_opendir(const char *path, bool *done)
{
	struct path p;
	DIR *d;

	*done = path_lookup(AT_FDCWD, path, &p);
	d = *done ? real()->opendir(p.tree) : NULL;
	if (d)
		fdtab_mark(dirfd(d), FDTAB_TREE);
	return d;
}

static DIR *hooked_opendir(const char *path)
{
	bool done = false;
	DIR *d = path_maybe(AT_FDCWD, path) ? our_opendir(path, &done) : NULL;

	if (done)
		return d;
	d = real()->opendir(path);
	/* The number may be one that closedir() closed. */
	if (d && !above_begin(d) && fdtab_hint(dirfd(d)) == FDTAB_TREE)
		fdtab_mark(dirfd(d), FDTAB_NONE);
	return d;
}

DIR *opendir(const char *path)
{
	return hooked_opendir(path);
}

DIR *fdopendir(int fd)
{
	DIR *d = real()->fdopendir(fd);

	if (d)
		above_begin(d);
	return d;
}

static int hooked_closedir(DIR *d)
{
	free(listing_find(d, true));
	return real()->closedir(d);
}

int closedir(DIR *d)
{
	return hooked_closedir(d);
}

void rewinddir(DIR *d)
{
	struct listing *l = listing_find(d, false);

	if (l)
		l->at = 0;
	real()->rewinddir(d);
}

/* The tree's entries come again after whatever was sought: they have no places of their own. */
void seekdir(DIR *d, long to)
{
	struct listing *l = listing_find(d, false);

	if (l)
		l->at = 0;
	real()->seekdir(d, to);
}

/* The tree's device nodes are files: who wants to know must ask stat(). */
static struct dirent *hooked_readdir(DIR *d)
{
	struct listing *l = listing_find(d, false);
	struct dirent *e = l ? listing_next(l) : real()->readdir(d);

	if (e && e->d_type == DT_REG && fdtab_hint(dirfd(d)) == FDTAB_TREE)
		e->d_type = DT_UNKNOWN;
	return e;
}

struct dirent *readdir(DIR *d)
{
	return hooked_readdir(d);
}

struct dirent64 *readdir64(DIR *d)
{
	return (struct dirent64 *)hooked_readdir(d);
}

/* ---- scandir ---- */

typedef int dirent_filter(const struct dirent *);
typedef int dirent_compare(const struct dirent **, const struct dirent **);

/* A folder that opendir() above has opened, and closes. */
static int scan(DIR *d, struct dirent ***list, dirent_filter *filter, dirent_compare *compare)
{
	struct dirent **all = NULL, **more, *e, *copy;
	size_t n = 0;
	int error = 0;

	while (!error && (e = hooked_readdir(d))) {
		if (filter && !filter(e))
			continue;
		more = realloc(all, (n + 1) * sizeof(*all));
		copy = more ? malloc(e->d_reclen) : NULL;
		all = more ? more : all;
		if (copy)
			all[n++] = memcpy(copy, e, e->d_reclen);
		else
			error = ENOMEM;
	}
	hooked_closedir(d);
	if (error) {
		while (n)
			free(all[--n]);
		free(all);
		errno = error;
		return -1;
	}
	if (n && compare)
		qsort(all, n, sizeof(*all), (int (*)(const void *, const void *))compare);
	*list = all;
	return (int)n;
}

static DIR *opendirat(int dirfd, const char *path)
{
	int fd = dirfd == AT_FDCWD ? -1 : openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = dirfd == AT_FDCWD ? hooked_opendir(path) : fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static bool is_above(int dirfd, const char *path)
{
	struct stat st;

	return path && !real()->fstatat(dirfd, path, &st, 0) && path_above(st.st_dev, st.st_ino);
}

static int hooked_scandirat(int dirfd, const char *path, struct dirent ***list,
			    dirent_filter *filter, dirent_compare *compare)
{
	DIR *d;

	if (!path_maybe(dirfd, path) && !is_above(dirfd, path))
		return real()->scandirat(dirfd, path, list, filter, compare);
	d = opendirat(dirfd, path);
	return d ? scan(d, list, filter, compare) : -1;
}

int scandir(const char *restrict path, struct dirent ***restrict list, dirent_filter *filter,
	    dirent_compare *compare)
{
	return hooked_scandirat(AT_FDCWD, path, list, filter, compare);
}

int scandirat(int dirfd, const char *restrict path, struct dirent ***restrict list,
	      dirent_filter *filter, dirent_compare *compare)
{
	return hooked_scandirat(dirfd, path, list, filter, compare);
}

int scandir64(const char *restrict path, struct dirent64 ***restrict list,
	      int (*filter)(const struct dirent64 *),
	      int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return hooked_scandirat(AT_FDCWD, path, (struct dirent ***)list, (dirent_filter *)filter,
				(dirent_compare *)compare);
}

int scandirat64(int dirfd, const char *restrict path, struct dirent64 ***restrict list,
		int (*filter)(const struct dirent64 *),
		int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return hooked_scandirat(dirfd, path, (struct dirent ***)list, (dirent_filter *)filter,
				(dirent_compare *)compare);
}

/* ---- glob ---- */

/* Can it match what is ours? Then glob() is to go through the functions above. */
static bool pattern_reaches_us(const char *pattern)
{
	return pattern && (!strncmp(pattern, "/sys/", 5) || !strncmp(pattern, "/dev/", 5) ||
			   (pattern[0] != '/' && path_cwd_in_tree));
}

static void *glob_opendir(const char *path)
{
	return hooked_opendir(path);
}

static struct dirent *glob_readdir(void *d)
{
	return hooked_readdir(d);
}

static void glob_closedir(void *d)
{
	hooked_closedir(d);
}

static int hooked_glob(const char *pattern, int flags, int (*fail)(const char *, int), glob_t *g)
{
	int ret;

	if (flags & GLOB_ALTDIRFUNC || !pattern_reaches_us(pattern))
		return real()->glob(pattern, flags, fail, g);
	g->gl_opendir = glob_opendir;
	g->gl_readdir = glob_readdir;
	g->gl_closedir = glob_closedir;
	g->gl_stat = stat;
	g->gl_lstat = lstat;
	ret = real()->glob(pattern, flags | GLOB_ALTDIRFUNC, fail, g);
	g->gl_flags &= ~GLOB_ALTDIRFUNC;
	return ret;
}

int glob(const char *restrict pattern, int flags, int (*fail)(const char *, int),
	 glob_t *restrict g)
{
	return hooked_glob(pattern, flags, fail, g);
}

int glob64(const char *restrict pattern, int flags, int (*fail)(const char *, int),
	   glob64_t *restrict g)
{
	return hooked_glob(pattern, flags, fail, (glob_t *)g);
}
