import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { importsOf, nodeGlobalsOf, parseSource } from './imports.mjs'
import { problem } from './report.mjs'
import { pick, resolveImport } from './resolve.mjs'
import { shown } from './workspace.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {import('./layers.mjs').Layer} Layer
 * @typedef {{ files: ReadonlyMap<string, readonly string[]>, outside: ReadonlyMap<string, readonly string[]> }} Reach
 *   The files and outside modules that an entry point imports at run time, each with the path of files to it.
 */

/** Packages that do not run outside Node. */
const nodeOnly = ['undici']

/**
 * Checks the entry points that must run without Node or without certain modules.
 * @param {{ root: string, packages: readonly Package[] }} tree
 * @param {Package} one
 * @param {Layer} layer
 */
export function portabilityProblems({ root, packages }, one, layer) {
  return Object.entries(one.manifest.exports ?? {}).flatMap(([entry, target]) => {
    const reach = follow(join(one.directory, pick(target, []) ?? ''), packages)
    const portable = layer.portable.includes(entry)
    const unwanted = layer.without?.[entry] ?? []
    const label = entry === '.' ? 'the main entry' : `the entry ${entry}`
    return [
      ...[...reach.outside].flatMap(([name, path]) => {
        const reason = forbiddenReason(name, { portable, unwanted })
        if (reason === undefined) return []
        const shownPath = path.map((file) => shown(root, file)).join(' > ')
        return [problem(`${one.folder} imports ${name} from ${shownPath}`, `${label} must ${reason}`)]
      }),
      ...(portable ? globalProblems(root, reach, label) : []),
    ]
  })
}

/**
 * @param {string} name
 * @param {{ portable: boolean, unwanted: readonly string[] }} rule
 */
function forbiddenReason(name, { portable, unwanted }) {
  if (unwanted.includes(name)) return `not load ${name}: move the import to another entry`
  const needsNode = name.startsWith('node:') || nodeOnly.includes(name)
  return portable && needsNode ? 'run without Node: move the import to ./node, or use an export condition' : undefined
}

/**
 * @param {string} root
 * @param {Reach} reach
 * @param {string} label
 */
function globalProblems(root, reach, label) {
  return [...reach.files.keys()].flatMap((file) =>
    nodeGlobalsOf(parseSource(file)).map(({ name, line }) =>
      problem(
        `${shown(root, file)}:${line} uses ${name}`,
        `${label} must run without Node: use a web standard instead`,
      ),
    ),
  )
}

/**
 * @param {string} entry
 * @param {readonly Package[]} packages
 * @returns {Reach}
 */
function follow(entry, packages) {
  /** @type {Map<string, readonly string[]>} */
  const files = new Map()
  // The check of entry points reports a missing entry.
  if (entry.endsWith('.ts') && existsSync(entry)) files.set(entry, [entry])
  /** @type {Map<string, readonly string[]>} */
  const outside = new Map()
  for (const [file, path] of files) {
    for (const { specifier } of runtimeImports(file)) {
      const target = resolveImport(specifier, file, packages)
      if ('outside' in target && !outside.has(target.outside)) outside.set(target.outside, path)
      if ('file' in target && !files.has(target.file)) files.set(target.file, [...path, target.file])
    }
  }
  return { files, outside }
}

/** @param {string} file */
function runtimeImports(file) {
  return importsOf(parseSource(file)).filter(({ typeOnly }) => !typeOnly)
}
