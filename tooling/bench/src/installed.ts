import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { print } from './ratios.ts'

/**
 * The installs of a server and of a client, with their limits, which include our own packages and zod. A change that
 * saves packages or bytes lowers the limits. One that raises them has a reason.
 */
export const ceilings = [
  // The capability table, the checks of schemas against hosts and the join of packages take 0.1 MB.
  { title: 'a stdio server', names: ['@x/server', '@x/transport-stdio', 'zod'], packages: 9, megabytes: 9.7 },
  // The handlers for Lambda take 0.1 MB.
  { title: 'an HTTP server', names: ['@x/server', '@x/transport-http', 'zod'], packages: 11, megabytes: 11.8 },
  // The formats of model APIs take 0.1 MB.
  { title: 'a client', names: ['@x/client', '@x/transport-http'], packages: 9, megabytes: 10.9 },
]

const official = ['@modelcontextprotocol/server', 'zod']
const peers = [
  { title: 'official, a stdio server', names: official },
  { title: 'official, an HTTP server', names: [...official, '@modelcontextprotocol/node'] },
]

/**
 * Counts the packages and bytes of the packages of a server or a client, and of the official SDK. Tests hold limits.
 *
 * Method: the dependencies are followed through the links of this workspace. The bytes are those of all published
 * files. Not measured: the blocks that a file occupies on a disk.
 */
export async function run(): Promise<void> {
  for (const { title, names } of [...ceilings, ...peers]) {
    const { packages, bytes } = await installedFiles(names)
    print(`${title.padEnd(26)} ${(bytes / 1e6).toFixed(2).padStart(6)} MB, ${packages.length} packages`)
    print(`  ${packages.join(', ')}`)
  }
}

const manifest = z.object({
  version: z.string(),
  files: z.array(z.string()).default([]),
  dependencies: z.record(z.string(), z.string()).default({}),
})

/** Finds the packages of an install, with their versions, and counts the bytes of their files. */
export async function installedFiles(
  names: readonly string[],
): Promise<{ readonly packages: readonly string[]; readonly bytes: number }> {
  const found = new Map<string, number>()
  const visit = async (name: string, from: string): Promise<void> => {
    const folder = await findPackage(name, from)
    const parsed = manifest.parse(JSON.parse(await readFile(`${folder}/package.json`, 'utf8')))
    const key = `${name}@${parsed.version}`
    if (found.has(key)) return
    // Of our own packages npm publishes the files that the manifest names, and always the first three.
    const isOurs = !folder.includes('/node_modules/')
    const files = isOurs ? ['package.json', 'README.md', 'LICENSE', ...parsed.files] : ['.']
    found.set(key, await sizeOf(files.map((file) => join(folder, file))))
    for (const dependency of Object.keys(parsed.dependencies)) await visit(dependency, folder)
  }
  for (const name of names) await visit(name, import.meta.dirname)
  return { packages: [...found.keys()].toSorted(), bytes: [...found.values()].reduce((sum, bytes) => sum + bytes, 0) }
}

/** Finds a package as Node does: in `node_modules` of the folder and of its parents. */
async function findPackage(name: string, from: string): Promise<string> {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = await realpath(join(folder, 'node_modules', name)).catch(() => undefined)
    if (path !== undefined) return path
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${from}: run pnpm install`)
  }
}

/** Returns the bytes of files, and of those in folders without `node_modules`. A missing path has 0 bytes. */
async function sizeOf(paths: readonly string[]): Promise<number> {
  let bytes = 0
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined)
    const names = found?.isDirectory() === true ? await readdir(path) : undefined
    const below = names?.filter((name) => name !== 'node_modules').map((name) => join(path, name))
    bytes += below === undefined ? (found?.size ?? 0) : await sizeOf(below)
  }
  return bytes
}
