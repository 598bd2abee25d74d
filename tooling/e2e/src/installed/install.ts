import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import * as z from 'zod'
import type { PackedPackage } from './packed-packages.ts'
import { runCommand } from './run-command.ts'

/**
 * Installs packages with npm into an empty folder, as a user does. Packages of this workspace are installed from their
 * tarballs, all others from the registry.
 * @param names Packages of this workspace, and peers that the first of them is tested with.
 */
export async function install(
  folder: string,
  names: readonly string[],
  packed: readonly PackedPackage[],
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const tarballs = new Map(packed.map(({ name, tarball }) => [name, `file:${tarball}`]))
  const versions = new Map(packed.flatMap((entry) => [...entry.versions]))
  const dependencies = Object.fromEntries(names.map((name) => [name, tarballs.get(name) ?? versions.get(name) ?? '*']))
  // npm accepts an override of a direct dependency only as a reference. Without it, npm looks for an optional peer in the
  // registry.
  const overrides = Object.fromEntries(
    Array.from(tarballs, ([name, tarball]) => [name, names.includes(name) ? `$${name}` : tarball]),
  )
  const manifest = { name: 'a-user', version: '1.0.0', private: true, type: 'module', dependencies, overrides }
  await writeFile(`${folder}/package.json`, JSON.stringify(manifest, undefined, 2))
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], folder)
}

/** The size of an install. */
export interface InstalledSize {
  readonly packages: readonly string[]
  readonly bytes: number
}

const lock = z.object({ packages: z.record(z.string(), z.unknown()) })

/** Counts the packages and the bytes of the files below `node_modules`. */
export async function measureInstall(folder: string): Promise<InstalledSize> {
  const { packages } = lock.parse(JSON.parse(await readFile(`${folder}/node_modules/.package-lock.json`, 'utf8')))
  const files = await readdir(`${folder}/node_modules`, { recursive: true, withFileTypes: true })
  let bytes = 0
  for (const file of files) if (file.isFile()) bytes += (await stat(`${file.parentPath}/${file.name}`)).size
  return { packages: Object.keys(packages).map((path) => path.slice('node_modules/'.length)), bytes }
}
