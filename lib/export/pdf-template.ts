/** Fonts of the text, best first. Those that are not installed are skipped. */
const FONTS = [
  "Noto Sans",
  "Libertinus Serif",
  "Noto Sans Arabic",
  "Noto Naskh Arabic",
  "Noto Sans CJK SC",
  "Noto Sans CJK JP",
  "Noto Sans SC",
  "Noto Sans JP",
  "Noto Sans KR",
  "Noto Color Emoji",
  "Noto Emoji",
  "DejaVu Sans Mono",
];

/**
 * The layout of a PDF. It contains nothing of the document: that is the JSON file that it reads, whose values are
 * strings and numbers and never markup. Show rules apply only where they are needed: one for the whole document is
 * tried for every element.
 */
export const PDF_TEMPLATE = `
#let data = json("document.json")
#set document(title: data.title)
#set page(paper: "a4", margin: 2.5cm, numbering: "1")
#set text(lang: data.language, region: data.region, size: 11pt, font: (${FONTS.map((name) => JSON.stringify(name)).join(", ")}))
#set par(leading: 0.65em, spacing: 1em)
#let address(it, body) = text(fill: rgb("#0b5f8a"), link(it, body))
#let code(..it) = {
  show raw: set text(font: ("DejaVu Sans Mono", "Noto Sans Mono"), size: 9pt)
  raw(..it)
}
#let fill-of(it) = if it == none { none } else { rgb(it) }
#let lines(value) = if value.contains("\\n") { value.split("\\n").join(linebreak()) } else { text(value) }
#let run(it) = {
  let body = if it.at("code", default: false) { code(it.text) } else { lines(it.text) }
  if it.at("strike", default: false) { body = strike(body) }
  if it.at("underline", default: false) { body = underline(body) }
  if it.at("italic", default: false) { body = emph(body) }
  if it.at("bold", default: false) { body = strong(body) }
  if it.at("color", default: none) != none { body = text(fill: rgb(it.color), body) }
  if it.at("background", default: none) != none { body = highlight(fill: rgb(it.background), body) }
  if it.at("href", default: none) != none { body = address(it.href, body) }
  body
}
#let inline(runs) = runs.map(run).join()
#let aligned(name, body) = {
  if name == "left" { body } else if name == "justify" { { set par(justify: true); body } } else if name == "center" { align(center, body) } else { align(right, body) }
}
#let picture(it) = {
  let shown = image(it.path, alt: it.alt, width: it.width * 0.75pt)
  if it.alt == "" { pdf.artifact(shown) } else { shown }
}
#let node(it, nodes) = {
  if it.kind == "heading" { aligned(it.align, heading(level: it.level, inline(it.runs))) }
  else if it.kind == "paragraph" { aligned(it.align, par(inline(it.runs))) }
  else if it.kind == "quote" { quote(block: true, aligned(it.align, inline(it.runs))) }
  else if it.kind == "callout" {
    block(fill: rgb("#f3f3f3"), inset: 8pt, radius: 3pt, width: 100%, {
      aligned(it.align, par({ if it.emoji != "" { it.emoji + " " }; inline(it.runs) }))
      nodes(it.nodes)
    })
  }
  else if it.kind == "list" {
    let items = it.items.map(item => {
      let box = item.at("isChecked", default: none)
      aligned(item.align, {
        if box != none { if box { "\\u{2611} " } else { "\\u{2610} " } }
        inline(item.runs)
      })
      nodes(item.nodes)
    })
    if it.type == "numbered" { enum(start: it.start, ..items) } else { list(..items) }
  }
  else if it.kind == "code" { block(fill: rgb("#f3f3f3"), inset: 8pt, width: 100%, code(it.text, block: true)) }
  else if it.kind == "table" {
    let cell(one) = table.cell(
      colspan: one.colspan, rowspan: one.rowspan, fill: fill-of(one.at("background", default: none)),
      { let body = inline(one.runs); aligned(one.align, if one.isHeader { strong(body) } else { body }) },
    )
    let head = it.rows.slice(0, it.headerRows).flatten().map(cell)
    let body = it.rows.slice(it.headerRows).flatten().map(cell)
    let header = if head.len() > 0 { (table.header(..head),) } else { () }
    table(columns: (1fr,) * it.columns, stroke: 0.5pt + rgb("#767676"), ..header, ..body)
  }
  else if it.kind == "image" {
    if it.caption == "" { par(picture(it)) } else { figure(picture(it), caption: it.caption, numbering: none, supplement: none) }
  }
  else if it.kind == "file" { par({ address(it.href, it.name); if it.caption != "" { " – " + it.caption } }) }
  else if it.kind == "indented" { pad(left: 1.5em, nodes(it.nodes)) }
  else if it.kind == "divider" { pdf.artifact(line(length: 100%, stroke: 0.5pt + rgb("#767676"))) }
  else if it.kind == "pageBreak" { pagebreak(weak: true) }
}
#let nodes(all) = for one in all { node(one, nodes) }
#heading(level: 1, data.title)
#nodes(data.nodes)
#if data.comments.len() > 0 {
  heading(level: 2, data.comments-title)
  for one in data.comments {
    pad(left: if one.isFirst { 0em } else { 1.5em }, {
      par({ strong(one.author); text(fill: rgb("#595959"), " " + one.at + if one.isResolved { " \\u{2713}" }) })
      par(lines(one.text))
    })
  }
}
`;
