// SPDX-License-Identifier: Apache-2.0
// Property: a message of DAP that is read is what writing it gives, byte for byte; a text that is
// read as an id is the id's text. The first byte chooses the message. A list of HPKE configurations
// gives one of them, which lies in it.
#include "dap_messages.h"
#include "fuzz.h"

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    if (index >= N_DAP_MESSAGES || dap_messages[index].len + 1 > cap) return 0;
    out[0] = (uint8_t)index;
    memcpy(out + 1, dap_messages[index].bytes, dap_messages[index].len);
    return dap_messages[index].len + 1;
}

static void hpke_configs(shoal_bytes message)
{
    shoal_dap_hpke_config config;
    if (shoal_dap_read_hpke_configs(&config, message) != SHOAL_OK) return;
    PROPERTY(config.kem == SHOAL_DAP_KEM_X25519 && config.kdf == SHOAL_DAP_KDF_SHA256);
    PROPERTY(config.aead == SHOAL_DAP_AEAD_AES128 && config.public_key.len == 32);
    PROPERTY(config.public_key.at >= message.at + 11 &&
             config.public_key.at + 32 <= message.at + message.len);
}

static void ids(shoal_bytes message)
{
    uint8_t id[32];
    char text[SHOAL_DAP_TEXT_LEN(sizeof id) + 1];
    for (size_t len = 1; len <= sizeof id; len += 31) {
        if (shoal_dap_id_from_text(id, len, (const char *)message.at, message.len) != SHOAL_OK)
            continue;
        shoal_dap_id_to_text(text, id, len);
        PROPERTY(strlen(text) == message.len && memcmp(text, message.at, message.len) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 1) return 0;
    const dap_message *m = &dap_messages[data[0] % N_DAP_MESSAGES];
    const shoal_bytes message = {data + 1, len - 1};
    ids(message);
    if (m->again == hpke_configs_again) {
        hpke_configs(message);
        return 0;
    }
    uint8_t *again = malloc(len);
    PROPERTY(again != NULL);
    shoal_dap_writer w = {again, len, 0, 0};
    if (m->again(&w, message) == SHOAL_OK)
        PROPERTY(!w.is_full && w.len == message.len && memcmp(again, message.at, message.len) == 0);
    free(again);
    return 0;
}
