// SPDX-License-Identifier: Apache-2.0
// Property: what is read as reports of DAP-09 is what writing them gives, byte for byte, and
// nothing behind the message is read; what is refused moves nothing. (Input shares and HPKE
// configurations are draft 18's: fuzz_dap.c.)
#include "dap09.h"
#include "dap09_report.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    shoal_dap_reader r = {data, len, 0};
    uint8_t *again = malloc(len + 1);
    PROPERTY(again != NULL);
    shoal_dap_writer w = {.at = again, .cap = len};
    while (!shoal_dap_is_at_end(&r)) {
        shoal_dap_report report, kept;
        size_t before = r.position;
        memset(&report, 0x5a, sizeof report);
        memset(&kept, 0x5a, sizeof kept);
        if (shoal_dap09_read_report(&report, &r) != SHOAL_OK) {
            PROPERTY(r.position == before && memcmp(&report, &kept, sizeof report) == 0);
            break;
        }
        PROPERTY(r.position > before && r.position <= len && report.metadata.extensions.len == 0);
        put_dap09_report(&w, &report);
    }
    PROPERTY(!w.is_full && w.len == r.position && memcmp(again, data, w.len) == 0);
    free(again);
    return 0;
}

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static const uint8_t bytes[300] = {1, 2, 3};
    shoal_dap_report report = {.metadata = {.id = {9}, .time = 1800000000},
                               .public_share = {bytes, index % 3 * 32},
                               .leader = {1, {bytes, 32}, {bytes, 20 + 100 * (index % 3)}},
                               .helper = {255, {bytes, 32}, {bytes, 48}}};
    shoal_dap_writer w = {.at = out, .cap = cap};
    for (size_t i = 0; i <= index / 3; i++) put_dap09_report(&w, &report);
    return index < 6 && !w.is_full ? w.len : 0;
}
