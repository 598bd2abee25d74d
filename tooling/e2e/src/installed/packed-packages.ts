import { mkdir, readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { runCommand } from './run-command.ts'

const packages = fileURLToPath(new URL('../../../../packages/', import.meta.url))

const manifest = z.object({
  name: z.string(),
  private: z.boolean().optional(),
  publishConfig: z.object({ exports: z.record(z.string(), z.unknown()) }),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
})

/** A package of this workspace, packed as it would be published. */
export interface PackedPackage {
  readonly name: string
  readonly folder: string
  readonly tarball: string
  /** The specifiers that a program can import: the name, and the name with each subpath. */
  readonly entries: readonly string[]
  /** Subpaths that need a peer which is not installed by itself. */
  readonly optionalEntries: readonly string[]
  /** Versions of what is not ours, as this package's own tests use them. */
  readonly versions: ReadonlyMap<string, string>
}

/** Packs every package of the workspace into a folder. They have to be built before. */
export async function packPackages(destination: string): Promise<readonly PackedPackage[]> {
  await mkdir(destination, { recursive: true })
  const packed: PackedPackage[] = []
  for (const entry of await readdir(packages, { withFileTypes: true })) {
    if (entry.isDirectory()) packed.push(await packOne(`${packages}${entry.name}`, destination))
  }
  return packed
}

async function packOne(folder: string, destination: string): Promise<PackedPackage> {
  const { name, publishConfig, peerDependencies, devDependencies } = manifest.parse(
    JSON.parse(await readFile(`${folder}/package.json`, 'utf8')),
  )
  const tarball = `${destination}/${name.replace('@', '').replace('/', '-')}.tgz`
  await runCommand('pnpm', ['pack', '--out', tarball], folder)
  const subpaths = Object.keys(publishConfig.exports)
  const isOptional = (subpath: string): boolean => Object.hasOwn(peerDependencies, subpath.slice(2))
  const specifier = (subpath: string): string => name + subpath.slice(1)
  return {
    name,
    folder,
    tarball,
    entries: subpaths.filter((subpath) => !isOptional(subpath)).map(specifier),
    optionalEntries: subpaths.filter(isOptional).map(specifier),
    versions: new Map(Object.entries(devDependencies)),
  }
}
