// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits, for one width of vector: included by bit_columns.c, which is the
// reference, and by the file of each instruction set. The file before it defines, for VECTOR_BYTES
// bytes of a bit vector:
//
//   vector                        the type
//   no_bits()                     all zero
//   load_whole(from)              VECTOR_BYTES bytes, unaligned
//   store_whole(to, vector)       the same, to memory
//   load_part(from, len)          len < VECTOR_BYTES bytes, zero behind them; nothing beyond is
//   read full_add, half_add            carry and sum of three, of two bits, column by column
//   add_numbers(counts, columns, planes)   adds the numbers that eight planes hold to up to 8 *
//   VECTOR_BYTES counts
//
// A number per column is held as eight bit planes: bit i of the numbers is one vector. Carry-save
// adders sum sixteen vectors into the four lower planes and one carry, which ripples through the
// upper four (Harley and Seal's counter); after at most 255 vectors the planes are turned into
// numbers and added to the 32-bit counts. Or they are kept in memory until then, a quarter of what
// counts take.
#define PLANES 8u

// Adds eight vectors to the three lowest planes. Returns: what they carry into the fourth.
static inline vector add_eight(vector planes[PLANES], const vector x[8])
{
    vector twos[4], fours[2], eight;
    for (unsigned i = 0; i < 4; i++)
        full_add(&twos[i], &planes[0], &planes[0], &x[2 * i], &x[2 * i + 1]);
    for (unsigned i = 0; i < 2; i++)
        full_add(&fours[i], &planes[1], &planes[1], &twos[2 * i], &twos[2 * i + 1]);
    full_add(&eight, &planes[2], &planes[2], &fours[0], &fours[1]);
    return eight;
}

// Adds one bit to the numbers' planes from `first`. At most 255 = 2^8 - 1 vectors have come: no
// carry leaves the last plane.
static inline void ripple(vector planes[PLANES], unsigned first, vector carry)
{
    for (unsigned i = first; i < PLANES; i++) half_add(&carry, &planes[i], &planes[i], &carry);
}

// Adds the part of `n` vectors that starts `at` bytes into them to the planes' numbers.
//   len: VECTOR_BYTES, or fewer in the last part
static inline void count_part(vector planes[PLANES], const uint8_t *const *vectors, uint32_t n,
                              uint32_t at, uint32_t len)
{
    vector x[8], more[8];
    uint32_t first = 0;
    for (; len == VECTOR_BYTES && first + 16 <= n; first += 16) {
        vector a, b, sixteen;
        for (unsigned i = 0; i < 8; i++) x[i] = load_whole(vectors[first + i] + at);
        a = add_eight(planes, x);
        for (unsigned i = 0; i < 8; i++) more[i] = load_whole(vectors[first + 8 + i] + at);
        b = add_eight(planes, more);
        full_add(&sixteen, &planes[3], &planes[3], &a, &b);
        ripple(planes, 4, sixteen);
    }
    for (; first < n; first += 8) {
        for (unsigned i = 0; i < 8; i++) {
            if (first + i >= n)
                x[i] = no_bits();
            else if (len == VECTOR_BYTES)
                x[i] = load_whole(vectors[first + i] + at);
            else
                x[i] = load_part(vectors[first + i] + at, len);
        }
        ripple(planes, 3, add_eight(planes, x));
    }
}

static inline uint32_t length_at(uint32_t size, uint32_t at)
{
    return size - at < VECTOR_BYTES ? size - at : VECTOR_BYTES;
}

static inline void count_vectors(uint32_t *counts, uint32_t m, const uint8_t *const *vectors,
                                 uint32_t n)
{
    uint32_t size = (m + 7) / 8;
    for (uint32_t first = 0; first < n; first += AGG_COUNTERS_MAX) {
        uint32_t some = n - first < AGG_COUNTERS_MAX ? n - first : AGG_COUNTERS_MAX;
        for (uint32_t at = 0; at < size; at += VECTOR_BYTES) {
            vector planes[PLANES];
            for (unsigned i = 0; i < PLANES; i++) planes[i] = no_bits();
            count_part(planes, vectors + first, some, at, length_at(size, at));
            add_numbers(counts + 8 * at, m - 8 * at, planes);
        }
    }
}

// The planes of the part that starts `at` bytes into the vectors lie PLANES * at bytes into `kept`.
static inline void load_planes(vector planes[PLANES], const uint8_t *kept, uint32_t at)
{
    for (unsigned i = 0; i < PLANES; i++)
        planes[i] = load_whole(kept + PLANES * at + i * VECTOR_BYTES);
}

static inline void store_planes(uint8_t *kept, uint32_t at, const vector planes[PLANES])
{
    for (unsigned i = 0; i < PLANES; i++)
        store_whole(kept + PLANES * at + i * VECTOR_BYTES, &planes[i]);
}

static inline void collect_vectors(uint8_t *kept, uint32_t m, const uint8_t *const *vectors,
                                   uint32_t n)
{
    uint32_t size = (m + 7) / 8;
    for (uint32_t at = 0; at < size; at += VECTOR_BYTES) {
        vector planes[PLANES];
        load_planes(planes, kept, at);
        count_part(planes, vectors, n, at, length_at(size, at));
        store_planes(kept, at, planes);
    }
}

static inline void drain_counters(uint32_t *counts, uint32_t m, uint8_t *kept)
{
    uint32_t size = (m + 7) / 8;
    for (uint32_t at = 0; at < size; at += VECTOR_BYTES) {
        vector planes[PLANES];
        load_planes(planes, kept, at);
        add_numbers(counts + 8 * at, m - 8 * at, planes);
        for (unsigned i = 0; i < PLANES; i++) planes[i] = no_bits();
        store_planes(kept, at, planes);
    }
}
