import { dirname, join, resolve } from 'node:path'
import { folderLayers, levels } from './layers.mjs'
import { portabilityProblems } from './portable.mjs'
import { problem } from './report.mjs'
import { packageName } from './resolve.mjs'
import { importsOf, parseSource } from './syntax.mjs'
import { isTest, listFiles, listPackages, readText } from './workspace.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {{ root: string, packages: readonly Package[], files: readonly string[], decisions: string }} Tree
 */

/**
 * Checks what packages import and install, and what their entries load.
 * @param {string} root
 * @returns {string[]}
 */
export function checkBorders(root) {
  const packages = listPackages(root)
  const files = listFiles(root)
  const pages = files.filter((file) => file.startsWith('docs/decisions/'))
  /** @type {Tree} */
  const tree = { root, packages, files, decisions: pages.map((file) => readText(root, file)).join('\n') }
  return packages.flatMap((one) => {
    const remedy = 'add its name to the lowest possible level of tooling/checks/src/layers.mjs'
    if (levelOf(one.name) === -1) return [problem(`${one.folder} has no level`, remedy)]
    return [...manifestProblems(tree, one), ...sourceProblems(tree, one), ...portabilityProblems(tree, one)]
  })
}

/** @param {string} name Such as `@x/core`. */
function levelOf(name) {
  return levels.findIndex((level) => level.split(' ').includes(name.replace(/^@x\//, '')))
}

/**
 * A package installs only what it may import, and each runtime dependency has its reason in a decision.
 * @param {Tree} tree
 * @param {Package} one
 */
function manifestProblems({ decisions }, one) {
  return Object.keys({ ...one.manifest.dependencies, ...one.manifest.peerDependencies }).flatMap((name) => {
    if (name.startsWith('@x/')) return siblingProblems(`${one.folder} installs`, name, one)
    if (decisions.includes(`\`${name}\``)) return []
    const remedy = `add a row with its reason to docs/decisions/0060-runtime-dependencies.md: \`${name}\``
    return [problem(`${one.folder} installs ${name}, which no decision names`, remedy)]
  })
}

/** @param {string} where @param {string} name @param {Package} one */
function siblingProblems(where, name, one) {
  const level = levelOf(name)
  if (name === one.name || (level !== -1 && level < levelOf(one.name))) return []
  const remedy =
    'a package imports those of lower levels in tooling/checks/src/layers.mjs: an application combines others'
  return [problem(`${where} ${name}`, remedy)]
}

/** @param {Tree} tree @param {Package} one */
function sourceProblems({ root, files }, one) {
  const sources = files.filter((file) => file.startsWith(`${one.folder}/src/`) && file.endsWith('.ts'))
  return sources.flatMap((file) =>
    importsOf(parseSource(join(root, file))).flatMap(({ specifier, line, star }) => {
      const where = `${file}:${line} imports`
      if (star) return [problem(`${file}:${line} has \`export *\``, 'list each export by its name')]
      if (specifier.startsWith('.')) return relativeProblems(`${where} ${specifier}`, { specifier, file, one })
      const name = packageName(specifier)
      if (isTest(file) || !/^@(?:x|tooling|apps)\//.test(name)) return []
      return siblingProblems(where, name, one)
    }),
  )
}

/** @param {string} where @param {{ specifier: string, file: string, one: Package }} found */
function relativeProblems(where, { specifier, file, one: { folder } }) {
  const target = resolve('/', dirname(file), specifier).slice(1)
  if (!target.startsWith(`${folder}/`)) {
    return [problem(where, 'a relative import stays in its package: import the other package by its name')]
  }
  if (isTest(file)) return []
  if (target.endsWith('/index.ts')) return [problem(where, 'import the file by its own name, not through a barrel')]
  if (pointsDown(folder, file, target)) return []
  const remedy = 'an import points down: move the code, or the folder in folderLayers of tooling/checks/src/layers.mjs'
  return [problem(where, remedy)]
}

/** @param {string} folder Such as `packages/server`. @param {string} from @param {string} to */
function pointsDown(folder, from, to) {
  const order = folderLayers[folder.slice('packages/'.length)]?.split(' ')
  if (order === undefined) return true
  const [upper = -1, lower = -1] = [from, to].map((file) => layerOf(order, file.slice(`${folder}/src/`.length)))
  return upper !== -1 && lower !== -1 && upper <= lower
}

/**
 * Returns the index of a file's layer: the file's own, that of its nearest parent folder with one, or -1.
 * @param {readonly string[]} order
 * @param {string} path
 */
function layerOf(order, path) {
  if (!path.includes('/') && !order.includes(path)) return order.indexOf('.')
  const rows = order.filter((row) => path === row || path.startsWith(`${row}/`))
  return order.indexOf(rows.toSorted((one, other) => other.length - one.length)[0] ?? path)
}
