// SPDX-License-Identifier: Apache-2.0
// Vertical counting of bits for one width of vector. bit_columns.c, the reference, and the file of
// each instruction set include this file. For VECTOR_BYTES bytes of a bit vector the including file
// defines:
//
//   vector                    the type
//   no_bits()                 all zero
//   load_whole(from)          loads VECTOR_BYTES bytes, unaligned
//   store_whole(to, vector)   stores them
//   load_part(from, len)      loads len < VECTOR_BYTES bytes and reads nothing beyond; zero behind
//   full_add, half_add        carry and sum of three, of two bits, column by column
//   add_numbers(counts, columns, planes)
//                             adds the numbers that eight planes hold to up to 8 * VECTOR_BYTES
//                             counts
//
// A column's carry-save counter is eight bits wide, one in each of eight bit planes: bit i of all
// numbers is one vector. Carry-save adders sum sixteen vectors into the four lower planes and one
// carry, which ripples through the upper four (Harley and Seal's counter). After at most 255
// vectors the planes are turned into numbers and added to the 32-bit counts. Until then they may be
// counters in memory, where they take a quarter of the counts' bytes.
#define PLANES 8u

// Adds eight vectors to the three lowest planes. Returns: the carry into the fourth.
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

// Adds one bit to the planes from `first` on. At most 255 = 2^8 - 1 vectors are counted, so no
// carry leaves the last plane.
static inline void ripple(vector planes[PLANES], unsigned first, vector carry)
{
    for (unsigned i = first; i < PLANES; i++) half_add(&carry, &planes[i], &planes[i], &carry);
}

// Adds the part of `n` vectors that starts at byte `at` to the planes.
//   len: VECTOR_BYTES, or less in the last part
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

// The planes of the part that starts at byte `at` of the vectors lie at byte PLANES * at of the
// counters.
static inline void load_planes(vector planes[PLANES], const uint8_t *counters, uint32_t at)
{
    for (unsigned i = 0; i < PLANES; i++)
        planes[i] = load_whole(counters + PLANES * at + i * VECTOR_BYTES);
}

static inline void store_planes(uint8_t *counters, uint32_t at, const vector planes[PLANES])
{
    for (unsigned i = 0; i < PLANES; i++)
        store_whole(counters + PLANES * at + i * VECTOR_BYTES, &planes[i]);
}

static inline void collect_vectors(uint8_t *counters, uint32_t m, const uint8_t *const *vectors,
                                   uint32_t n)
{
    uint32_t size = (m + 7) / 8;
    for (uint32_t at = 0; at < size; at += VECTOR_BYTES) {
        vector planes[PLANES];
        load_planes(planes, counters, at);
        count_part(planes, vectors, n, at, length_at(size, at));
        store_planes(counters, at, planes);
    }
}

static inline void drain_counters(uint32_t *counts, uint32_t m, uint8_t *counters)
{
    uint32_t size = (m + 7) / 8;
    for (uint32_t at = 0; at < size; at += VECTOR_BYTES) {
        vector planes[PLANES];
        load_planes(planes, counters, at);
        add_numbers(counts + 8 * at, m - 8 * at, planes);
        for (unsigned i = 0; i < PLANES; i++) planes[i] = no_bits();
        store_planes(counters, at, planes);
    }
}
