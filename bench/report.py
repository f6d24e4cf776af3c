"""The outcome of a run as text, as JSON and as a figure."""
import json
import os
import subprocess

from stats import median

HEAD = "%-62s %10s %9s  %-27s %10s %9s %9s %8s  %-14s %s" % (
    "what", "ours s", "CPU s", "other", "s", "CPU s", "measured", "by CPU", "required", "")
UNITS = {"x faster": "x", "x limit": "x lim", "x forecast": "x", "GF/s": " GF/s"}


def seconds(sample, kind):
    return "%.4g" % median(getattr(sample, kind)) if sample else ""


def number(value, unit):
    return "" if value is None else "%.2f%s" % (value, UNITS.get(unit, ""))


def line(row):
    required = "%s %g" % row.required if row.required else ""
    if row.mark and not row.required:
        required = row.unit
    text = "%-62s %10s %9s  %-27s %10s %9s %9s %8s  %-14s %s" % (
        row.what, seconds(row.ours, "wall"), seconds(row.ours, "cpu"),
        row.other.label if row.other else row.unit, seconds(row.other, "wall"),
        seconds(row.other, "cpu"), number(row.measured, row.unit), number(row.measured_cpu, ""),
        required, row.mark)
    return text.rstrip() + ("\n      " + row.note if row.note else "")


def group_text(name, doc, rows, facts):
    title = "== %s: %s   (%.0f s" % (name, doc.strip().split("\n")[0], facts["seconds"])
    if facts["others_cores"] is not None:
        title += ", others used %.2f cores meanwhile" % facts["others_cores"]
    title += ")"
    return "\n".join([title, HEAD] + [line(row) for row in rows])


def standing(reasons, warnings):
    """Whether a run counts, in a word."""
    return "NOT VALID" if reasons else "valid, but NOISY: do not quote it" if warnings else "valid"


def summary_text(rows, failures, reasons, warnings, quick=False):
    """The demands alone, and whether the run counts."""
    marked = [row for row in rows if row.mark]
    lines = ["== Demands: %d met, %d missed" % (
        sum(row.mark == "pass" for row in marked), sum(row.mark == "miss" for row in marked))]
    for row in marked:
        lines.append("%-5s %-62s %-27s %9s, required %s %g" % (
            row.mark, row.what, row.other.label if row.other else row.unit,
            number(row.measured, row.unit), *row.required))
    lines += ["FAILED: %s: %s" % failure for failure in failures.items()]
    lines += ["warning: " + text for text in warnings]
    lines += ["NOT VALID: " + text for text in reasons]
    if quick:
        lines.append("QUICK: smaller shapes, fewer iterations and repeats than the demands are about")
    lines.append("the run is %s" % standing(reasons, warnings))
    return "\n".join(lines)


def write_json(path, facts, rows):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({**facts, "rows": [row.as_json() for row in rows]}, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


# ---- The figure ----


def quoted(text):
    return '"%s"' % text.replace("\\", "").replace('"', "'")


def bars(rows):
    """Lines "label value colour": how far beyond the demand, 1 = just met."""
    found = []
    for row in reversed([row for row in rows if row.mark and row.required]):
        kind, value = row.required
        share = row.measured / value if kind == "at least" else value / row.measured
        label = row.what if not row.other else "%s: %s" % (row.what, row.other.label)
        found.append("%s %.4f %d" % (quoted(label), share, 0x2b7a3d if row.mark == "pass" else 0xb5402b))
    return found


def curves(rows):
    """Title -> lines "relative size, seconds"."""
    found = {}
    for row in rows:
        if row.point:
            found.setdefault(row.point[0], []).append((row.point[1], median(row.ours.wall)))
    return {title: ["%.6g %.6g" % (size / points[0][0], value) for size, value in points]
            for title, points in found.items()}


def bar_panel(shares, top, bottom):
    return ["set lmargin 75", "set tmargin at screen %.3f" % top,
            "set bmargin at screen %.3f" % bottom,
            "set xrange [0:*]", "set yrange [-0.7:%d-0.3]" % len(shares), "set ytics noenhanced",
            "set xlabel 'measured against the demand (right of 1: met)'",
            "set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 2 dt 2 front",
            "plot $bars using 2:0:(0):2:($0-0.38):($0+0.38):3:ytic(1) with boxxyerror "
            "lc rgb variable"]


def curve_panel(titles, top, bottom):
    return ["unset arrow", "set lmargin 12", "set tmargin at screen %.3f" % top,
            "set bmargin at screen %.3f" % bottom, "set logscale xy", "set autoscale",
            "set xlabel 'size, relative to the smallest'", "set ylabel 'seconds of one fit'",
            "set ytics auto", "set grid y", "set key left top noenhanced",
            "plot " + ", ".join("$curve%d with linespoints lw 2 pt 7 title %s" % (i, quoted(title))
                                for i, title in enumerate(titles))]


BAR, CURVES, EDGE = 24, 380, 110  # pixels: a bar, the panel of the curves, what is around them


def figure(rows, title):
    """The height in pixels and the script. What was not measured is left out."""
    shares, lines = bars(rows), curves(rows)
    above = EDGE + BAR * len(shares) if shares else 0
    height = max(above + (CURVES if lines else 0), EDGE)
    split = 1.0 - above / height
    script = ["$bars << END", *shares, "END"]
    for number_of, points in enumerate(lines.values()):
        script += ["$curve%d << END" % number_of, *points, "END"]
    script += ["set multiplot title %s noenhanced" % quoted(title), "set style fill solid 0.9",
               "set grid x", "unset key"]
    script += bar_panel(shares, 1.0 - 35.0 / height, split + 60.0 / height) if shares else []
    script += curve_panel(lines, split - 20.0 / height if shares else 0.9, 55.0 / height) if lines else []
    return height, script + ["unset multiplot"]


def write_figure(folder, rows, title):
    """results.svg and results.png; the error of gnuplot, or None."""
    height, body = figure(rows, title)
    for ending, terminal in (("svg", "svg size 1200,%d font 'sans,12' background 'white'"),
                             ("png", "pngcairo size 1200,%d font 'sans,10'")):
        target = os.path.join(folder, "results." + ending)
        script = "\n".join(["set terminal " + terminal % height, "set output '%s'" % target] + body)
        try:
            done = subprocess.run(["gnuplot"], input=script + "\n", text=True, check=False,
                                  stderr=subprocess.PIPE)
        except OSError as error:
            return str(error)
        if done.returncode != 0 or done.stderr:
            return done.stderr.strip()
    return None
