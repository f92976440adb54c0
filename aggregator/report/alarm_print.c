// SPDX-License-Identifier: Apache-2.0
// Prints alarms; see alarm_print.h.
#include "alarm_print.h"

#include <math.h>
#include <string.h>

#include "print_text.h"

static const char *const names[AGG_ALARM_CODES] = {
    [AGG_ALARM_IDENTICAL] = "identical-records",   [AGG_ALARM_ROWS] = "uneven-rows",
    [AGG_ALARM_COLUMNS] = "impossible-columns",    [AGG_ALARM_WEIGHT] = "impossible-weight",
    [AGG_ALARM_ABOVE] = "count-above-all-reports", [AGG_ALARM_BELOW] = "count-below-zero",
    [AGG_ALARM_GROWTH] = "sudden-growth"};

const char *agg_alarm_name(agg_alarm_code code)
{
    return names[code];
}

// Smaller bounds on the chance of an alarm are stated as this one.
#define P_SHOWN 1e-15

// Returns: four significant digits, or all digits of the whole part where it has more.
static agg_digits about(double x)
{
    agg_digits out;
    if (fabs(x) >= 1000) return agg_grouped(x, 0);
    snprintf(out.text, sizeof out.text, "%.4g", x);
    return out;
}

// Writes the sentence about a raised alarm.
static void say(char *out, size_t cap, agg_alarm_code code, const agg_alarm *a)
{
    if (code == AGG_ALARM_GROWTH) {
        snprintf(out, cap,
                 "the newest blocks brought %s reports a day where %s are usual (a rule without "
                 "a rate of false alarms)",
                 about(a->observed).text, about(a->expected).text);
        return;
    }
    static const char counted[] = "one record came %s times or more among %s that were "
                                  "examined; by chance %s copies of "
                                  "a record are expected at most";
    static const char *const sentences[AGG_ALARM_CODES] = {
        [AGG_ALARM_IDENTICAL] = "up to %s of %s reports are copies of one record; by chance "
                                "%s such copies are expected at most",
        [AGG_ALARM_ROWS] = "one row has %s of %s reports; devices draw rows uniformly, %s a row",
        [AGG_ALARM_COLUMNS] = "a cell counts %s of %s reports; the nearest that any values "
                              "could bring about is %s on average",
        [AGG_ALARM_WEIGHT] = "the reports have %s ones in %s bits; the nearest that any values "
                             "could bring about is %s on average",
        [AGG_ALARM_ABOVE] = "a value is supported by %s of %s reports; if every device held "
                            "it, %s would be expected",
        [AGG_ALARM_BELOW] = "a value is supported by only %s of %s reports; if no device held "
                            "it, %s would be expected"};
    int len = snprintf(out, cap, a->is_counted ? counted : sentences[code],
                       agg_grouped(a->observed, 0).text, agg_grouped(a->n, 0).text,
                       about(a->expected).text);
    if (len < 0 || (size_t)len >= cap) return;
    bool is_tiny = a->p < P_SHOWN; // a bound that underflows is not 0
    snprintf(out + len, cap - (size_t)len,
             " (a chance of at most %.2g for honest devices, whatever they hold)",
             is_tiny ? P_SHOWN : a->p);
}

bool agg_alarm_line(char out[AGG_ALARM_LINE_MAX], const agg_alarms *alarms, size_t index)
{
    for (int c = 0; c < AGG_ALARM_CODES; c++) {
        const agg_alarm *a = &alarms->list[c];
        if (a->outcome != AGG_ALARM_RAISED || index-- > 0) continue;
        int len = snprintf(out, AGG_ALARM_LINE_MAX, "alarm %s: ", names[c]);
        say(out + len, AGG_ALARM_LINE_MAX - (size_t)len, (agg_alarm_code)c, a);
        return true;
    }
    return false;
}

// Adds a name to a list of them. Names are short: all of them fit.
static void append(char out[AGG_ALARM_LINE_MAX], const char *name, bool is_first)
{
    size_t len = strlen(out);
    snprintf(out + len, AGG_ALARM_LINE_MAX - len, "%s%s", is_first ? "" : ", ", name);
}

bool agg_alarm_rest_line(char out[AGG_ALARM_LINE_MAX], const agg_alarms *alarms, size_t index)
{
    bool is_first = true;
    if (!alarms->is_measured) return false;
    if (index == 0) {
        snprintf(out, AGG_ALARM_LINE_MAX, "alarms              %s",
                 alarms->n_raised > 0 ? "above; tested and silent: " : "none; tested: ");
        for (int c = 0; c < AGG_ALARM_CODES; c++) {
            if (alarms->list[c].outcome != AGG_ALARM_PASSED) continue;
            append(out, names[c], is_first);
            is_first = false;
        }
        if (is_first) append(out, "nothing", true);
        return true;
    }
    for (int c = 0; c < AGG_ALARM_CODES; c++) {
        const agg_alarm *a = &alarms->list[c];
        if (a->outcome != AGG_ALARM_NOT_MEASURED || a->is_moot || --index > 0) continue;
        snprintf(out, AGG_ALARM_LINE_MAX, "not measured        %s: %s", names[c], a->why);
        return true;
    }
    return false;
}

void agg_alarms_print_raised(FILE *stream, const agg_alarms *alarms)
{
    char line[AGG_ALARM_LINE_MAX];
    for (size_t i = 0; agg_alarm_line(line, alarms, i); i++) fprintf(stream, "%s\n", line);
}

void agg_alarms_print_rest(FILE *stream, const agg_alarms *alarms)
{
    char line[AGG_ALARM_LINE_MAX];
    if (!alarms->is_measured) return;
    fputc('\n', stream);
    for (size_t i = 0; agg_alarm_rest_line(line, alarms, i); i++) fprintf(stream, "%s\n", line);
}

static void print_number(FILE *stream, const char *name, double x)
{
    fprintf(stream, ",\"%s\":", name);
    agg_print_number(stream, x);
}

static void print_raised(FILE *stream, agg_alarm_code code, const agg_alarm *a)
{
    char sentence[AGG_ALARM_LINE_MAX];
    fprintf(stream, "{\"code\":\"%s\"", names[code]);
    if (code != AGG_ALARM_GROWTH) print_number(stream, "p", a->p);
    print_number(stream, "statistic", a->observed);
    print_number(stream, "expected", a->expected);
    if (code != AGG_ALARM_GROWTH) print_number(stream, "n", a->n);
    say(sentence, sizeof sentence, code, a);
    fputs(",\"sentence\":", stream);
    agg_print_json_text(stream, sentence, strlen(sentence));
    fputc('}', stream);
}

void agg_alarms_print_json(FILE *stream, const agg_alarms *alarms)
{
    static const char *const members[] = {[AGG_ALARM_RAISED] = "\"alarms\":[",
                                          [AGG_ALARM_PASSED] = "],\"alarms_passed\":[",
                                          [AGG_ALARM_NOT_MEASURED] = "],\"alarms_not_measured\":["};
    for (int outcome = AGG_ALARM_RAISED; outcome >= AGG_ALARM_NOT_MEASURED; outcome--) {
        const char *comma = "";
        fputs(members[outcome], stream);
        for (int c = 0; c < AGG_ALARM_CODES; c++) {
            const agg_alarm *a = &alarms->list[c];
            if ((int)a->outcome != outcome) continue;
            fputs(comma, stream);
            comma = ",";
            if (outcome == AGG_ALARM_RAISED) print_raised(stream, (agg_alarm_code)c, a);
            if (outcome == AGG_ALARM_PASSED) fprintf(stream, "\"%s\"", names[c]);
            if (outcome == AGG_ALARM_NOT_MEASURED)
                fprintf(stream, "{\"code\":\"%s\",\"why\":\"%s\"}", names[c], a->why);
        }
    }
    fputc(']', stream);
}
