"""The tables of docs/compression.md, written between its markers from docs/compression.json."""

import re


def key(row):
    return f"{row['table']}/{row['name']}/{row['ranks']}/{row['steps']}"


def grouped(number):
    return "" if number is None else f"{number:,}"


def lines(head, rows):
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)])


def verdict(row):
    """The goal, and whether it is met."""
    if row.get("goal") is None or "size" not in row:
        return ""
    return f"{grouped(row['goal'])} {'met' if row['size'] <= row['goal'] else '**missed**'}"


def sections(row):
    """Where the bytes are: grammars; rows; streams; columns; sites and sources; the rest."""
    size = row["bytes"]
    of = [size.get(name, 0) for name in ("grammars", "rows", "streams", "columns")] + [size.get("sites", 0) + size.get("source", 0)]
    return " + ".join(grouped(part) for part in (*of, row["size"] - sum(of)))


def pilgrim(row):
    """Its figure, and what else is known about it."""
    return "; ".join(part for part in (grouped(row["pilgrim"]), row.get("note")) if part)


def comparison(rows):
    """Sizes beside those of Pilgrim."""
    out = []
    for row in rows:
        head = [row["name"], str(row["ranks"]), *([grouped(row["steps"])] if row["steps"] else [""])]
        if "failed" in row:
            out.append([*head, "", "", "", row["failed"], "", pilgrim(row), ""])
        else:
            out.append([*head, grouped(row["calls"]), grouped(row["signatures"]), grouped(row["classes"]),
                        f"**{grouped(row['size'])}**", sections(row), pilgrim(row), verdict(row)])
    return lines(["program", "ranks", "steps", "calls", "signatures", "classes", "bytes",
                  "of these: grammars + rows + streams + columns + sites + rest", "Pilgrim", "goal"], out)


def osu(rows):
    """A line a program; least and greatest over numbers of ranks would hide growth, so each has its column."""
    by_name = {}
    for row in rows:
        by_name.setdefault(row["name"], {})[row["ranks"]] = row
    ranks = sorted({row["ranks"] for row in rows})
    out = []
    for name, of in by_name.items():
        cells = []
        for count in ranks:
            row = of.get(count)
            cells.append("" if row is None else row["failed"] if "failed" in row else
                         f"{grouped(row['size'])} ({grouped(row['signatures'])}, {row['classes']})")
        out.append([name, *cells])
    return lines(["program", *(f"{count} ranks: bytes (signatures, classes)" for count in ranks)], out)


def spread(of):
    """A median ratio, and in brackets the least and the greatest."""
    return f"**{of['cpu_ratio']:.2f}** ({of['cpu_ratio_least']:.2f} to {of['cpu_ratio_greatest']:.2f})"


def cost(rows):
    out = []
    for row in rows:
        if "cost" in row and "failed" not in row:
            of, merge = row["cost"], row.get("merge_cpu_seconds") or {}
            out.append([row["name"], str(row["ranks"]), grouped(row["steps"] or None), grouped(row["calls"]),
                        f"{of['untraced_cpu_seconds']:.2f}", f"{of['traced_cpu_seconds']:.2f}", f"**{of['cpu_ratio']:.2f}**",
                        f"{of['wall_ratio']:.2f}",
                        f"{merge['mean'] * 1e3:.1f} ({merge['maximum'] * 1e3:.1f})" if merge else ""])
    return lines(["program", "ranks", "steps", "calls", "untraced, s", "traced, s", "CPU ratio", "wall ratio",
                  "merge, ms a rank, mean (most)"], out)


def overhead(rows, axis):
    other = "steps" if axis == "ranks" else "ranks"
    rows = [row for row in rows if row["axis"] == axis]
    blocks = sorted({row["block"] for row in rows})
    out = []
    for at in sorted({row[axis] for row in rows}):
        of = {row["block"]: row for row in rows if row[axis] == at}
        cells = [(spread(of[block]), f"{of[block]['wall_ratio']:.2f}", f"{of[block]['untraced_cpu_seconds']:.2f}")
                 for block in blocks]
        out.append([grouped(at), *(cell for three in cells for cell in three)])
    fixed = grouped(rows[0][other]) if rows else "?"
    heads = [f"block {block}³: {what}" for block in blocks for what in ("CPU ratio", "wall ratio", "untraced CPU, s")]
    return lines([f"{axis} ({fixed} {other})", *heads], out)


def write(page, result):
    """Replaces what stands between `<!-- NAME -->` and `<!-- end -->` in the page."""
    rows = result["rows"]
    of = {name: [row for row in rows if row["table"] == name] for name in ("stencils", "patterns", "osu", "nas", "scalapack")}
    order = {name: at for at, name in enumerate(dict.fromkeys(row["name"] for row in rows))}
    for table in of.values():
        table.sort(key=lambda row: (order[row["name"]], row["ranks"], row["steps"]))
    texts = {name: (osu if name == "osu" else comparison)(table) for name, table in of.items()}
    texts["cost"] = cost(rows)
    texts["overhead-ranks"] = overhead(result["overhead"], "ranks")
    texts["overhead-steps"] = overhead(result["overhead"], "steps")
    machine, measured = result.get("machine", {}), result.get("measured", {})
    texts["machine"] = (f"Measured on {measured.get('date', '?')} at {measured.get('commit', '?')}: {machine.get('cpu', '?')}, "
                        f"{machine.get('cores', '?')} cores, a shared virtual machine.")
    text = page.read_text()
    for name, table in texts.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda found, table=table: found[1] + table + "\n" + found[2],
                      text, flags=re.DOTALL)
    page.write_text(text)
