/* tables.h - files out of random numbers, right, odd and wrong ones, for the tests of reading in
 * pieces and in parts. Include after desk.h. */
#ifndef RLAR_TEST_TABLES_H
#define RLAR_TEST_TABLES_H

enum { TEXT_ROOM = 1 << 16 };

typedef struct maker {
    uint64_t seed;
    char text[TEXT_ROOM];
    size_t size;
} maker;

static inline int64_t draw(maker *m, int64_t below) {
    m->seed ^= m->seed << 13;
    m->seed ^= m->seed >> 7;
    m->seed ^= m->seed << 17;
    return (int64_t)(m->seed % (uint64_t)below);
}

static inline void say(maker *m, const char *text, size_t size) {
    assert_true(m->size + size < TEXT_ROOM);
    memcpy(m->text + m->size, text, size);
    m->size += size;
}

static inline void says(maker *m, const char *text) {
    say(m, text, strlen(text));
}

static inline void say_number(maker *m) {
    char buf[64];
    const double value = (double)draw(m, 2000001) / 1000.0 - 1000.0;
    switch (draw(m, 8)) {
    case 0:
        snprintf(buf, sizeof buf, "%.17g", value / 7);
        break;
    case 1:
        snprintf(buf, sizeof buf, "%.18e", value * 1e-7);
        break;
    case 2:
        snprintf(buf, sizeof buf, "%.25f", value / 3);
        break;
    case 3:
        snprintf(buf, sizeof buf, "%.3f", value);
        break;
    default:
        snprintf(buf, sizeof buf, "%d", (int)draw(m, 256));
    }
    says(m, buf);
}

/* One of the texts, which end with NULL. */
static inline void say_one(maker *m, const char *const *texts) {
    int64_t count = 0;
    while (texts[count])
        count++;
    says(m, texts[draw(m, count)]);
}

/* One in `rarity`: what a reader has to look at twice; one in 40 of those is an error. */
static inline void say_cell(maker *m, int64_t rarity, bool wrong) {
    static const char *const odd[] = {" 1.5", "2 ",      "\"3\"",       "\"4.5e1\" ", "+7",
                                      "1.",   "  .5  ",  "-0",          "1e-400",     "0005",
                                      "1E3",  "\"5\n\"", "\"\r\n\n6\"", NULL};
    static const char *const gap[] = {"", "NA", "?", "nan", " ", NULL};
    static const char *const bad[] = {"x",   "1e",  "1.2.3", "inf",  "1e999",    "\"1\"2",
                                      "1 2", "--1", "0x10",  "1,5,", "\"open\n", NULL};
    if (draw(m, rarity) > 0)
        say_number(m);
    else if (wrong && draw(m, 40) == 0)
        say_one(m, bad);
    else
        say_one(m, draw(m, 3) == 0 ? gap : odd);
}

static inline void say_label(maker *m) {
    static const char *const plain[] = {"a", "b", "c c", "1", "1.0", NULL};
    static const char *const quoted[] = {
        "\"a\"", "\"b,\"", "\"x\"\"y\"", "\"two\nlines\"", "\"\n\n\"", "\"a\r\n,,1,2\n3\"", NULL};
    say_one(m, draw(m, 30) == 0 ? quoted : plain);
}

static inline void say_line_end(maker *m, int64_t kind) {
    static const char *const common[] = {"\n", "\r\n", "\n\n", " \n", "\r", NULL};
    static const char *const usual[] = {"\n", "\r\n", "\n", "\r"};
    if (draw(m, 50) == 0)
        say_one(m, common);
    else
        says(m, usual[kind]);
}

static inline void make_csv(maker *m) {
    static const char *const separators[] = {",", ",", ";", "\t", " "};
    const char *separator = separators[draw(m, 5)];
    const int64_t columns = 2 + draw(m, 9), label = draw(m, columns), rows = draw(m, 120);
    const int64_t rarity = draw(m, 2) ? 8 : 2000, line_end = draw(m, 20) ? draw(m, 3) : 3;
    const bool wrong = draw(m, 3) == 0;
    m->size = 0;
    if (draw(m, 10) == 0)
        says(m, "\xef\xbb\xbf");
    for (int64_t j = 0; j < columns && draw(m, 8) > 0; j++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", (int)j);
        says(m, j > 0 ? separator : "");
        says(m, j == label ? "class" : name);
    }
    if (m->size > 0)
        says(m, "\n");
    for (int64_t i = 0; i < rows; i++) {
        const int64_t cells = wrong && draw(m, 200) == 0 ? columns - 1 : columns;
        for (int64_t j = 0; j < cells; j++) {
            if (j > 0)
                says(m, separator);
            if (j == label)
                say_label(m);
            else
                say_cell(m, rarity, wrong);
        }
        if (wrong && draw(m, 500) == 0)
            say(m, "\0", 1);
        if (i + 1 < rows || draw(m, 4) > 0)
            say_line_end(m, line_end);
    }
}

static inline void say_pair(maker *m, int64_t index) {
    char buf[48];
    snprintf(buf, sizeof buf, " %d:", (int)index);
    says(m, buf);
    say_number(m);
}

static inline void make_libsvm(maker *m) {
    static const char *const odd[] = {" qid:3",   "   ",      " 4000:?", " 4001:NA", " # 3:4",
                                      " 05001:1", "\t5002:2", " \r",     NULL};
    static const char *const bad[] = {" 1:1",
                                      " x:1",
                                      " 3",
                                      " 7000:x",
                                      " 0:1",
                                      " 8000:1e999",
                                      " :",
                                      " -1:2",
                                      " 99999999999999999999:1",
                                      " 9000:1 9000:2",
                                      " 700000000:1",
                                      NULL};
    static const char *const labels[] = {"+1", "-1", "1", "a", "2.0", NULL};
    const int64_t rows = draw(m, 150), base = draw(m, 5) == 0 ? 0 : 1, density = 1 + draw(m, 6);
    const bool wrong = draw(m, 3) == 0, plain = draw(m, 2) == 0;
    m->size = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (draw(m, 60) == 0)
            says(m, "# a comment: 5\n");
        if (i > 0 && draw(m, 60) == 0)
            says(m, "\xef\xbb\xbf");
        if (!wrong || draw(m, 60) > 0)
            say_one(m, labels);
        for (int64_t j = base; j < 12; j++)
            if ((i == 0 && j == 0) || draw(m, density) == 0)
                say_pair(m, j);
        if (!plain && draw(m, 12) == 0)
            say_one(m, odd);
        if (wrong && draw(m, 80) == 0)
            say_one(m, bad);
        if (i + 1 < rows || draw(m, 4) > 0)
            says(m, draw(m, 10) == 0 ? "\r\n" : "\n");
    }
}

static inline void same_data(const rlar_data *a, const rlar_data *b) {
    const char *what = data_difference(a, b);
    if (what)
        fail_msg("%s differ", what);
}

#endif
