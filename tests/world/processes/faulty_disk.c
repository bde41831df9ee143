/* A failing disk: preloaded into a process, it makes one chosen call below some folders fail, or kills the process there.

   A file that every process maps (faulty_disk.py writes it) says what to do, so that calls of child processes are
   counted too. Only calls of the C library are seen; Python, SQLite and the like make no others. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { CREATE = 1, WRITE = 2, CHANGE = 4, SYNC = 8, READ = 16 };
enum { NOTHING, ERROR, SHORT, KILL, TORN };

/* The same layout as `CONTROL` in faulty_disk.py. `later`: kinds of calls that fail permanently after the chosen one. */
static struct control {
    int armed, at, action, error, kinds, later, count, struck;
    char roots[1024], only[64], call[32], path[928];
} *control;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAULTY_DISK");
    int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (found != MAP_FAILED) control = found;
    close(fd);
}

static int is_below_a_root(const char *path) {
    for (const char *root = control->roots; *root; root += strlen(root) + 1) {
        size_t size = strlen(root);
        if (!strncmp(path, root, size) && (path[size] == '/' || !path[size])) return 1;
    }
    return 0;
}

static const char *of_fd(int fd, char *into) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, into, PATH_MAX - 1);
    into[size < 0 ? 0 : size] = 0;
    return into;
}

static const char *of_name(int folder, const char *name, char *into) {
    if (name[0] == '/') return name;
    if (folder != AT_FDCWD) of_fd(folder, into);
    else if (!getcwd(into, PATH_MAX - 1)) into[0] = 0;
    size_t size = strlen(into);
    snprintf(into + size, PATH_MAX - size, "/%s", name);
    return into;
}

/* What to do with this call; for ERROR, errno is set. */
static int fate(const char *call, int kind, const char *path) {
    if (!control || !control->armed || !(kind & (control->kinds | control->later)) || !is_below_a_root(path)) return NOTHING;
    if (control->struck && (kind & control->later)) { errno = control->error; return ERROR; }
    if (control->struck || !(kind & control->kinds)) return NOTHING;
    if (!strstr(path, control->only)) return NOTHING;
    int number = __atomic_fetch_add(&control->count, 1, __ATOMIC_SEQ_CST);
    if (number != control->at) return NOTHING;
    snprintf(control->call, sizeof control->call, "%s", call);
    snprintf(control->path, sizeof control->path, "%s", path);
    __atomic_store_n(&control->struck, 1, __ATOMIC_SEQ_CST);
    if (control->action == KILL || (control->action == TORN && kind != WRITE)) raise(SIGKILL);
    if (control->action == SHORT && kind != WRITE) return NOTHING;
    errno = control->error;
    return control->action;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define BY_NAME(call, kind, folder, name) do { char seen[PATH_MAX]; \
    if (fate(#call, kind, of_name(folder, name, seen)) == ERROR) return -1; } while (0)
#define BY_FD(call, kind, fd) do { char seen[PATH_MAX]; if (fate(#call, kind, of_fd(fd, seen)) == ERROR) return -1; } while (0)

static int kind_of(int flags) { return flags & (O_CREAT | O_TRUNC) ? CREATE : (flags & O_ACCMODE) == O_RDONLY ? READ : CHANGE; }
static mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; }
#define MODE va_list more; va_start(more, flags); mode_t mode = mode_of(flags, more); va_end(more)

int open(const char *name, int flags, ...) { MODE; BY_NAME(open, kind_of(flags), AT_FDCWD, name); REAL(open); return real(name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE; BY_NAME(open, kind_of(flags), AT_FDCWD, name); REAL(open64); return real(name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE; BY_NAME(openat, kind_of(flags), folder, name); REAL(openat); return real(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE; BY_NAME(openat, kind_of(flags), folder, name); REAL(openat64); return real(folder, name, flags, mode); }
DIR *opendir(const char *name) { char seen[PATH_MAX]; if (fate("opendir", READ, of_name(AT_FDCWD, name, seen)) == ERROR) return NULL; REAL(opendir); return real(name); }
DIR *fdopendir(int fd) { char seen[PATH_MAX]; if (fate("fdopendir", READ, of_fd(fd, seen)) == ERROR) return NULL; REAL(fdopendir); return real(fd); }

/* Writes half of the data for a short or torn write. */
#define WRITES(call, fd, size) char seen[PATH_MAX]; int done = fate(#call, WRITE, of_fd(fd, seen)); \
    if (done == ERROR) return -1; \
    if (done == SHORT || done == TORN) size = size > 1 ? size / 2 : size
#define AND_DIE if (done == TORN) raise(SIGKILL); \
    return written
ssize_t write(int fd, const void *data, size_t size) { WRITES(write, fd, size); REAL(write); ssize_t written = real(fd, data, size); AND_DIE; }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { WRITES(pwrite, fd, size); REAL(pwrite); ssize_t written = real(fd, data, size, at); AND_DIE; }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { WRITES(pwrite, fd, size); REAL(pwrite64); ssize_t written = real(fd, data, size, at); AND_DIE; }
ssize_t writev(int fd, const struct iovec *parts, int count) { WRITES(writev, fd, count); REAL(writev); ssize_t written = real(fd, parts, count); AND_DIE; }
ssize_t sendfile(int to, int from, off_t *at, size_t size) { WRITES(sendfile, to, size); REAL(sendfile); ssize_t written = real(to, from, at, size); AND_DIE; }
ssize_t sendfile64(int to, int from, off64_t *at, size_t size) { WRITES(sendfile, to, size); REAL(sendfile64); ssize_t written = real(to, from, at, size); AND_DIE; }
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there, size_t size, unsigned flags) { WRITES(copy_file_range, to, size); REAL(copy_file_range); ssize_t written = real(from, at, to, there, size, flags); AND_DIE; }

ssize_t read(int fd, void *data, size_t size) { BY_FD(read, READ, fd); REAL(read); return real(fd, data, size); }
ssize_t pread(int fd, void *data, size_t size, off_t at) { BY_FD(pread, READ, fd); REAL(pread); return real(fd, data, size, at); }
ssize_t pread64(int fd, void *data, size_t size, off64_t at) { BY_FD(pread, READ, fd); REAL(pread64); return real(fd, data, size, at); }

int mkdir(const char *name, mode_t mode) { BY_NAME(mkdir, CREATE, AT_FDCWD, name); REAL(mkdir); return real(name, mode); }
int mkdirat(int folder, const char *name, mode_t mode) { BY_NAME(mkdir, CREATE, folder, name); REAL(mkdirat); return real(folder, name, mode); }
int link(const char *old, const char *new) { BY_NAME(link, CREATE, AT_FDCWD, new); REAL(link); return real(old, new); }
int linkat(int from, const char *old, int to, const char *new, int flags) { BY_NAME(link, CREATE, to, new); REAL(linkat); return real(from, old, to, new, flags); }
int symlink(const char *to, const char *name) { BY_NAME(symlink, CREATE, AT_FDCWD, name); REAL(symlink); return real(to, name); }
int fsetxattr(int fd, const char *key, const void *value, size_t size, int flags) { BY_FD(fsetxattr, CREATE, fd); REAL(fsetxattr); return real(fd, key, value, size, flags); }

int rename(const char *old, const char *new) { BY_NAME(rename, CHANGE, AT_FDCWD, new); REAL(rename); return real(old, new); }
int renameat(int from, const char *old, int to, const char *new) { BY_NAME(rename, CHANGE, to, new); REAL(renameat); return real(from, old, to, new); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) { BY_NAME(renameat2, CHANGE, to, new); REAL(renameat2); return real(from, old, to, new, flags); }
int unlink(const char *name) { BY_NAME(unlink, CHANGE, AT_FDCWD, name); REAL(unlink); return real(name); }
int unlinkat(int folder, const char *name, int flags) { BY_NAME(unlink, CHANGE, folder, name); REAL(unlinkat); return real(folder, name, flags); }
int rmdir(const char *name) { BY_NAME(rmdir, CHANGE, AT_FDCWD, name); REAL(rmdir); return real(name); }
int chmod(const char *name, mode_t mode) { BY_NAME(chmod, CHANGE, AT_FDCWD, name); REAL(chmod); return real(name, mode); }
int fchmod(int fd, mode_t mode) { BY_FD(chmod, CHANGE, fd); REAL(fchmod); return real(fd, mode); }
int fchmodat(int folder, const char *name, mode_t mode, int flags) { BY_NAME(chmod, CHANGE, folder, name); REAL(fchmodat); return real(folder, name, mode, flags); }
int fchown(int fd, uid_t uid, gid_t gid) { BY_FD(chown, CHANGE, fd); REAL(fchown); return real(fd, uid, gid); }
int utimensat(int folder, const char *name, const struct timespec times[2], int flags) { BY_NAME(utimensat, CHANGE, folder, name); REAL(utimensat); return real(folder, name, times, flags); }
int futimens(int fd, const struct timespec times[2]) { BY_FD(futimens, CHANGE, fd); REAL(futimens); return real(fd, times); }
int ftruncate(int fd, off_t size) { BY_FD(ftruncate, CHANGE, fd); REAL(ftruncate); return real(fd, size); }
int ftruncate64(int fd, off64_t size) { BY_FD(ftruncate, CHANGE, fd); REAL(ftruncate64); return real(fd, size); }
int truncate(const char *name, off_t size) { BY_NAME(truncate, CHANGE, AT_FDCWD, name); REAL(truncate); return real(name, size); }
int fallocate(int fd, int mode, off_t at, off_t size) { BY_FD(fallocate, CREATE, fd); REAL(fallocate); return real(fd, mode, at, size); }
int posix_fallocate64(int fd, off64_t at, off64_t size) { char seen[PATH_MAX]; if (fate("fallocate", CREATE, of_fd(fd, seen)) == ERROR) return control->error; REAL(posix_fallocate64); return real(fd, at, size); }

int fsync(int fd) { BY_FD(fsync, SYNC, fd); REAL(fsync); return real(fd); }
int fdatasync(int fd) { BY_FD(fsync, SYNC, fd); REAL(fdatasync); return real(fd); }
int syncfs(int fd) { BY_FD(syncfs, SYNC, fd); REAL(syncfs); return real(fd); }
