/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * nftw() and ftw() from a folder of the tree, or from one above it. The C library's own would not
 * come through our functions; it still walks from everywhere else.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "verbs/preload/hooks.h"
#include "verbs/preload/path.h"
#include "verbs/preload/real.h"

struct walk {
	__nftw_func_t told; /* one of the two */
	__ftw_func_t told_plain;
	int flags;
	dev_t dev;
	size_t hidden; /* bytes of path that the program does not see: FTW_CHDIR of a relative one
			*/
	char path[2 * PATH_MAX];
};

struct folder {
	const struct folder *up;
	dev_t dev;
	ino_t ino;
};

static int tell(struct walk *w, const struct stat *st, int type, struct FTW *at)
{
	static const int plain[] = {
		[FTW_F] = FTW_F,   [FTW_D] = FTW_D,  [FTW_DNR] = FTW_DNR, [FTW_NS] = FTW_NS,
		[FTW_SL] = FTW_SL, [FTW_DP] = FTW_D, [FTW_SLN] = FTW_NS};
	char *slash = w->path + w->hidden + at->base - 1;

	if (w->told_plain)
		return w->told_plain(w->path, st, plain[type]);
	if (w->flags & FTW_CHDIR && slash >= w->path) {
		int ret;

		*slash = '\0';
		ret = chdir(slash == w->path ? "/" : w->path);
		*slash = '/';
		if (ret)
			return -1;
	}
	return w->told(w->path + w->hidden, st, type, at);
}

static int type_of(const struct walk *w, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	if (w->flags & FTW_PHYS ? lstat(w->path, st) : stat(w->path, st)) {
		if (w->flags & FTW_PHYS || lstat(w->path, st) || !S_ISLNK(st->st_mode))
			return FTW_NS;
		return FTW_SLN;
	}
	return S_ISDIR(st->st_mode) ? FTW_D : S_ISLNK(st->st_mode) ? FTW_SL : FTW_F;
}

static int visit(struct walk *w, const struct folder *up, struct FTW at);

static int visit_list(struct walk *w, const struct folder *f, struct FTW at, struct dirent **list,
		      int n)
{
	size_t end = strlen(w->path);
	size_t slash = w->path[end - 1] != '/';
	int ret = 0;

	at.level++;
	at.base = (int)(end + slash - w->hidden);
	for (int i = 0; i < n && !ret; i++) {
		const char *name = list[i]->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		if (end + slash + strlen(name) >= sizeof(w->path)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		sprintf(w->path + end, "%s%s", slash ? "/" : "", name);
		ret = visit(w, f, at);
		w->path[end] = '\0';
	}
	return w->flags & FTW_ACTIONRETVAL && ret == FTW_SKIP_SIBLINGS ? 0 : ret;
}

static int visit_folder(struct walk *w, const struct folder *f, struct FTW at,
			const struct stat *st)
{
	struct dirent **list;
	int ret = 0, n = scandir(w->path, &list, NULL, NULL);

	if (n < 0)
		return errno == EACCES ? tell(w, st, FTW_DNR, &at) : -1;
	if (!(w->flags & FTW_DEPTH))
		ret = tell(w, st, FTW_D, &at);
	if (!ret)
		ret = visit_list(w, f, at, list, n);
	else if (w->flags & FTW_ACTIONRETVAL && ret == FTW_SKIP_SUBTREE)
		ret = 0;
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	if (!ret && w->flags & FTW_DEPTH)
		ret = tell(w, st, FTW_DP, &at);
	return ret;
}

static int visit(struct walk *w, const struct folder *up, struct FTW at)
{
	struct stat st;
	int type = type_of(w, &st);
	struct folder f = {up, st.st_dev, st.st_ino};

	if (!up) {
		if (type == FTW_NS)
			return -1;
		w->dev = st.st_dev;
	}
	if (w->flags & FTW_MOUNT && type != FTW_NS && st.st_dev != w->dev)
		return 0;
	if (type != FTW_D)
		return tell(w, &st, type, &at);
	for (const struct folder *i = up; i; i = i->up) /* a link to a folder that we are in */
		if (i->dev == f.dev && i->ino == f.ino)
			return 0;
	return visit_folder(w, &f, at, &st);
}

static int walk(struct walk *w, const char *path)
{
	struct FTW at = {0};
	const char *name;
	int cwd = -1, ret;

	w->hidden = 0;
	if (w->flags & FTW_CHDIR) {
		cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (cwd < 0)
			return -1;
		if (path[0] != '/' && getcwd(w->path, PATH_MAX - 1)) {
			strcat(w->path, "/");
			w->hidden = strlen(w->path);
		}
	}
	strcpy(w->path + w->hidden, path);
	for (size_t n = strlen(w->path); n > w->hidden + 1 && w->path[n - 1] == '/'; n--)
		w->path[n - 1] = '\0';
	name = strrchr(w->path + w->hidden, '/');
	at.base = name && name[1] ? (int)(name + 1 - w->path - w->hidden) : 0;
	ret = visit(w, NULL, at);
	if (cwd >= 0) {
		int saved = errno;

		if (fchdir(cwd))
			ret = -1;
		close(cwd);
		errno = saved;
	}
	return ret;
}

bool hooks_walk_is_ours(const char *path)
{
	struct path p;
	struct stat st;

	if (!path || strlen(path) >= PATH_MAX)
		return false;
	if (path_maybe(AT_FDCWD, path))
		return path_lookup(AT_FDCWD, path, &p);
	return !real()->stat(path, &st) && path_above(st.st_dev, st.st_ino);
}

static int hooked_nftw(const char *path, __nftw_func_t told, int most, int flags)
{
	struct walk w = {.told = told, .flags = flags};

	return hooks_walk_is_ours(path) ? walk(&w, path) : real()->nftw(path, told, most, flags);
}

static int hooked_ftw(const char *path, __ftw_func_t told, int most)
{
	struct walk w = {.told_plain = told};

	return hooks_walk_is_ours(path) ? walk(&w, path) : real()->ftw(path, told, most);
}

int nftw(const char *path, __nftw_func_t told, int most, int flags)
{
	return hooked_nftw(path, told, most, flags);
}

int nftw64(const char *path, __nftw64_func_t told, int most, int flags)
{
	return hooked_nftw(path, (__nftw_func_t)told, most, flags);
}

int ftw(const char *path, __ftw_func_t told, int most)
{
	return hooked_ftw(path, told, most);
}

int ftw64(const char *path, __ftw64_func_t told, int most)
{
	return hooked_ftw(path, (__ftw_func_t)told, most);
}
