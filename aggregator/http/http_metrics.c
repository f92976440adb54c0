// SPDX-License-Identifier: Apache-2.0
// Metrics of a process; see http_metrics.h.
#include "http_metrics.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

void agg_metrics_head(FILE *stream, const char *name, const char *type, const char *help)
{
    fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void agg_metrics_gauge(FILE *stream, const char *name, const char *help, double value)
{
    agg_metrics_head(stream, name, "gauge", help);
    fprintf(stream, "%s %.17g\n", name, value);
}

// Reads the start of a file of /proc.
// Returns: false where there is none.
static bool read_proc(char *text, size_t cap, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    size_t len = fread(text, 1, cap - 1, file);
    fclose(file);
    text[len] = '\0';
    return len > 0;
}

// Returns: bytes in RAM, or 0 where the system does not tell.
static double resident_bytes(void)
{
    char text[128];
    if (!read_proc(text, sizeof text, "/proc/self/statm")) return 0;
    char *end = text;
    (void)strtoull(text, &end, 10); // the size of the address space
    return (double)strtoull(end, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

// Returns: the first number behind a word of a text, or 0.
static double number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at == NULL ? 0 : strtod(at + strlen(word), NULL);
}

// Returns: seconds since 1970 at which this process began, or 0 where the system does not tell.
static double start_seconds(void)
{
    enum { START_FIELD = 22, NAME_FIELD = 2 };
    char text[1024], line[64];
    double booted = 0;
    if (!read_proc(text, sizeof text, "/proc/self/stat")) return 0;
    const char *at = strrchr(text, ')'); // the name may hold blanks and brackets
    for (int field = NAME_FIELD; at != NULL && field < START_FIELD; field++) {
        at = strchr(at, ' ');
        if (at != NULL) at++;
    }
    FILE *stat = fopen("/proc/stat", "r");
    while (stat != NULL && booted == 0 && fgets(line, sizeof line, stat) != NULL)
        if (strncmp(line, "btime ", 6) == 0) booted = number_behind(line, "btime ");
    if (stat != NULL) fclose(stat);
    return at == NULL || booted == 0 ? 0 : booted + strtod(at, NULL) / (double)sysconf(_SC_CLK_TCK);
}

void agg_metrics_process(FILE *stream)
{
    struct timespec now;
    double bytes = resident_bytes(), start = start_seconds();
    clock_gettime(CLOCK_REALTIME, &now);
    agg_metrics_gauge(stream, "shoal_clock_timestamp_seconds",
                      "This machine's clock, in seconds since 1970.",
                      (double)now.tv_sec + (double)(now.tv_nsec / 1000000) / 1e3);
    if (bytes > 0)
        agg_metrics_gauge(stream, "process_resident_memory_bytes",
                          "Memory of this process that is in RAM.", bytes);
    if (start > 0)
        agg_metrics_gauge(stream, "process_start_time_seconds",
                          "When this process began, in seconds since 1970.", start);
}

void agg_metrics_free(FILE *stream, const char *name, const char *folder)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0) return;
    agg_metrics_gauge(stream, name, "Free bytes of the folder's file system.",
                      (double)disk.f_bavail * (double)disk.f_frsize);
}
