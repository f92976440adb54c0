// SPDX-License-Identifier: Apache-2.0
// The device's accountant of queries: the charges of each analysis and each of its fields, and the
// queries that were answered, as bytes that the host persists. It also makes the checks that every
// query must pass before a report exists (query_check).
//
// The host loads the bytes, debits, stores them durably, and only then randomizes. A debit is never
// taken back. A charge is kept for ever, because a policy's budget covers the whole life of its
// analyses, whatever later policies call themselves. An answered query is remembered until it
// expires.
//
// Layout, little-endian:
// - header: magic "shoalacq" (8), version 1 (4), charges (4), answered queries (4), created day
//   (4), newest day (4), zero (4)
// - 80 bytes per charge, of an analysis or of one of its fields: key (16, the start of SHA-256 over
//   length-prefixed analysis and field, field empty for the analysis itself), reports (4), round
//   (4: index of the last answered), version (4: highest answered), zero (4), sum of epsilon (8,
//   micro), sum of local epsilon (8, micro), sum of squares of epsilon (8, micro^2), sum of delta
//   (8, units of 1e-15), last answered query hash (16, its start). Round, version and hash are the
//   analysis's, and zero for a field
// - 24 bytes per answered query: start of its hash (16), expiry day (4), index of its analysis
//   among the charges (4)
// - checksum (8, checksum.h)
//
// Local guarantee: check 2 bounds the epsilon of one report (item-level) by the most stringent
// field's local_epsilon, and the number of reports by the field's reports. All reports that a
// person ever sends about a field are therefore reports x local_epsilon-private (user-level),
// whatever mix of queries is asked. This needs no trust in a server or a crowd. B reports of a trie
// count as B of those.
//
// A trie is answered once. After any charge of the analysis, by a query of any name, version, round
// or policy, every round of a trie is refused. Of all that the server writes into a query, this
// depends only on the analysis's name, under which the query is charged.
//
// No analysis can fill the list of answers: each of a policy's n analyses may hold an n-th of the
// answers that have not expired.
//
// Time only goes forward. The day that counts is the later of the host's day and the newest day
// ever debited, so setting a clock back restores nothing.
//
// Composition covers queries (eps_i, delta_i), i = 1 .. n, where each epsilon is the query's claim
// for its cohort (check 3 made it true). Queries, and their epsilons, are chosen after answers are
// seen. Each composition is therefore a privacy filter: the composed figure is checked before every
// query.
// - basic: sum eps_i, at delta = sum delta_i (apple-2022 section 4.3)
// - advanced: the smaller of basic and rho + sqrt(4 rho ln(1/slack)), rho = sum eps_i^2/2, at delta
//   = slack + sum delta_i (Whitehouse, Ramdas, Rogers, Wu, "Fully adaptive composition in
//   differential privacy", 2023, Theorem 1)
// - renyi: the smaller of both and min over orders a of rho a + ln(1/slack)/(a-1) + ln(1-1/a) -
//   ln(a)/(a-1), at the same delta. Each query is delta_i-approximately eps_i^2/2-zCDP (Bun,
//   Steinke 2016), rho a filter (Feldman, Zrnic 2021), converted as Canonne, Kamath, Steinke 2020
//
// A query of a trie (trie.h) has a device send B = contributions reports, and its cohort counts
// reports. The eps and delta that it claims, and check 3 proves, are for one report: item-level. A
// person is charged for all B reports, as one release (B eps, delta (1 + e^eps + ... + e^((B-1)
// eps))). By group privacy, this is the user-level guarantee of B reports of one cohort together.
// Tighter composition must not treat them as B releases: equal reports of one sum shift it B times
// as far.
//
// A field composes as its analysis does, with the same slack. All arithmetic is in integers, and
// every rounding goes up. A policy selects one composition. The sums serve all three, so that a
// later policy may select another.
#ifndef SHOAL_ACCOUNTANT_H
#define SHOAL_ACCOUNTANT_H

#include "policy.h"

#define SHOAL_ACCOUNTANT_CHARGES_MAX 256u
#define SHOAL_ACCOUNTANT_ANSWERS_MAX 512u
#define SHOAL_ACCOUNTANT_HEADER 32u
#define SHOAL_ACCOUNTANT_CHARGE 80u
#define SHOAL_ACCOUNTANT_ANSWER 24u
#define SHOAL_ACCOUNTANT_SIZE_MAX                                                                  \
    (SHOAL_ACCOUNTANT_HEADER + SHOAL_ACCOUNTANT_CHARGE * SHOAL_ACCOUNTANT_CHARGES_MAX +            \
     SHOAL_ACCOUNTANT_ANSWER * SHOAL_ACCOUNTANT_ANSWERS_MAX + 8u)

// A reason for which a query is refused. The numbers never change, because logs carry them. The
// reasons are listed in the order in which they are checked, except where stated.
typedef enum shoal_refusal {
    SHOAL_ACCEPTED = 0,
    SHOAL_REFUSED_STORAGE = 1,   // bytes damaged (checked first) or without space (last)
    SHOAL_REFUSED_NOT_QUERY = 2, // the recipe names no policy
    SHOAL_REFUSED_POLICY = 3,    // it names a policy that is not this device's
    SHOAL_REFUSED_ANALYSIS = 4,  // the policy has no such analysis
    SHOAL_REFUSED_EXPIRED = 5,
    SHOAL_REFUSED_FRESH = 6,          // storage is younger than the policy's fresh_days
    SHOAL_REFUSED_REPLAYED = 7,       // this query was already answered
    SHOAL_REFUSED_DOWNGRADED = 8,     // version below the policy's, or below one answered
    SHOAL_REFUSED_REORDERED = 9,      // round not after the last answered, or follows another
    SHOAL_REFUSED_STREAM = 10,        // it reads another stream
    SHOAL_REFUSED_FIELD = 11,         // it reads a field outside the query class
    SHOAL_REFUSED_SCHEME = 12,        // it encodes a field by a scheme of another type
    SHOAL_REFUSED_COMBINATION = 13,   // it joins more fields than allowed
    SHOAL_REFUSED_SIZE = 14,          // its domain is too large
    SHOAL_REFUSED_MECHANISM = 15,     // its mechanism is not allowed
    SHOAL_REFUSED_SPLIT = 16,         // it splits by a field that is not approved
    SHOAL_REFUSED_REPORTS = 17,       // check 1: the analysis's reports are spent
    SHOAL_REFUSED_EPSILON = 18,       // check 1: too little of the analysis's epsilon is left
    SHOAL_REFUSED_DELTA = 19,         // check 1: too little of the analysis's delta is left
    SHOAL_REFUSED_LOCAL = 20,         // check 2: one report costs more than a field allows
    SHOAL_REFUSED_FIELD_REPORTS = 21, // check 2: the field's reports are spent
    SHOAL_REFUSED_FIELD_EPSILON = 22, // check 2: too little of the field's epsilon is left
    SHOAL_REFUSED_COHORT = 23,        // check 3: the cohort is below the policy's minimum
    SHOAL_REFUSED_AMPLIFICATION = 24, // check 3: that cohort does not give the claimed epsilon
    SHOAL_REFUSED_ANSWERED = 25,      // trie round after an answer; checked after REPLAYED
    SHOAL_REFUSALS                    // number of refusals, not a refusal
} shoal_refusal;

// Returns: a short static name in lower case with hyphens ("field-epsilon"), or one static
// sentence.
const char *shoal_refusal_name(shoal_refusal refusal);
const char *shoal_refusal_text(shoal_refusal refusal);

// The answer to the question whether this device may answer a query.
typedef struct shoal_verdict {
    shoal_refusal refusal;
    uint32_t field; // index in the recipe's encoding (in split_by for SPLIT); UINT32_MAX: no field
    uint32_t analysis;          // index in the policy; UINT32_MAX before it is known
    uint32_t local_eps_micro;   // epsilon of one report, recomputed from its thresholds
    uint32_t central_eps_micro; // the cohort's epsilon; if accepted, at most cohort.epsilon
} shoal_verdict;

// The charges so far, and the composed figure under the policy.
typedef struct shoal_charge {
    uint32_t reports;   // a trie's query counts its contributions
    uint64_t eps_micro; // composed as the policy says; never above the allowance
    uint64_t delta_e15; // sum of the queries' delta (for a trie, of all its reports) and the slack,
                        // in units of 1e-15
    uint64_t local_eps_micro; // all reports together: user-level, basic
} shoal_charge;

shoal_err shoal_accountant_init(uint8_t *accountant, size_t cap, size_t *len,
                                uint32_t day) SHOAL_MUST_CHECK;

// Checks a query against the policy and the accountant, and writes neither. The host must first
// have verified the signature over the recipe's signed bytes by one of the policy's keys.
//   recipe: finished; with or without `part`
//   day: days since 1970-01-01 UTC
void shoal_query_check(shoal_verdict *verdict, const uint8_t *accountant, size_t len,
                       const shoal_policy *policy, const shoal_recipe *recipe, uint32_t day);

// Checks a query like shoal_query_check, and charges it if it is accepted.
//   accountant: *len bytes in, *len bytes out, space for cap; unchanged unless accepted
void shoal_query_debit(shoal_verdict *verdict, uint8_t *accountant, size_t *len, size_t cap,
                       const shoal_policy *policy, const shoal_recipe *recipe, uint32_t day);

// Reads the charges of an analysis or, if field is not UINT32_MAX, of one of its fields. They are
// zero if nothing was charged. Returns: LEDGER if the bytes are damaged.
shoal_err shoal_accountant_charge(shoal_charge *charge, const uint8_t *accountant, size_t len,
                                  const shoal_policy *policy, uint32_t analysis,
                                  uint32_t field) SHOAL_MUST_CHECK;

// Returns: the epsilon of `reports` queries that claim eps_micro each, under the analysis's
// composition. It is for hosts that explain a policy.
//   reports: at most SHOAL_POLICY_REPORTS_MAX
//   eps_micro: at most SHOAL_EPS_MICRO_MAX
uint64_t shoal_composed_epsilon(const shoal_policy_analysis *analysis, uint32_t reports,
                                uint32_t eps_micro);

#endif
