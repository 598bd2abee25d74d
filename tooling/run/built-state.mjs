import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './pnpm.mjs'

const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'turbo.json']
const folders = ['packages', 'apps', 'tooling']
const ignored = new Set(['node_modules', '.turbo', '.results', 'coverage', 'test', 'screenshots', 'examples'])

/**
 * Returns true if no source, manifest or built file has changed since {@link rememberBuild} for the same application.
 */
export function isBuilt(app) {
  const path = recordOf(app)
  return existsSync(path) && readFileSync(path, 'utf8') === digest()
}

/** Records that all dependencies are installed and an application is built. */
export function rememberBuild(app) {
  const path = recordOf(app)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, digest())
}

/** Returns the path of the record. It is inside node_modules, so that it is deleted together with the dependencies. */
function recordOf(app) {
  return join(root, 'node_modules', '.cache', 'start', app)
}

/**
 * Returns a hash of the sizes and times of all sources, manifests and built files. Reading them takes a tenth of a
 * second.
 */
function digest() {
  const hash = createHash('sha256')
  for (const name of files) describe(join(root, name), hash)
  for (const name of folders) visit(join(root, name), hash)
  return hash.digest('hex')
}

function visit(folder, hash) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && !ignored.has(entry.name)) visit(path, hash)
    else if (entry.isFile() && !/\.(?:test\.tsx?|md)$/.test(entry.name)) describe(path, hash)
  }
}

function describe(path, hash) {
  const { size, mtimeMs } = statSync(path)
  hash.update(`${path} ${size} ${mtimeMs}\n`)
}
