import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './pnpm.mjs'

const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'turbo.json']
const folders = ['packages', 'apps', 'tooling']
const ignored = new Set(['node_modules', '.turbo', '.results', 'coverage', 'test', 'screenshots', 'examples'])

/**
 * Returns true when nothing that is installed or built has changed since {@link rememberBuild} for the same
 * application.
 */
export function isBuilt(app) {
  const path = stampOf(app)
  return existsSync(path) && readFileSync(path, 'utf8') === digest()
}

/** Remembers that everything is installed, and built for an application. */
export function rememberBuild(app) {
  const path = stampOf(app)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, digest())
}

/** It stands among what is installed, so that it goes with it. */
function stampOf(app) {
  return join(root, 'node_modules', '.cache', 'start', app)
}

/** Sizes and times of all sources, manifests and build results: reading them takes a tenth of a second. */
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
