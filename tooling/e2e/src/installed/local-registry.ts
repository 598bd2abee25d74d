import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@tooling/real-servers/free-port'
import * as z from 'zod'
import { runCommand } from './run-command.ts'

/** An npm registry on this machine that serves only the packages of this workspace. */
export interface LocalRegistry {
  readonly url: string
  /** Settings for `npm publish` and `pnpm publish` to this registry, as environment variables. */
  readonly publishing: Readonly<Record<string, string>>
  /** Returns the latest version of a package, or undefined if the registry has none. */
  latest(name: string): Promise<string | undefined>
  /** Creates a folder that installs the packages of this workspace from the registry, and all others from npm. */
  consumer(folder: string): Promise<void>
  close(): Promise<void>
}

// The last version that supports Node 20. It has 272 packages, so it is not a dependency of the workspace. It is
// installed once, below `node_modules`, and is deleted with that folder.
const version = '6.8.0'
const manifest = { private: true, dependencies: { verdaccio: version }, overrides: { 'node-fetch': '2.7.0' } }
const cache = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url))

const config = `storage: ./storage
auth:
  htpasswd:
    file: ./htpasswd
packages:
  '@x/*':
    access: $all
    publish: $all
log: { type: stdout, format: pretty, level: error }
`

const view = z.object({ 'dist-tags': z.object({ latest: z.string() }) })

/** Starts a registry on a free port of the loopback interface. It stores its packages in the folder. */
export async function startRegistry(folder: string): Promise<LocalRegistry> {
  await mkdir(folder, { recursive: true })
  await writeFile(`${folder}/config.yaml`, config)
  const program = `${await installRegistry()}/node_modules/verdaccio/bin/verdaccio`
  const port = await findFreePort()
  const args = [program, '--config', `${folder}/config.yaml`, '--listen', `127.0.0.1:${port}`]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}/`
  await waitUntilReady(`${url}-/ping`, child)
  // npm and pnpm require a token even if publishing is public.
  const settings = `${folder}/publishing.npmrc`
  await writeFile(settings, `@x:registry=${url}\n//127.0.0.1:${port}/:_authToken=none\n`)
  return {
    url,
    publishing: { npm_config_userconfig: settings },
    latest: async (name) => {
      const response = await fetch(`${url}${name.replace('/', '%2f')}`)
      return response.ok ? view.parse(await response.json())['dist-tags'].latest : undefined
    },
    consumer: async (target) => {
      await mkdir(target, { recursive: true })
      await writeFile(`${target}/package.json`, JSON.stringify({ name: 'a-user', private: true, type: 'module' }))
      await writeFile(`${target}/.npmrc`, `@x:registry=${url}\n`)
    },
    close: async () => {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

/** Installs the registry unless it is installed, and resolves to its folder. */
async function installRegistry(): Promise<string> {
  const installed = `${cache}verdaccio-${version}`
  if (existsSync(installed)) return installed
  await mkdir(cache, { recursive: true })
  // The install runs in a temporary folder, so that a folder with the final name is always complete.
  const fresh = await mkdtemp(`${cache}verdaccio-`)
  await writeFile(`${fresh}/package.json`, JSON.stringify(manifest))
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], fresh)
  // Another run may have created the folder in the meantime.
  await rename(fresh, installed).catch(() => rm(fresh, { recursive: true, force: true }))
  return installed
}

/** Resolves when the URL responds. Rejects if the process ends first. */
async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    if (child.exitCode !== null) throw new Error(`The registry ended with ${child.exitCode} before it was ready`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
