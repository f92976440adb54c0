// SPDX-License-Identifier: Apache-2.0
// The text format of Prometheus, version 0.0.4, and the metrics that every server has: its process,
// its clock and its disk. No label and no time tells of a person.
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include <stdint.h>
#include <stdio.h>

// Writes the HELP and TYPE of a metric; its lines follow.
//   type: "counter" or "gauge"
void agg_metrics_head(FILE *stream, const char *name, const char *type, const char *help);

// Writes a gauge without labels.
void agg_metrics_gauge(FILE *stream, const char *name, const char *help, double value);

// Writes this machine's clock, and memory and start of the process where the system tells them
// (Linux), under the names that Prometheus' own clients use.
void agg_metrics_process(FILE *stream);

// Writes the free bytes of a folder's file system; nothing where the system does not tell.
void agg_metrics_free(FILE *stream, const char *name, const char *folder);

#endif
