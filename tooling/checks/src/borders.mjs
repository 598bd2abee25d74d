import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { importsOf, parseSource } from './imports.mjs'
import { folderProblems } from './folders.mjs'
import { layers } from './layers.mjs'
import { portabilityProblems } from './portable.mjs'
import { problem, runCheck } from './report.mjs'
import { packageName, pick } from './resolve.mjs'
import { isTest, listFiles, listPackages, shown } from './workspace.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {import('./layers.mjs').Layer} Layer
 * @typedef {{ root: string, packages: readonly Package[], files: readonly string[] }} Tree
 */

/**
 * Checks that packages have only allowed imports, dependencies and entry points.
 * @param {string} root
 * @param {readonly string[]} _flags
 * @param {ReadonlyMap<string, Layer>} rows
 * @returns {string[]}
 */
export function checkBorders(root, _flags = [], rows = layers) {
  const packages = listPackages(root)
  /** @type {Tree} */
  const tree = { root, packages, files: listFiles(root) }
  return packages.flatMap((one) => {
    const layer = rows.get(one.name)
    if (layer === undefined) {
      return [
        problem(`${one.folder} has no row in tooling/checks/src/layers.mjs`, 'add a row with its allowed imports'),
      ]
    }
    return [
      ...manifestProblems(tree, one, layer),
      ...sourceProblems(tree, one, layer),
      ...entryProblems(root, one),
      ...portabilityProblems(tree, one, layer),
      ...folderProblems(root, one.folder, tree),
    ]
  })
}

/**
 * @param {Tree} tree
 * @param {Package} one
 * @param {Layer} layer
 */
function manifestProblems({ root, packages, files }, one, layer) {
  const installed = Object.keys({ ...one.manifest.dependencies, ...one.manifest.peerDependencies })
  const siblings = new Set(packages.map(({ name }) => name))
  const decisions = files
    .filter((file) => file.startsWith('docs/decisions/') && !file.endsWith('README.md'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
  return installed.flatMap((name) => {
    if (siblings.has(name)) return layer.imports.includes(name) ? [] : [siblingProblem(`${one.folder} installs`, name)]
    if (!layer.dependencies.includes(name)) {
      const remedy =
        'write a page in docs/decisions and list it in tooling/checks/src/layers.mjs, or remove the dependency'
      return [problem(`${one.folder} installs ${name}, which its row does not list`, remedy)]
    }
    if (decisions.some((text) => text.includes(`\`${name}\``) || text.includes(`# ${name} `))) return []
    return [problem(`${one.folder} installs ${name} without a decision`, `add a page to docs/decisions: \`${name}\``)]
  })
}

/**
 * @param {string} where
 * @param {string} name
 */
function siblingProblem(where, name) {
  return problem(
    `${where} ${name}`,
    'transports, server and client never import one another: an application combines them',
  )
}

/**
 * @param {Tree} tree
 * @param {Package} one
 * @param {Layer} layer
 */
function sourceProblems({ root, files }, one, layer) {
  const sources = files.filter((file) => file.startsWith(`${one.folder}/src/`) && file.endsWith('.ts'))
  return sources.flatMap((file) =>
    importsOf(parseSource(join(root, file))).flatMap((found) => {
      const where = `${file}:${found.line} imports`
      if (found.star) return [problem(`${file}:${found.line} has \`export *\``, 'list each export by its name')]
      if (found.specifier.startsWith('.')) return relativeProblems(found.specifier, join(root, file), one)
      if (isTest(file) || found.specifier.startsWith('#')) return []
      return outsideProblems(where, packageName(found.specifier), { one, layer })
    }),
  )
}

/**
 * @param {string} specifier
 * @param {string} file
 * @param {Package} one
 */
function relativeProblems(specifier, file, one) {
  const where = `${one.folder}${file.slice(one.directory.length)} imports ${specifier}`
  const target = resolve(dirname(file), specifier)
  if (!target.startsWith(`${one.directory}/`)) {
    return [problem(where, 'a relative import stays in its package: import the other package by its name')]
  }
  if (!/(^|\/)index\.ts$/.test(specifier) || isTest(file)) return []
  return [problem(where, 'import the file by its own name, not through a barrel')]
}

/**
 * @param {string} where
 * @param {string} name
 * @param {{ one: Package, layer: Layer }} owner
 */
function outsideProblems(where, name, { one, layer }) {
  if (name.startsWith('node:')) return []
  if (name.startsWith('@tooling/') || name.startsWith('@apps/')) {
    return [
      problem(
        `${where} ${name}`,
        'a published package must not import tooling or apps: move the code into the package',
      ),
    ]
  }
  if (name.startsWith('@x/')) {
    return layer.imports.includes(name) || name === one.name ? [] : [siblingProblem(where, name)]
  }
  const { dependencies, peerDependencies } = one.manifest
  if (name in { ...dependencies, ...peerDependencies }) return []
  return [problem(`${where} ${name}`, `${one.folder}/package.json does not list it in dependencies`)]
}

/**
 * Checks that every entry point exists, and that the main one contains only named exports.
 * @param {string} root
 * @param {Package} one
 */
function entryProblems(root, one) {
  return Object.entries(one.manifest.exports ?? {}).flatMap(([entry, target]) => {
    const path = pick(target, [])
    const file = join(one.directory, path ?? '')
    if (path === undefined || !existsSync(file)) {
      const remedy = `write ${path ?? 'a default target'}, or remove the entry from package.json`
      return [problem(`${one.folder} exports ${entry}, but ${path ?? 'its target'} does not exist`, remedy)]
    }
    // A subpath with one function may contain it. The main entry only lists exports.
    if (entry !== '.') return []
    return parseSource(file)
      .statements.filter((statement) => !ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined)
      .slice(0, 1)
      .map((statement) => {
        const { line } = statement.getSourceFile().getLineAndCharacterOfPosition(statement.getStart())
        const remedy = 'the main entry contains only named re-exports: move the code to another file'
        return problem(`${shown(root, file)}:${line + 1} is not an export from another file`, remedy)
      })
  })
}

await runCheck(import.meta.url, checkBorders)
