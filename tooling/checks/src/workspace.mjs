import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the repository. */
export const workspaceRoot = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '')

const skippedFolders = new Set(['node_modules', 'dist', 'coverage', '.git', '.turbo', '.results'])

/** The sources of the packages, with what supports their tests. */
export const packageSource = /^packages\/[^/]+\/src\/.*(?<!\.test|\.d)\.ts$/

/** The sources of the packages that users run. */
export const shippedSource =
  /^packages\/[^/]+\/src\/(?!(?:.*\/)?(?:testing|contract|dist)\/).*(?<!\.test|\.generated|\.d)\.ts$/

/**
 * @typedef {string | null | { readonly [condition: string]: Target }} Target The value of an entry of `exports`.
 * @typedef {{ readonly [subpath: string]: Target }} Targets
 * @typedef {{ name: string, version?: string, private?: boolean, type?: string, description?: string, license?: string,
 *   sideEffects?: boolean, files?: string[], engines?: { node?: string }, exports?: Targets, imports?: Targets,
 *   publishConfig?: { access?: string, exports?: Targets }, scripts?: Record<string, string>, dependencies?:
 *   Record<string, string>, devDependencies?: Record<string, string>, peerDependencies?: Record<string, string>,
 *   optionalDependencies?: Record<string, string>, keywords?: string[], homepage?: string, bugs?: string, repository?:
 *   { directory?: string }, }} Manifest
 * @typedef {{ name: string, folder: string, directory: string, manifest: Manifest }} Package `folder` is relative to
 *   the root with forward slashes, `directory` is absolute.
 */

/**
 * Lists the packages of the given groups, in the order of their folders.
 * @param {string} root
 * @param {readonly string[]} groups
 * @returns {Package[]}
 */
export function listPackages(root, groups = ['packages']) {
  return groups.flatMap((group) => foldersOf(join(root, group)).map((name) => readPackage(root, `${group}/${name}`)))
}

/** @param {string} directory */
function foldersOf(directory) {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => existsSync(join(directory, name, 'package.json')))
    .toSorted()
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {Package}
 */
function readPackage(root, folder) {
  const directory = join(root, folder)
  /** @type {Manifest} */
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return { name: manifest.name, folder, directory, manifest }
}

/**
 * Lists the files of the repository, relative to its root with forward slashes. Without git it lists all files of the
 * tree.
 * @param {string} root
 * @returns {string[]}
 */
export function listFiles(root) {
  if (!existsSync(join(root, '.git'))) return walk(root, '').toSorted()
  const output = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  const files = output.split('\0').filter((file) => file !== '' && existsSync(join(root, file)))
  return [...new Set(files)].toSorted()
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
function walk(root, folder) {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = folder === '' ? name : `${folder}/${name}`
    if (!statSync(join(root, path)).isDirectory()) return [path]
    return skippedFolders.has(name) ? [] : walk(root, path)
  })
}

/**
 * Returns a path for messages: relative to the root, with forward slashes.
 * @param {string} root
 * @param {string} path
 */
export function shown(root, path) {
  return path.startsWith(root + sep) ? path.slice(root.length + 1).replaceAll(sep, '/') : path
}

/**
 * Returns true if a file of a package is not published.
 * @param {string} file
 */
export function isTest(file) {
  return /\.test\.(ts|mjs)$/.test(file) || file.includes('/src/testing/') || file.includes('/test/')
}
