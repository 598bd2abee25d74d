import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { importsOf, nodeGlobalsOf, parseSource } from './syntax.mjs'
import { heavyModules, nodeEntries, unloadedPackages } from './layers.mjs'
import { problem } from './report.mjs'
import { pick, resolveImport } from './resolve.mjs'
import { shown } from './workspace.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {{ files: ReadonlyMap<string, readonly string[]>, outside: ReadonlyMap<string, readonly string[]> }} Reach
 *   The files and outside modules that an entry point imports at run time, each with the path of files to it.
 */

/** Modules that do not run outside of Node. */
const nodeModules = /^(?:node:|undici$)/

/**
 * Checks that the entries of a package run without Node, except for those that require it, and that they load no heavy
 * module and no package that they must leave to others.
 * @param {{ root: string, packages: readonly Package[] }} tree
 * @param {Package} one
 */
export function portabilityProblems({ root, packages }, one) {
  return Object.entries(one.manifest.exports ?? {}).flatMap(([entry, target]) => {
    const name = `${one.name}${entry.slice(1)}`
    const reach = follow(join(one.directory, pick(target, []) ?? ''), packages)
    const portable = !entry.endsWith('/node') && !nodeEntries.has(name) && !nodeEntries.has(one.name)
    const loaded = [...reach.outside].flatMap(([module, path]) => {
      const remedy = remedyOf(name, module, portable)
      if (remedy === undefined) return []
      return [problem(`${name} loads ${module}: ${path.map((file) => shown(root, file)).join(' > ')}`, remedy)]
    })
    const siblings = [...reach.files].flatMap(([file, path]) => {
      const sibling = packages.find(({ directory }) => file.startsWith(`${directory}/`))?.name ?? ''
      if (!listed(unloadedPackages[sibling], name)) return []
      const remedy = 'move the import to another entry: users of this one do not install it'
      return [problem(`${name} loads ${sibling}: ${path.map((each) => shown(root, each)).join(' > ')}`, remedy)]
    })
    const globals = portable && loaded.length === 0 ? globalProblems(root, reach, name) : []
    // One path is enough to find the import. The others often have the same cause.
    return [loaded, siblings, globals].flatMap(([first]) => first ?? [])
  })
}

/** @param {string | undefined} names @param {string} name */
function listed(names, name) {
  return names?.split(' ').includes(name) ?? false
}

/** @param {string} entry @param {string} module @param {boolean} portable */
function remedyOf(entry, module, portable) {
  const list = 'tooling/checks/src/layers.mjs'
  if (portable && nodeModules.test(module))
    return `the entry runs without Node: move the import to ./node, or list the entry in nodeEntries of ${list}`
  const isProgram = nodeEntries.has(entry.split('/').slice(0, 2).join('/'))
  if (isProgram || !Object.hasOwn(heavyModules, module) || listed(heavyModules[module], entry)) return undefined
  return `it is slow to load: move the import to another entry, or list this one in heavyModules of ${list}`
}

/** @param {string} root @param {Reach} reach @param {string} entry */
function globalProblems(root, reach, entry) {
  return [...reach.files.keys()].flatMap((file) =>
    nodeGlobalsOf(parseSource(file)).map(({ name, line }) =>
      problem(`${shown(root, file)}:${line} uses ${name}`, `${entry} runs without Node: use a web standard instead`),
    ),
  )
}

/** @param {string} entry @param {readonly Package[]} packages @returns {Reach} */
function follow(entry, packages) {
  /** @type {Map<string, readonly string[]>} */
  const files = new Map()
  // The build reports a missing entry.
  if (entry.endsWith('.ts') && existsSync(entry)) files.set(entry, [entry])
  /** @type {Map<string, readonly string[]>} */
  const outside = new Map()
  for (const [file, path] of files) {
    for (const { specifier, typeOnly } of importsOf(parseSource(file))) {
      if (typeOnly) continue
      const target = resolveImport(specifier, file, packages)
      if (target.outside !== undefined && !outside.has(target.outside)) outside.set(target.outside, path)
      if (target.file !== undefined && !files.has(target.file)) files.set(target.file, [...path, target.file])
    }
  }
  return { files, outside }
}
