import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as z from 'zod'
import type { PackedPackage } from './packed-packages.ts'
import { runCommand } from './run-command.ts'

const manifest = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
})

/**
 * Unpacks packages into the `node_modules` of a folder. Their dependencies and peers are links into this workspace, so
 * that nothing is installed.
 */
export async function unpackPackages(folder: string, packed: readonly PackedPackage[]): Promise<void> {
  for (const { name, tarball, folder: source } of packed) {
    const target = `${folder}/node_modules/${name}`
    await mkdir(target, { recursive: true })
    await runCommand('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], folder)
    const parsed = manifest.parse(JSON.parse(await readFile(`${target}/package.json`, 'utf8')))
    const outside = Object.keys({ ...parsed.dependencies, ...parsed.peerDependencies })
    for (const dependency of outside.filter((other) => packed.every((sibling) => sibling.name !== other))) {
      await linkModule(folder, `${source}/node_modules/${dependency}`, dependency)
    }
  }
}

/**
 * Links an installed package into the `node_modules` of a folder. An existing link and a missing source are skipped.
 */
export async function linkModule(folder: string, source: string, name: string): Promise<void> {
  const target = `${folder}/node_modules/${name}`
  if (existsSync(target) || !existsSync(source)) return
  await mkdir(dirname(target), { recursive: true })
  await symlink(await realpath(source), target, 'junction')
}
