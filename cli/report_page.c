/* report_page.c - the page of a report: head, style, script, and the small parts of HTML.
 *
 * The page asks nothing of any network: style, script and figures are in it, and its policy forbids
 * the browser everything else. It reads on a phone (tables and figures scroll inside their boxes),
 * in the dark (figures keep a light card) and on paper. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { LONG_TEXT = 40 }; /* longer ones are broken into lines */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
    "<title>";

static const char style[] =
    "</title>\n<style>\n"
    ":root { --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #ffffff; --band: #f6f8fa;\n"
    "  --mark: #0b5394; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --text: #e6e9ed; --soft: #9aa4af; --line: #3a424c; --back: #14171b; --band: "
    "#1d2228;\n    --mark: #8cc1f5; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 68rem; color: var(--text);\n"
    "  background: var(--back); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }\n"
    "h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }\n"
    "h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); }\n"
    "h3 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }\n"
    "p { margin: .4rem 0; max-width: 46rem; }\n.soft, .caption { color: var(--soft); }\n"
    ".box { overflow-x: auto; margin: .3rem 0 1.2rem; border: 1px solid var(--line);\n"
    "  border-radius: 6px; width: fit-content; max-width: 100%; }\n"
    ".box:focus-visible, button:focus-visible { outline: 2px solid var(--mark); outline-offset: "
    "-2px; }\n"
    "table { border-collapse: collapse; font-size: .92rem;\n"
    "  font-variant-numeric: tabular-nums; overflow-wrap: normal; }\n"
    "th, td { padding: .3rem .7rem; text-align: left; }\ntd { border-top: 1px solid var(--line); "
    "}\n"
    "td { white-space: nowrap; }\n"
    "td.long { white-space: normal; min-width: 16rem; max-width: 30rem; overflow-wrap: anywhere; "
    "}\n"
    "th { background: var(--band); white-space: nowrap; vertical-align: bottom; }\n"
    ".number { text-align: right; }\n"
    "th button { all: unset; cursor: pointer; font-weight: 600; }\n"
    "th button::after { content: ' \\2195'; color: var(--soft); }\n"
    "th[aria-sort=ascending] button::after { content: ' \\2191'; color: var(--mark); }\n"
    "th[aria-sort=descending] button::after { content: ' \\2193'; color: var(--mark); }\n"
    "summary { cursor: pointer; color: var(--mark); margin: .3rem 0; width: fit-content; }\n"
    "pre { background: var(--band); border: 1px solid var(--line); border-radius: 6px;\n"
    "  padding: .7rem; white-space: pre-wrap; font-size: .88rem; }\n"
    ".figures { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }\n"
    "figure { margin: 0; max-width: 100%; }\nfigcaption { color: var(--soft); margin-top: .3rem; "
    "}\n"
    ".card { overflow-x: auto; background: #ffffff; border: 1px solid var(--line);\n"
    "  border-radius: 6px; padding: .4rem; width: fit-content; max-width: 100%; }\n"
    ".card svg { display: block; max-width: 100%; height: auto; }\n"
    "@media print {\n"
    "  :root { --text: #000000; --soft: #333333; --line: #999999; --back: #ffffff; --band: "
    "#ffffff; }\n"
    "  body { max-width: none; padding: 0; font-size: 10pt; }\n"
    "  .box, .card { overflow: visible; border: none; }\n  th button::after { content: ''; }\n"
    "  figure, tr { break-inside: avoid; }\n  h2, h3 { break-after: avoid; }\n"
    "  .card svg { min-width: 0 !important; } }\n"
    "</style>\n</head>\n<body>\n<main>\n<h1>";

/* Click or press a heading: upwards, then downwards. Rows without a value stay last. On paper
 * nothing stays folded. */
static const char script[] =
    "</main>\n<script>\n"
    "'use strict';\n"
    "function value(row, column) {\n"
    "  const cell = row.cells[column];\n"
    "  if (!('value' in cell.dataset)) return cell.textContent;\n"
    "  return cell.dataset.value === '' ? null : Number(cell.dataset.value);\n"
    "}\n"
    "function compare(a, b) {\n"
    "  return typeof a === 'number' && typeof b === 'number' ? a - b :\n"
    "    String(a).localeCompare(String(b), 'en', {numeric: true});\n"
    "}\n"
    "function sort(table, heading, column) {\n"
    "  const up = heading.getAttribute('aria-sort') !== 'ascending', body = table.tBodies[0];\n"
    "  const rows = Array.from(body.rows);\n"
    "  rows.sort((r, s) => {\n"
    "    const a = value(r, column), b = value(s, column);\n"
    "    if (a === null || b === null) return (a === null) - (b === null);\n"
    "    return up ? compare(a, b) : compare(b, a);\n"
    "  });\n"
    "  body.append(...rows);\n"
    "  for (const other of table.tHead.rows[0].cells) other.setAttribute('aria-sort', 'none');\n"
    "  heading.setAttribute('aria-sort', up ? 'ascending' : 'descending');\n"
    "}\n"
    "for (const table of document.querySelectorAll('table'))\n"
    "  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {\n"
    "    heading.querySelector('button').addEventListener('click', () => sort(table, heading, "
    "column));\n"
    "  });\n"
    "addEventListener('beforeprint', () => {\n"
    "  for (const folded of document.querySelectorAll('details')) folded.open = true;\n"
    "});\n"
    "</script>\n</body>\n</html>\n";

static void put(cli *c, const char *text) {
    cli_write(c, text, strlen(text));
}

/* Names of files and titles may be no UTF-8, which the page says it is: cli_json_text mends them.
 */
void cli_html(cli *c, const char *text) {
    static const char special[] = "&<>\"'";
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    json_t *clean = cli_json_text(text);
    const char *at = json_string_value(clean);
    while (*at != '\0') {
        const size_t plain = strcspn(at, special);
        cli_write(c, at, plain);
        at += plain;
        if (*at != '\0')
            put(c, entity[strchr(special, *at++) - special]);
    }
    json_decref(clean);
}

void cli_page_begin(cli *c, const char *title) {
    put(c, head);
    cli_html(c, title);
    put(c, style);
    cli_html(c, title);
    put(c, "</h1>\n");
}

void cli_page_end(cli *c) {
    put(c, script);
}

void cli_html_heading(cli *c, int level, const char *text) {
    cli_printf(c, "<h%d>", level);
    cli_html(c, text);
    cli_printf(c, "</h%d>\n", level);
}

/* The caption stands above the box, where it does not scroll away. */
void cli_html_table(cli *c, const char *caption, const char *const *column, int columns,
                    int texts) {
    put(c, "<p class=\"caption\">");
    cli_html(c, caption);
    put(c, "</p>\n<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"");
    cli_html(c, caption);
    put(c, "\">\n<table>\n<thead><tr>");
    for (int i = 0; i < columns; i++) {
        cli_printf(c, "<th scope=\"col\" aria-sort=\"none\"%s><button type=\"button\">",
                   i < texts ? "" : " class=\"number\"");
        cli_html(c, column[i]);
        put(c, "</button></th>");
    }
    put(c, "</tr></thead>\n<tbody>\n");
}

void cli_html_row(cli *c) {
    put(c, "<tr>");
}

void cli_html_cell(cli *c, const char *text) {
    put(c, strlen(text) > LONG_TEXT ? "<td class=\"long\">" : "<td>");
    cli_html(c, text);
    put(c, "</td>");
}

void cli_html_number(cli *c, const char *text, double value, bool best) {
    char buf[CLI_NUMBER_SIZE];
    cli_printf(c, "<td class=\"number\" data-value=\"%s\">%s",
               isfinite(value) ? cli_number(value, buf) : "", best ? "<strong>" : "");
    cli_html(c, text);
    put(c, best ? "</strong></td>" : "</td>");
}

void cli_html_row_end(cli *c) {
    put(c, "</tr>\n");
}

void cli_html_table_end(cli *c) {
    put(c, "</tbody>\n</table>\n</div>\n");
}

/* Nested values, which are rare, stay JSON. */
char *cli_plain(const json_t *value) {
    char *text = NULL, buf[CLI_NUMBER_SIZE];
    if (json_is_string(value))
        return cli_strdup(json_string_value(value), json_string_length(value));
    if (json_is_real(value)) {
        const char *number = cli_number(json_real_value(value), buf);
        return cli_strdup(number, strlen(number));
    }
    if (json_is_object(value)) {
        size_t size = 0;
        FILE *out = cli_text_open(&text, &size);
        const char *key;
        json_t *entry;
        json_object_foreach((json_t *)(uintptr_t)value, key, entry) {
            char *plain = json_is_object(entry) ? NULL : cli_plain(entry);
            fprintf(out, "%s%s=%s", ftell(out) > 0 ? " " : "", key, plain != NULL ? plain : "{}");
            free(plain);
        }
        cli_text_close(out, &text);
        return text;
    }
    text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    return text != NULL ? text : cli_strdup("", 0);
}
