import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { runCommand } from '@tooling/e2e/dist/installed/run-command.js'
import * as z from 'zod'

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) })

/** Installs third-party packages with npm into an empty folder, in the versions of the manifest of this package. */
export async function installPeers(folder: string, names: readonly string[]): Promise<void> {
  const own = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  const versions = new Map(Object.entries(manifest.parse(JSON.parse(own)).dependencies))
  const dependencies = Object.fromEntries(names.map((name) => [name, versions.get(name) ?? '*']))
  await mkdir(folder, { recursive: true })
  const user = { name: 'a-user', version: '1.0.0', private: true, type: 'module', dependencies }
  await writeFile(`${folder}/package.json`, JSON.stringify(user))
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], folder)
}
