import ts from 'typescript'
import { codeBlocks } from './markdown.mjs'

/**
 * @typedef {{ kind: 'comment' | 'message' | 'page', line: number, text: string }} Prose A text for readers, with its
 *   line breaks. `line` is the line of its first character. Code is replaced with the word `x`, and `boundary` ends a
 *   sentence.
 * @typedef {{ pos: number, end: number }} Range
 */

/** Ends a sentence without punctuation: between table cells, before a tag, and after a heading. */
export const boundary = '\u0001'

const errorFunction = /(?:Error|Problem|Warning|warn)$/
const directive = /^\s*(?:oxlint-|biome-|@ts-|#region|#endregion|v8 ignore|c8 ignore|eslint-|<reference)/

/**
 * Returns the comments of a source and the texts of the errors that it throws.
 * @param {ts.SourceFile} source
 * @returns {Prose[]}
 */
export function proseOfSource(source) {
  /** @param {number} position */
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line + 1
  const comments = commentRanges(source).flatMap(({ pos, end }) => {
    const text = cleanComment(source.text.slice(pos, end))
    return directive.test(text) ? [] : [{ kind: /** @type {const} */ ('comment'), line: lineAt(pos), text }]
  })
  return [...comments, ...messagesOf(source, lineAt)]
}

/**
 * Returns the text of a Markdown page without its code.
 * @param {string} page
 * @returns {Prose}
 */
export function proseOfPage(page) {
  const lines = page.split('\n')
  for (const { first, last } of codeBlocks(page)) lines.fill(boundary, first - 1, last + 1)
  const text = lines.map((line) => (/^(?:#|\s*\|?[\s|:-]+\|?\s*$)/.test(line) ? `${line}${boundary}` : line)).join('\n')
  return { kind: 'page', line: 1, text: cleanMarkup(text.replaceAll('|', boundary)) }
}

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

/** @param {string} comment */
function cleanComment(comment) {
  const text = comment
    .replace(/\s*\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\/\*\*?|\*|\/\/)/, ''))
    .join('\n')
  const blank = text
    .replaceAll(/```[\s\S]*?(?:```|$)/g, (block) => boundary + block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/@example\b[^@]*/g, (block) => boundary + block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/@(?:type|typedef|template|returns|param)\s*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}/g, (tag) =>
      tag.replaceAll(/[^\n]+/g, boundary),
    )
    .replaceAll(/@(?:param|typeParam|template)\s+\S+(?:\s+-)?|(?<=^|\n)\s*@\w+/g, boundary)
  return cleanMarkup(blank)
}

/** @param {string} text */
function cleanMarkup(text) {
  return text
    .replaceAll(/<!--[\s\S]*?-->/g, (comment) => comment.replaceAll(/[^\n]/g, ''))
    .replaceAll(/(`+)[^`]*\1/g, (span) => `x${span.replaceAll(/[^\n]/g, '')}`)
    .replaceAll(/\{@\w+ [^}]*\}/g, 'x')
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/https?:\/\/\S+/g, 'x')
    .replaceAll(/(?<=^|\n)[ \t]*(?:[-*+]|\d+\.)[ \t]/g, boundary)
}

/**
 * @param {ts.SourceFile} source
 * @param {(position: number) => number} lineAt
 * @returns {Prose[]}
 */
function messagesOf(source, lineAt) {
  /** @type {Prose[]} */
  const found = []
  /**
   * @param {ts.Node} node
   * @param {boolean} inError
   */
  const visit = (node, inError) => {
    const text = inError ? literalText(node) : undefined
    if (text !== undefined && /\S\s+\S/.test(text)) {
      found.push({ kind: 'message', line: lineAt(node.getStart(source)), text: cleanMarkup(text) })
    }
    const within = inError || isError(node)
    if (text === undefined || ts.isTemplateExpression(node)) ts.forEachChild(node, (child) => visit(child, within))
  }
  visit(source, false)
  return found
}

/**
 * @param {ts.Node} node
 * @returns {string | undefined}
 */
function literalText(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('x')
}

/** @param {ts.Node} node */
function isError(node) {
  if (ts.isThrowStatement(node)) return true
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false
  const called = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
  return ts.isIdentifier(called) && errorFunction.test(called.text)
}
