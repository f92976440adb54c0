// SPDX-License-Identifier: Apache-2.0
// The URLs of DAP's resources (draft-ietf-ppm-dap-18 section "HTTP Usage"), and the text of ids
// (RFC 4648 section 5, unpadded); see dap.h.
#include "bytes.h"
#include "dap.h"

static const char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void shoal_dap_id_to_text(char *text, const uint8_t *id, size_t len)
{
    size_t n_bits = 8 * len;
    for (size_t bit = 0; bit < n_bits; bit += 6) {
        uint32_t pair = (uint32_t)id[bit / 8] << 8 | (bit / 8 + 1 < len ? id[bit / 8 + 1] : 0u);
        *text++ = alphabet[pair >> (10 - bit % 8) & 63];
    }
    *text = '\0';
}

static int digit_of(char c)
{
    for (int i = 0; i < 64; i++)
        if (alphabet[i] == c) return i;
    return -1;
}

shoal_err shoal_dap_id_from_text(uint8_t *id, size_t len, const char *text, size_t text_len)
{
    uint32_t rest = 0, n_bits = 0; // bits not yet written
    if (text_len < SHOAL_DAP_TEXT_LEN(len)) return SHOAL_ERR_TRUNCATED;
    if (text_len > SHOAL_DAP_TEXT_LEN(len)) return SHOAL_ERR_EXTRA;
    for (size_t i = 0; i < text_len; i++)
        if (digit_of(text[i]) < 0) return SHOAL_ERR_TYPE;
    if (len % 3 != 0 && (digit_of(text[text_len - 1]) & (len % 3 == 1 ? 15 : 3)) != 0)
        return SHOAL_ERR_TYPE;
    for (size_t i = 0; i < text_len; i++) {
        rest = rest << 6 | (uint32_t)digit_of(text[i]);
        n_bits += 6;
        if (n_bits < 8) continue;
        n_bits -= 8;
        *id++ = (uint8_t)(rest >> n_bits);
    }
    return SHOAL_OK;
}

const char *shoal_dap_resource_name(enum shoal_dap_resource resource)
{
    static const char *const names[] = {
        [SHOAL_DAP_HPKE_CONFIG] = "hpke_config",
        [SHOAL_DAP_REPORTS] = "reports",
        [SHOAL_DAP_AGGREGATION_JOBS] = "aggregation_jobs",
        [SHOAL_DAP_COLLECTION_JOBS] = "collection_jobs",
        [SHOAL_DAP_AGGREGATE_SHARES] = "aggregate_shares",
    };
    return names[resource];
}

static void put_text(shoal_dap_writer *w, const char *text)
{
    shoal_dap_put(w, text, text_len(text));
}

static void put_id(shoal_dap_writer *w, const uint8_t *id, size_t len)
{
    char text[SHOAL_DAP_TEXT_LEN(SHOAL_DAP_TASK_ID) + 1];
    put_text(w, "/");
    shoal_dap_id_to_text(text, id, len);
    put_text(w, text);
}

void shoal_dap_url(char url[SHOAL_DAP_URL_MAX], const shoal_url *server,
                   enum shoal_dap_resource resource, const uint8_t *task_id, const uint8_t *id,
                   size_t id_len)
{
    shoal_dap_writer w = {(uint8_t *)url, SHOAL_DAP_URL_MAX, 0,
                          0}; // fits: 200 bytes and at most 105
    shoal_dap_put(&w, server->bytes, server->len);
    if (resource != SHOAL_DAP_HPKE_CONFIG) {
        put_text(&w, "/tasks");
        put_id(&w, task_id, SHOAL_DAP_TASK_ID);
    }
    put_text(&w, "/");
    put_text(&w, shoal_dap_resource_name(resource));
    if (id != NULL) put_id(&w, id, id_len);
    shoal_dap_put(&w, "", 1);
}
