import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { problem } from './report.mjs'
import { listFiles, readText, shippedSource } from './workspace.mjs'

/**
 * @typedef {{ file: string, lines: readonly string[] }} Source
 * @typedef {{ file: string, label: string, unit: string, value: number, isFixed: boolean, bounds: string, beyond: string }} Limit
 */

const mark = /^\s*\/\/ limit: (.*)$/
const continuation = /^\s*\/\/ {3}(.*)$/
const declaration = /^\s*(?:(?:export )?const )?(\w+)(?:: \w+ =|:| =) (.*?),?$/
const ledgerFile = 'packages/core/src/ledger.ts'
const page = 'docs/limits.md'

/**
 * Compares the tables of `docs/limits.md` with the sources. A row comes from a comment above a default or a constant,
 * `// limit: unit | what it limits | what happens beyond it`, with a label in front if the name says too little. With
 * `writes`, the tables are updated.
 * @param {string} root
 * @param {boolean} writes
 */
export function limitTableProblems(root, writes) {
  const files = listFiles(root).filter((file) => shippedSource.test(file))
  const sources = files.map((file) => ({ file, lines: readText(root, file).split('\n') }))
  const limits = sources.flatMap((source) => limitsOf(source, sources))
  const unclear = limits.filter(({ unit, value, beyond }) => !(unit in units) || Number.isNaN(value) || !beyond)
  if (unclear.length > 0) return unclear.map(unclearLimit)
  const ledger = sources.filter(({ file }) => file === ledgerFile).map(ledgerTable)
  if (limits.length === 0 && ledger.length === 0) return []
  const tables = [['limits', tableOf(limits)], ...ledger.map((table) => ['ledger', table])]
  return tables.flatMap(([name = '', table = '']) => tableProblems(root, { name, table }, writes))
}

/**
 * Compares the table between two comments with its name. With `writes`, it is updated.
 * @param {string} root
 * @param {{ name: string, table: string }} drawn
 * @param {boolean} writes
 */
function tableProblems(root, { name, table }, writes) {
  const text = readText(root, page)
  const [before, rest] = text.split(`<!-- ${name} -->`)
  const [, after] = rest?.split(`<!-- /${name} -->`) ?? []
  if (after === undefined)
    return [problem(`${page} has no table`, `write <!-- ${name} --> and <!-- /${name} --> into it`)]
  const current = `${before}<!-- ${name} -->\n${table}\n<!-- /${name} -->${after}`
  if (current === text) return []
  if (!writes) return [problem(`the ${name} in ${page} differ from the source`, 'run pnpm docs:write')]
  writeFileSync(join(root, page), current)
  return []
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function drawTable(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** @param {Limit} limit */
function unclearLimit({ file, label }) {
  const remedy = `write "// limit: unit | what | beyond" above a number, with a unit of ${Object.keys(units).join(', ')}`
  return problem(`${file} has a limit without a unit, a value or a consequence: ${label}`, remedy)
}

/** @param {Source} source @param {readonly Source[]} sources @returns {Limit[]} */
function limitsOf(source, sources) {
  return source.lines.flatMap((line, index) => {
    const first = mark.exec(line)?.[1]
    if (first === undefined) return []
    const rest = source.lines.slice(index + 1)
    const length = rest.findIndex((next) => !continuation.test(next))
    const more = rest.slice(0, length).map((next) => next.replace(continuation, '$1'))
    return [limitOf([first, ...more].join(' '), rest.slice(length), [source, ...sources])]
  })
}

/**
 * @param {string} text
 * @param {readonly string[]} lines The declaration, and the lines below it.
 * @param {readonly [Source, ...Source[]]} sources That of the declaration is the first.
 * @returns {Limit}
 */
function limitOf(text, lines, sources) {
  const [, name = '', expression = ''] = declaration.exec(lines[0] ?? '') ?? []
  const [beyond = '', bounds = '', unit = '', label = nameIn(lines, name)] = text.split(' | ').toReversed()
  const value = evaluate(expression.replace(/^\{ default: (.*?)[,}].*$/, '$1'), sources)
  return { file: sources[0].file, label, unit, value, isFixed: !label.startsWith('`'), bounds, beyond }
}

/**
 * Returns the name of a declaration, as code if it is an option.
 * @param {readonly string[]} lines
 * @param {string} name
 */
function nameIn(lines, name) {
  const end = lines.find((line) => line.startsWith('}'))
  return end?.includes('satisfies OptionTable<') ? `\`${name}\`` : name
}

/**
 * Returns a product of numbers and constants, or NaN. A constant is looked for in the sources in their order.
 * @param {string} text
 * @param {readonly Source[]} sources
 * @returns {number}
 */
function evaluate(text, sources) {
  const [, rest, operator, last = ''] = /^(.*) ([*/]) (.*)$/.exec(text.trim()) ?? []
  if (rest !== undefined) {
    const [left, right] = [evaluate(rest, sources), evaluate(last, sources)]
    return operator === '*' ? left * right : left / right
  }
  const one = text.trim()
  if (one === 'Number.POSITIVE_INFINITY') return Number.POSITIVE_INFINITY
  if (/^[\d_.]+$/.test(one)) return Number(one.replaceAll('_', ''))
  if (!/^[\w.]+$/.test(one)) return Number.NaN
  const [object = '', ...names] = one.split('.')
  const found = sources.flatMap(({ lines }) => valueOf(lines.join('\n'), object, names)).at(0)
  return found === undefined ? Number.NaN : evaluate(found, sources)
}

/** @param {string} text @param {string} constant @param {readonly string[]} names */
function valueOf(text, constant, names) {
  let value = new RegExp(String.raw`^(?:export )?const ${constant}\b[^=]*= ([\s\S]*?)\n(?:\n|(?=\S))`, 'm').exec(
    text,
  )?.[1]
  for (const name of names) value = new RegExp(String.raw`\b${name}: (\{.*?\}|[^,\n}]+)`).exec(value ?? '')?.[1]
  return value === undefined ? [] : [value]
}

/** @param {Source} source */
function ledgerTable(source) {
  const [text = ''] = /export const ledgerBounds = \{[\s\S]*?\n\}/.exec(source.lines.join('\n')) ?? []
  const rows = text.matchAll(/\/\*\*([\s\S]*?)\*\/\s*(\w+): \{ perCaller: ([^,]+), total: ([^,}]+)/g)
  const cells = [...rows].map(([, comment = '', kind = '', ...bounds]) => {
    const unit = kind.endsWith('bytes') ? 'bytes' : 'count'
    const shownBounds = bounds.map((bound) => shown(evaluate(bound, [source]), unit))
    return [`\`${kind}\``, ...shownBounds, comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim()]
  })
  return drawTable(['kind', 'one caller', 'all callers', 'counted'], cells)
}

/** @param {readonly Limit[]} limits */
function tableOf(limits) {
  const rows = limits.map(({ file, label, unit, value, isFixed, bounds, beyond }) => {
    const owner = `\`${file.split('/')[1]}\``
    return [owner, label, `${shown(value, unit)}${isFixed ? ', fixed' : ''}`, bounds, beyond]
  })
  return drawTable(['package', 'option', 'default', 'limits', 'if exceeded'], rows)
}

/**
 * The names of each unit with their sizes, the largest first. The first that divides a value without a rest is shown.
 * @type {Readonly<Record<string, readonly (readonly [name: string, size: number])[]>>}
 */
const units = {
  count: [['', 1]],
  share: [[' %', 0.01]],
  characters: [[' characters', 1]],
  bytes: [
    [' MiB', 1_048_576],
    [' KiB', 1024],
    [' bytes', 1],
  ],
  ms: [
    [' days', 86_400_000],
    [' h', 3_600_000],
    [' min', 60_000],
    [' s', 1000],
    [' ms', 1],
  ],
}

/** @param {number} value @param {string} unit */
function shown(value, unit) {
  if (!Number.isFinite(value) || value === 0) return 'none'
  // Three digits are enough to compare a number of characters with memory.
  if (unit === 'characters' && value >= 1_000_000)
    return `${Number((value / 1_000_000).toPrecision(3))} million characters`
  const scales = units[unit]?.filter(([name]) => name !== ' days' || value > 86_400_000)
  const [name, size] = scales?.find(([, one]) => Number.isInteger(value / one)) ?? ['', 1]
  return `${String(value / size).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')}${name}`
}
