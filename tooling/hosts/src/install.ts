import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { node24 } from '@tooling/node-versions'

/** A host that is installed in the cache. */
export interface Installed {
  readonly version: string
  readonly folder: string
  /** A PATH with these programs and with Node 24. */
  readonly path: string
}

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'x-hosts')

/**
 * Installs the newest version of a host into the cache of the user, outside of the checkout. npm runs on Node 24, since
 * on an older Node it silently chooses old versions of the hosts.
 */
export async function install(packages: readonly [string, ...string[]]): Promise<Installed> {
  const folder = join(cache, packages[0].replace('/', '+'))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const path = `${join(folder, 'node_modules/.bin')}:${dirname(node24)}:${process.env['PATH']}`
  const newest = packages.map((name) => `${name}@latest`)
  const args = ['install', '--no-audit', '--no-fund', '--prefer-online', ...newest]
  await promisify(execFile)('npm', args, { cwd: folder, env: { ...process.env, PATH: path } })
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules', packages[0], 'package.json'), 'utf8'))
  return { version: String(manifest.version), folder, path }
}
