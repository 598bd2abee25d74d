import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultsIn } from './defaults.mjs'
import { parseSource } from './imports.mjs'
import { limitRows } from './limit-rows.mjs'
import { problem, runCheck } from './report.mjs'
import { listFiles } from './workspace.mjs'

/**
 * @typedef {import('./limit-rows.mjs').Limit} Limit
 * @typedef {{ file: string, source: import('typescript').SourceFile }} SourceText
 */

const page = 'docs/security.md'
const [opening, closing] = ['<!-- limits -->', '<!-- /limits -->']
const read = /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/

/**
 * Compares the table of limits with the defaults in the source. With `--write`, the table is
 * written anew.
 * @param {string} root
 * @param {readonly string[]} flags
 * @param {readonly Limit[]} rows
 */
export function checkLimits(root, flags = [], rows = limitRows) {
  const sources = listFiles(root)
    .filter((file) => read.test(file))
    .map((file) => ({ file, source: parseSource(join(root, file)) }))
  const found = rows.map((row) => ({ row, values: valuesOf(row, sources) }))
  const unclear = found
    .filter(({ values }) => values.length !== 1)
    .map(({ row, values }) => unclearDefault(row, values))
  if (unclear.length > 0) return unclear
  const table = tableOf(found.map(({ row, values: [value = Number.NaN] }) => ({ row, value })))
  return pageProblems(root, table, flags.includes('--write'))
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
    'correct its row in tooling/checks/src/limit-rows.mjs: name the default, and the file that has it',
  )
}

/**
 * @param {string} root
 * @param {string} table
 * @param {boolean} writes
 */
function pageProblems(root, table, writes) {
  const path = join(root, page)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const [start, end] = [text.indexOf(opening), text.indexOf(closing)]
  if (start === -1 || end < start)
    return [problem(`${page} has no table of limits`, `write ${opening} and ${closing} into it`)]
  const current = `${text.slice(0, start)}${opening}\n${table}\n${text.slice(end)}`
  if (current === text) return []
  if (!writes) return [problem(`the limits in ${page} differ from the defaults in the source`, 'run pnpm docs:write')]
  writeFileSync(path, current)
  return []
}

/** @param {readonly { row: Limit, value: number }[]} limits */
function tableOf(limits) {
  const lines = limits.map(
    ({ row: { package: name, option, unit, bounds, beyond, isFixed }, value }) =>
      `| \`${name}\` | ${isFixed ? option : code(option)} | ${shown(value, unit)}${isFixed ? ', fixed' : ''} | ${bounds} | ${beyond} |`,
  )
  return ['| package | option | default | bounds | beyond it |', '| --- | --- | --- | --- | --- |', ...lines].join('\n')
}

/**
 * The option as code; words before a colon say where it is one.
 * @param {string} option
 */
function code(option) {
  const [name = '', where] = option.split(': ').toReversed()
  return where === undefined ? `\`${name}\`` : `\`${name}\` of ${ownerNames.get(where) ?? `\`${where}\``}`
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
  characters: (value) => `${grouped(value)} characters`,
  bytes: (value) =>
    scaled(value, [
      ['MiB', 1_048_576],
      ['KiB', 1024],
    ]) ?? `${grouped(value)} bytes`,
  ms: (value) =>
    scaled(value, [
      ['h', 3_600_000],
      ['min', 60_000],
      ['s', 1000],
    ]) ?? `${grouped(value)} ms`,
}

/**
 * @param {number} value
 * @param {Limit['unit']} unit
 */
function shown(value, unit) {
  return Number.isFinite(value) ? units[unit](value) : 'none'
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
