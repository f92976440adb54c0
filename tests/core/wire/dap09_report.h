// SPDX-License-Identifier: Apache-2.0
// A report as a client of DAP-09 writes it, for tests of its reader.
#ifndef DAP09_REPORT_H
#define DAP09_REPORT_H

#include "dap09.h"

static inline void put_dap09_report(shoal_dap_writer *w, const shoal_dap_report *report)
{
    shoal_dap_put(w, report->metadata.id, sizeof report->metadata.id);
    shoal_dap_put_number(w, report->metadata.time, 8);
    if (report->metadata.extensions.len > 0) w->is_full = true; // there is no place for them
    shoal_dap_put_opaque(w, report->public_share, 4);
    shoal_dap_put_ciphertext(w, &report->leader);
    shoal_dap_put_ciphertext(w, &report->helper);
}

#endif
