/* A wall clock that jumps: preloaded into a process, it adds the seconds in a file that every process maps (shifted_clock.py
   writes it) to the system's time. The monotonic clock is not changed, as while a machine sleeps. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *shift;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("SHIFTED_CLOCK");
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
    if (found != MAP_FAILED) shift = found;
    close(fd);
}

int clock_gettime(clockid_t id, struct timespec *at) {
    int failed = syscall(SYS_clock_gettime, id, at);
    if (!failed && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += *shift;
    return failed;
}

int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    int failed = clock_gettime(CLOCK_REALTIME, &now);
    if (!failed) at->tv_sec = now.tv_sec, at->tv_usec = now.tv_nsec / 1000;
    (void)zone;
    return failed;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

/* Waits on a semaphore end at a wall-clock time, which the kernel compares with its unshifted clock. */
int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    int (*wait)(sem_t *, const struct timespec *) = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec at = *until;
    if (shift) at.tv_sec -= *shift;
    return wait(semaphore, &at);
}
