import { join } from 'node:path'
import { defaultsIn } from './defaults.mjs'
import { parseSource } from './imports.mjs'
import { readLedgerRows } from './ledger-rows.mjs'
import { limitList, readLimitRows } from './limit-rows.mjs'
import { drawTable, tableProblems } from './page-tables.mjs'
import { problem, runCheck } from './report.mjs'
import { listFiles } from './workspace.mjs'

/**
 * @typedef {import('./limit-rows.mjs').Limit} Limit
 * @typedef {{ file: string, source: import('typescript').SourceFile }} SourceText
 */

const read = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/

/**
 * Compares the table of limits with the defaults in the source, and the table of the ledger with its bounds. With
 * `--write`, the tables are updated.
 * @param {string} root
 * @param {readonly string[]} flags
 * @param {readonly Limit[]} rows
 */
export function checkLimits(root, flags = [], rows = readLimitRows(root)) {
  const sources = listFiles(root)
    .filter((file) => read.test(file))
    .map((file) => ({ file, source: parseSource(join(root, file)) }))
  const found = rows.map((row) => ({ row, values: valuesOf(row, sources) }))
  const unclear = found
    .filter(({ values }) => values.length !== 1)
    .map(({ row, values }) => unclearDefault(row, values))
  if (unclear.length > 0) return unclear
  const table = tableOf(found.map(({ row, values: [value = Number.NaN] }) => ({ row, value })))
  const writes = flags.includes('--write')
  return [
    ...tableProblems(root, { name: 'limits', table }, writes),
    ...ledgerTables(root).flatMap((ledger) => tableProblems(root, { name: 'ledger', table: ledger }, writes)),
  ]
}

/**
 * @param {Limit} row
 * @param {readonly SourceText[]} sources
 */
function valuesOf({ package: name, option, name: given, file = '' }, sources) {
  const chosen = sources.filter((one) =>
    file.includes('/src/')
      ? one.file.includes(`packages/${file}`)
      : one.file.startsWith(`packages/${name}/src/`) && one.file.includes(file),
  )
  const searched = given ?? option.split(/[.:] ?/).at(-1) ?? option
  return [...new Set(chosen.flatMap(({ source }) => defaultsIn(source, searched)))]
}

/**
 * @param {Limit} row
 * @param {readonly number[]} values
 */
function unclearDefault({ package: name, option }, values) {
  const what = values.length === 0 ? 'no default' : `the defaults ${values.join(' and ')}`
  return problem(
    `packages/${name} has ${what} of ${option}`,
    `correct its row in ${limitList}: name the default and its file`,
  )
}

/**
 * Returns the table of the ledger, or an empty list without a ledger.
 * @param {string} root
 */
function ledgerTables(root) {
  const rows = readLedgerRows(root)
  if (rows.length === 0) return []
  const cells = rows.map(({ kind, perCaller, total, text }) => {
    const unit = kind.endsWith('bytes') ? 'bytes' : 'count'
    return [`\`${kind}\``, shown(perCaller, unit), shown(total, unit), text]
  })
  return [drawTable(['kind', 'one caller', 'all callers', 'counted'], cells)]
}

/** @param {readonly { row: Limit, value: number }[]} limits */
function tableOf(limits) {
  const rows = limits.map(({ row: { package: name, option, unit, bounds, beyond, isFixed }, value }) => {
    const optionText = isFixed ? option : code(option)
    return [`\`${name}\``, optionText, `${shown(value, unit)}${isFixed ? ', fixed' : ''}`, bounds, beyond]
  })
  return drawTable(['package', 'option', 'default', 'limits', 'if exceeded'], rows)
}

/**
 * Returns the option as code. Words before a colon name its owner.
 * @param {string} option
 */
function code(option) {
  const [name = '', owner] = option.split(': ').toReversed()
  return owner === undefined ? `\`${name}\`` : `\`${name}\` of ${ownerNames.get(owner) ?? `\`${owner}\``}`
}

const ownerNames = new Map([
  ['client', 'the client'],
  ['sealed and signed', '`sealedState`, `signedState`'],
  ['Redis, PostgreSQL', '`redisStore`, `postgresStore`'],
])

/** @type {Readonly<Record<Limit['unit'], (value: number) => string>>} */
const units = {
  count: grouped,
  share: (value) => `${value * 100} %`,
  characters: (value) => `${value < million ? grouped(value) : roundedMillions(value)} characters`,
  bytes: (value) =>
    scaled(value, [
      ['MiB', 1_048_576],
      ['KiB', 1024],
    ]) ?? `${grouped(value)} bytes`,
  ms: (value) =>
    scaled(value >= 2 * day ? value : 0, [['days', day]]) ??
    scaled(value, [
      ['h', 3_600_000],
      ['min', 60_000],
      ['s', 1000],
    ]) ??
    `${grouped(value)} ms`,
}

/**
 * @param {number} value
 * @param {Limit['unit']} unit
 */
function shown(value, unit) {
  return Number.isFinite(value) ? units[unit](value) : 'none'
}

const million = 1_000_000
const day = 86_400_000

/**
 * Rounds to three digits, which are enough to compare a number of characters with memory.
 * @param {number} value
 */
function roundedMillions(value) {
  return `${Number((value / million).toPrecision(3))} million`
}

/** @param {number} value */
function grouped(value) {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/**
 * @param {number} value
 * @param {readonly (readonly [string, number])[]} scales
 */
function scaled(value, scales) {
  const [name, size] = scales.find(([, one]) => value >= one && value % one === 0) ?? []
  return size === undefined ? undefined : `${grouped(value / size)} ${name}`
}

await runCheck(import.meta.url, checkLimits)
