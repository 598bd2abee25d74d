import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { runCommand } from './run-command.ts'

const packages = fileURLToPath(new URL('../../../../packages/', import.meta.url))

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  private: z.boolean().optional(),
  publishConfig: z.object({ exports: z.record(z.string(), z.unknown()) }),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
})

/** A package of this workspace, with the entries that its users import. */
export interface PackageEntries {
  readonly name: string
  readonly readme: string
  /** The specifiers that a program can import: the name, and the name with each subpath. */
  readonly entries: readonly string[]
  /** Versions of peer packages that the tests of this package use. */
  readonly versions: ReadonlyMap<string, string>
}

/** A package of this workspace, packed as it would be published. */
export interface PackedPackage extends Pick<PackageEntries, 'name' | 'versions'> {
  readonly folder: string
  readonly tarball: string
}

/** Lists the packages of a workspace, without subpaths whose peer is not installed automatically. */
export async function listEntries(root: string): Promise<readonly PackageEntries[]> {
  const folders = await readdir(`${root}/packages`)
  return Promise.all(folders.map((folder) => readEntries(`${root}/packages/${folder}`)))
}

async function readEntries(folder: string): Promise<PackageEntries> {
  const { name, publishConfig, peerDependencies, versions } = await readManifest(folder)
  const subpaths = Object.keys(publishConfig.exports).filter(
    (subpath) => !Object.hasOwn(peerDependencies, subpath.slice(2)),
  )
  return { name, readme: `${folder}/README.md`, entries: subpaths.map((subpath) => name + subpath.slice(1)), versions }
}

async function readManifest(folder: string) {
  const parsed = manifest.parse(JSON.parse(await readFile(`${folder}/package.json`, 'utf8')))
  return { ...parsed, versions: new Map(Object.entries(parsed.devDependencies)) }
}

/**
 * Packs every package of the workspace into a folder. The packages must be built. One process packs all of them, because
 * the start of pnpm takes longer than packing one.
 */
export async function packPackages(destination: string): Promise<readonly PackedPackage[]> {
  await mkdir(destination, { recursive: true })
  const parameters = ['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', destination]
  await runCommand('pnpm', parameters, join(packages, '..'))
  const folders = (await readdir(packages)).map((name) => `${packages}${name}`)
  return Promise.all(
    folders.map(async (folder) => {
      const { name, version, versions } = await readManifest(folder)
      const tarball = `${destination}/${name.replace('@', '').replace('/', '-')}-${version}.tgz`
      return { name, folder, tarball, versions }
    }),
  )
}
