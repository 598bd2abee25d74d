/**
 * @typedef {{ language: string, code: string, line: number, first: number, last: number, marker: string | undefined }}
 *   Block `line` is the line of the opening fence, from one. `first` and `last` are the indices of the lines of code,
 *   without `last`. `marker` is the file that the comment above the block names.
 */

const fence = /^(\s*)(`{3,})(\w*)/
const marked = /^\s*<!--\s*file:\s*(\S+)\s*-->\s*$/

/**
 * Returns the fenced code blocks of a Markdown text.
 * @param {string} text
 * @returns {Block[]}
 */
export function codeBlocks(text) {
  const lines = text.split('\n')
  /** @type {Block[]} */
  const blocks = []
  for (let index = 0; index < lines.length; index += 1) {
    const opened = fence.exec(lines[index] ?? '')
    if (opened === null) continue
    const [, , ticks = '', language = ''] = opened
    const last = closing(lines, index + 1, ticks)
    const code = lines.slice(index + 1, last).join('\n')
    blocks.push({ language, code, line: index + 1, first: index + 1, last, marker: markerAbove(lines, index) })
    index = last
  }
  return blocks
}

/** @param {readonly string[]} lines @param {number} from @param {string} ticks */
function closing(lines, from, ticks) {
  const found = lines.findIndex((line, index) => index >= from && line.trim() === ticks)
  return found === -1 ? lines.length : found
}

/** @param {readonly string[]} lines @param {number} index */
function markerAbove(lines, index) {
  const above = lines.slice(0, index).findLast((line) => line.trim() !== '')
  return marked.exec(above ?? '')?.[1]
}

/** Returns a text in which each line of a code block is empty. @param {string} text */
export function withoutBlocks(text) {
  const lines = text.split('\n')
  for (const { first, last } of codeBlocks(text)) lines.fill('', first - 1, last + 1)
  return lines.join('\n')
}

/**
 * Returns the anchors of the headings of a text.
 * @param {string} text
 * @returns {Set<string>}
 */
export function anchors(text) {
  return new Set([...withoutBlocks(text).matchAll(/^#{1,6}\s+(.*)$/gm)].map(([, heading = '']) => slug(heading)))
}

/** @param {string} heading */
function slug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

/**
 * Returns the targets of a text's links and images, with their lines.
 * @param {string} text
 * @returns {{ target: string, line: number }[]}
 */
export function links(text) {
  const lines = withoutBlocks(text).split('\n')
  return lines.flatMap((line, index) =>
    [...line.replaceAll(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(\S+)/g)].map(
      ([, inline, reference]) => ({ target: inline ?? reference ?? '', line: index + 1 }),
    ),
  )
}

/**
 * Returns the lines of a source text between `#region name` and its end, without their common indentation.
 * @param {string} text
 * @param {string | undefined} name The whole text by default.
 * @returns {string | undefined}
 */
export function region(text, name) {
  const lines = text.trimEnd().split('\n')
  if (name === undefined) return dedent(lines.filter((line) => !isRegionMark(line)))
  const start = lines.findIndex((line) => new RegExp(`#region\\s+${name}\\s*(-->|\\*/)?$`).test(line))
  if (start === -1) return undefined
  const end = lines.findIndex((line, index) => index > start && endsRegion(line, name))
  if (end === -1) return undefined
  return dedent(lines.slice(start + 1, end).filter((line) => !isRegionMark(line)))
}

/** @param {string} line */
function isRegionMark(line) {
  return /^\s*(\/\/|#|\/\*|<!--)\s*#(end)?region\b/.test(line)
}

/** @param {string} line @param {string} name */
function endsRegion(line, name) {
  return new RegExp(`#endregion(\\s+${name})?\\s*(-->|\\*/)?$`).test(line)
}

/** @param {readonly string[]} lines */
function dedent(lines) {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
  const indent = Math.min(...indents, Infinity)
  return lines
    .map((line) => line.slice(Number.isFinite(indent) ? indent : 0))
    .join('\n')
    .trim()
}
