// SPDX-License-Identifier: Apache-2.0
// Small trends; see spark_figure.h. Coordinates are whole numbers, which keeps pages short.
#include "spark_figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define WIDTH 240.0
#define HEIGHT 100.0
#define ROOM 8.0 // around the picture, for the width of its line
#define LONE 3   // half the width of the band of a point between two gaps

typedef struct spark {
    char *out;
    size_t len;
    const agg_trend_point *points;
    size_t n;
    agg_scale scale;
} spark;

__attribute__((format(printf, 2, 3))) static void put(spark *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(s->out + s->len, AGG_SPARK_SIZE - s->len, format, arguments);
    va_end(arguments);
    if (len > 0 && (size_t)len < AGG_SPARK_SIZE - s->len) s->len += (size_t)len;
}

static int x_of(const spark *s, size_t i)
{
    double step = s->n < 2 ? 0 : (WIDTH - 2 * ROOM) / (double)(s->n - 1);
    return (int)lround(ROOM + step * (double)i);
}

static int y_of(const spark *s, double value)
{
    double place = (s->scale.high - value) / (s->scale.high - s->scale.low);
    return (int)lround(ROOM + (HEIGHT - 2 * ROOM) * fmin(fmax(place, 0), 1));
}

// Returns: the end of the known points from i on.
static size_t end_of_run(const spark *s, size_t i)
{
    while (i < s->n && s->points[i].is_known) i++;
    return i;
}

static void put_band(spark *s, size_t from, size_t to)
{
    const agg_trend_point *p = s->points;
    int beside = to - from == 1 ? LONE : 0;
    put(s, "M%d,%d", x_of(s, from) - beside, y_of(s, p[from].high));
    for (size_t i = from + 1; i < to; i++) put(s, " %d,%d", x_of(s, i), y_of(s, p[i].high));
    if (beside > 0) put(s, "h%d", 2 * beside);
    for (size_t i = to; i-- > from;)
        put(s, "%c%d,%d", i + 1 == to ? 'L' : ' ', x_of(s, i) + beside, y_of(s, p[i].low));
    put(s, beside > 0 ? "h%dz" : "z", -2 * beside);
}

static void put_line(spark *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        put(s, "%c%d,%d", i == from ? 'M' : ' ', x_of(s, i), y_of(s, s->points[i].value));
    if (to - from == 1) put(s, "h0"); // round ends make a dot of it
}

// Draws each run of known points.
static void put_path(spark *s, const char *class, void (*draw)(spark *, size_t, size_t))
{
    put(s, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < s->n; i++) {
        size_t end = end_of_run(s, i);
        if (end > i) draw(s, i, end);
        i = end;
    }
    put(s, "\"/>");
}

void agg_spark_draw(char out[AGG_SPARK_SIZE], const agg_trend_point *points, size_t n)
{
    spark s = {.out = out, .points = points, .n = n, .scale = {HUGE_VAL, -HUGE_VAL}};
    size_t last = n;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (!points[i].is_known) continue;
        agg_scale_hold(&s.scale, points[i].low);
        agg_scale_hold(&s.scale, points[i].high);
        last = i;
    }
    if (last == n) return;
    agg_scale_finish(&s.scale);
    put_path(&s, "band", put_band);
    put_path(&s, "line", put_line);
    put(&s, "<path class=\"last\" d=\"M%d,%dh0\"/>", x_of(&s, last), y_of(&s, points[last].value));
}
