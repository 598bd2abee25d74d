import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { folderProblems } from './folders.mjs'
import { levels } from './layers.mjs'
import { portabilityProblems } from './portable.mjs'
import { problem } from './report.mjs'
import { packageName, pick } from './resolve.mjs'
import { importsOf, parseSource } from './syntax.mjs'
import { isTest, listFiles, listPackages } from './workspace.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {{ root: string, packages: readonly Package[], files: readonly string[] }} Tree
 */

/**
 * Checks what packages import and install, and what their entries load.
 * @param {string} root
 * @returns {string[]}
 */
export function checkBorders(root) {
  const packages = listPackages(root)
  /** @type {Tree} */
  const tree = { root, packages, files: listFiles(root) }
  return packages.flatMap((one) => {
    if (levelOf(one.name) === -1) {
      return [
        problem(
          `${one.folder} has no level`,
          'add its name to the lowest possible level of tooling/checks/src/layers.mjs',
        ),
      ]
    }
    return [
      ...manifestProblems(tree, one),
      ...sourceProblems(tree, one),
      ...entryProblems(one),
      ...portabilityProblems(tree, one),
      ...folderProblems(root, one.folder, tree),
    ]
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
function manifestProblems({ root, files }, one) {
  const decisions = files
    .filter((file) => file.startsWith('docs/decisions/'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
  return Object.keys({ ...one.manifest.dependencies, ...one.manifest.peerDependencies }).flatMap((name) => {
    if (name.startsWith('@x/')) return siblingProblems(`${one.folder} installs`, name, one)
    if (decisions.some((text) => text.includes(`\`${name}\``))) return []
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
function relativeProblems(where, { specifier, file, one }) {
  if (!resolve('/', dirname(file), specifier).startsWith(`/${one.folder}/`)) {
    return [problem(where, 'a relative import stays in its package: import the other package by its name')]
  }
  if (!/(^|\/)index\.ts$/.test(specifier) || isTest(file)) return []
  return [problem(where, 'import the file by its own name, not through a barrel')]
}

/** @param {Package} one */
function entryProblems(one) {
  return Object.entries(one.manifest.exports ?? {}).flatMap(([entry, target]) => {
    const path = pick(target, [])
    if (path !== undefined && existsSync(join(one.directory, path))) return []
    const remedy = `write ${path ?? 'a default target'}, or remove the entry from package.json`
    return [problem(`${one.folder} exports ${entry}, but ${path ?? 'its target'} does not exist`, remedy)]
  })
}
