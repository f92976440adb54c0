// SPDX-License-Identifier: Apache-2.0
// Property: a file either is refused with a text that names a line, or its right lines and the
// piece at its end are the whole of it; then a line that is sealed behind the right ones fits.
#include <inttypes.h>
#include <string.h>

#include "audit_chain.h"
#include "fuzz_recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_audit_chain chain = {.next = 1}, again = {.next = 1};
    agg_audit_scan scan, longer;
    agg_error error = {0};
    uint8_t *copy = malloc(len + 256);
    PROPERTY(copy != NULL);
    if (len > 0) memcpy(copy, data, len);
    if (agg_audit_chain_scan(&chain, &scan, &error, "log", copy, len, NULL) != SHOAL_OK) {
        PROPERTY(strncmp(error.text, "log: ", 5) == 0);
        free(copy);
        return 0;
    }
    PROPERTY(!scan.is_open || scan.tail == 0);
    PROPERTY(scan.lines > 0 && scan.good > 0 && scan.good + scan.tail == len && chain.is_started);
    if (scan.is_open) copy[scan.good++] = '\n';
    int body =
        snprintf((char *)copy + scan.good, 64, "{\"seq\":%" PRIu64 ",\"what\":\"x\"", chain.next);
    size_t end = scan.good + agg_audit_chain_seal(&chain, (char *)copy + scan.good, (size_t)body);
    PROPERTY(agg_audit_chain_scan(&again, &longer, &error, "log", copy, end, chain.head) ==
             SHOAL_OK);
    PROPERTY(longer.lines == scan.lines + 1 && longer.torn == scan.torn && longer.tail == 0);
    PROPERTY(longer.is_found && memcmp(again.head, chain.head, 32) == 0);
    free(copy);
    return 0;
}
