import ts from 'typescript'

/** @typedef {{ pos: number, end: number }} Range */

/**
 * Lists the comments of a source. Consecutive line comments are one comment.
 * @param {ts.SourceFile} source
 * @returns {Range[]}
 */
export function commentRanges(source) {
  /** @type {Map<number, ts.CommentRange>} */
  const found = new Map()
  /** @param {readonly ts.CommentRange[] | undefined} ranges */
  const keep = (ranges) => {
    for (const range of ranges ?? []) found.set(range.pos, range)
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    const children = node.getChildren(source).filter(({ kind }) => !isDocumentation(kind))
    for (const child of children) visit(child)
    if (children.length > 0) return
    keep(ts.getLeadingCommentRanges(source.text, node.pos))
    keep(ts.getTrailingCommentRanges(source.text, node.end))
  }
  visit(source)
  return joinLines(
    source.text,
    [...found.values()].toSorted((left, right) => left.pos - right.pos),
  )
}

/** @param {ts.SyntaxKind} kind */
export function isDocumentation(kind) {
  return kind >= ts.SyntaxKind.FirstJSDocNode && kind <= ts.SyntaxKind.LastJSDocNode
}

/**
 * @param {string} text
 * @param {readonly ts.CommentRange[]} ranges
 * @returns {Range[]}
 */
function joinLines(text, ranges) {
  /** @type {(Range & { single: boolean })[]} */
  const joined = []
  for (const { pos, end, kind } of ranges) {
    const single = kind === ts.SyntaxKind.SingleLineCommentTrivia
    const last = joined.at(-1)
    const follows = last !== undefined && /^\n[ \t]*$/.test(text.slice(last.end, pos))
    if (single && last?.single === true && follows) last.end = end
    else joined.push({ pos, end, single })
  }
  return joined
}
