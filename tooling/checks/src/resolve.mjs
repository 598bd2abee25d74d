import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {import('./workspace.mjs').Target} Target
 * @typedef {{ file?: string, outside?: string }} Resolved A file of the workspace, or an outside package or `node:`
 *   module. Neither for a target that does not exist.
 */

/**
 * Resolves a specifier without the conditions of Node: `imports` and `exports` use `default`.
 * @param {string} specifier
 * @param {string} from The importing file, absolute.
 * @param {readonly Package[]} packages
 * @returns {Resolved}
 */
export function resolveImport(specifier, from, packages) {
  if (isBuiltin(specifier)) return { outside: specifier.startsWith('node:') ? specifier : `node:${specifier}` }
  if (specifier.startsWith('.')) return fileAt(resolve(dirname(from), specifier))
  if (specifier.startsWith('#')) {
    const owner = packages.find(({ directory }) => from.startsWith(`${directory}/`))
    return targetOf(owner, owner?.manifest.imports?.[specifier], packages)
  }
  const name = packageName(specifier)
  const sibling = packages.find((candidate) => candidate.name === name)
  if (sibling === undefined) return { outside: name }
  return targetOf(sibling, sibling.manifest.exports?.[`.${specifier.slice(name.length)}`], packages)
}

/**
 * Returns the package that a bare specifier names.
 * @param {string} specifier
 */
export function packageName(specifier) {
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/**
 * Resolves a target under a set of conditions.
 * @param {Target | undefined} target
 * @param {readonly string[]} conditions
 * @returns {string | undefined}
 */
export function pick(target, conditions) {
  if (typeof target === 'string') return target
  if (target === undefined || target === null) return undefined
  for (const [condition, inner] of Object.entries(target)) {
    const found = condition === 'default' || conditions.includes(condition) ? pick(inner, conditions) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * @param {Package | undefined} owner
 * @param {Target | undefined} target
 * @param {readonly Package[]} packages
 * @returns {Resolved}
 */
function targetOf(owner, target, packages) {
  const path = pick(target, [])
  if (owner === undefined || path === undefined) return {}
  return path.startsWith('.')
    ? fileAt(join(owner.directory, path))
    : resolveImport(path, `${owner.directory}/package.json`, packages)
}

/** @param {string} file @returns {Resolved} */
function fileAt(file) {
  return existsSync(file) ? { file } : {}
}
