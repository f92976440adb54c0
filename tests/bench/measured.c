// SPDX-License-Identifier: Apache-2.0
// shoal_measured PROGRAM ARGUMENT...: runs a command, its standard output thrown away, and prints
// what the kernel says that it took: {"wall_s":…,"cpu_s":…,"peak_kib":…}. Ends as the command does.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

_Noreturn static void run(char **command)
{
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0) execv(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: shoal_measured PROGRAM ARGUMENT...\n", stderr);
        return 2;
    }
    double start = now();
    pid_t child = fork();
    if (child == 0) run(argv + 1);
    int status;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("shoal_measured");
        return 1;
    }
    printf("{\"wall_s\":%.4f,\"cpu_s\":%.4f,\"peak_kib\":%ld}\n", now() - start,
           seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
