import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the repository. */
export const workspaceRoot = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '')

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

/** Lists the packages in the order of their folders. @param {string} root @returns {Package[]} */
export function listPackages(root) {
  const files = listFiles(root).filter((file) => /^packages\/[^/]+\/package\.json$/.test(file))
  return files.map((file) => {
    const folder = dirname(file)
    const manifest = JSON.parse(readText(root, file))
    return { name: manifest.name, folder, directory: join(root, folder), manifest }
  })
}

/** @type {Map<string, readonly string[]>} */
const filesByRoot = new Map()

/**
 * Lists the files of the repository, relative to its root with forward slashes. Without git it lists all files of the
 * tree.
 * @param {string} root
 * @returns {readonly string[]}
 */
export function listFiles(root) {
  const known = filesByRoot.get(root)
  if (known !== undefined) return known
  const command = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = existsSync(join(root, '.git'))
    ? execFileSync('git', command, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0')
    : readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll(sep, '/'))
  const isFile = (/** @type {string} */ file) =>
    statSync(join(root, file), { throwIfNoEntry: false })?.isFile() ?? false
  const found = [...new Set(files)].filter((file) => file !== '' && isFile(file)).toSorted()
  filesByRoot.set(root, found)
  return found
}

/** Returns the text of a file, which is empty if there is none. @param {string} root @param {string} file */
export function readText(root, file) {
  return existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
}

/** Returns a path for messages: relative to the root, with forward slashes. @param {string} root @param {string} path */
export function shown(root, path) {
  return path.startsWith(root + sep) ? path.slice(root.length + 1).replaceAll(sep, '/') : path
}

/** Returns true if a file of a package is not published. @param {string} file */
export function isTest(file) {
  return /\.test\.(ts|mjs)$/.test(file) || file.includes('/src/testing/') || file.includes('/test/')
}
