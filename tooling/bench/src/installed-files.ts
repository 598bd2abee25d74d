import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'

/** The packages and bytes of an install. */
export interface Installed {
  /** The names with their versions. */
  readonly packages: readonly string[]
  readonly bytes: number
}

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  files: z.array(z.string()).optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
})

/**
 * Counts the packages and bytes of an install without installing. It follows the dependencies through the links of this
 * workspace. Of third-party packages all files count, and of our own packages the files that the manifest names.
 *
 * @param from A folder whose `node_modules` has the packages.
 */
export async function installedFiles(names: readonly string[], from: string): Promise<Installed> {
  const found = new Map<string, number>()
  for (const name of names) await visit(name, from, found)
  return { packages: [...found.keys()].toSorted(), bytes: [...found.values()].reduce((sum, bytes) => sum + bytes, 0) }
}

async function visit(name: string, from: string, found: Map<string, number>): Promise<void> {
  const folder = await findPackage(name, from)
  const { version, files, dependencies } = manifest.parse(JSON.parse(await readFile(`${folder}/package.json`, 'utf8')))
  const key = `${name}@${version}`
  if (found.has(key)) return
  found.set(key, 0)
  const isOurs = !folder.includes('/node_modules/')
  found.set(key, await (isOurs ? sizeOfPublished(folder, files ?? []) : sizeOf(folder)))
  for (const dependency of Object.keys(dependencies)) await visit(dependency, folder, found)
}

/** Finds a package as Node does: in `node_modules` of the folder and of its parents. */
async function findPackage(name: string, from: string): Promise<string> {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = await realpath(join(folder, 'node_modules', name)).catch(() => undefined)
    if (path !== undefined) return path
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${from}: run pnpm install`)
  }
}

async function sizeOfPublished(folder: string, files: readonly string[]): Promise<number> {
  // npm always publishes these three files.
  const always = ['package.json', 'README.md', 'LICENSE']
  let bytes = 0
  for (const name of [...always, ...files]) bytes += await sizeOf(join(folder, name))
  return bytes
}

/** Returns the bytes of a file, or of all files in a folder without `node_modules`. A missing path has 0 bytes. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return 0
  if (!found.isDirectory()) return found.size
  let bytes = 0
  for (const name of await readdir(path)) if (name !== 'node_modules') bytes += await sizeOf(join(path, name))
  return bytes
}
