import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { runCommand } from './run-command.ts'

/** An npm registry on this machine, for the packages of this workspace alone. */
export interface LocalRegistry {
  readonly url: string
  /** The settings with which npm and pnpm publish to it, as environment variables. */
  readonly publishing: Readonly<Record<string, string>>
  /** Makes a folder whose packages of this workspace come from the registry, and all others from the usual one. */
  consumer(folder: string): Promise<void>
  close(): Promise<void>
}

// The version that accepts Node 20. It is installed for the test alone: with 272 packages it would outweigh the
// workspace.
const manifest = { private: true, dependencies: { verdaccio: '6.8.0' }, overrides: { 'node-fetch': '2.7.0' } }

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

/** Installs a registry into a folder, and starts it on a free port of the loopback interface. */
export async function startRegistry(folder: string): Promise<LocalRegistry> {
  await mkdir(folder, { recursive: true })
  await writeFile(`${folder}/package.json`, JSON.stringify(manifest))
  await writeFile(`${folder}/config.yaml`, config)
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], folder)
  const port = await freePort()
  const program = `${folder}/node_modules/verdaccio/bin/verdaccio`
  const args = [program, '--config', `${folder}/config.yaml`, '--listen', `127.0.0.1:${port}`]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}/`
  await answers(`${url}-/ping`, child)
  // Both tools want a token, whoever may publish.
  const settings = `${folder}/publishing.npmrc`
  await writeFile(settings, `@x:registry=${url}\n//127.0.0.1:${port}/:_authToken=none\n`)
  return {
    url,
    publishing: { npm_config_userconfig: settings },
    consumer: async (place) => {
      await mkdir(place, { recursive: true })
      await writeFile(`${place}/package.json`, JSON.stringify({ name: 'a-user', private: true, type: 'module' }))
      await writeFile(`${place}/.npmrc`, `@x:registry=${url}\n`)
    },
    close: async () => {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('A server on a port has an address with a port')
  return address.port
}

/** Resolves when a URL is answered; rejects when the process ends before. */
async function answers(url: string, child: ChildProcess): Promise<void> {
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
