import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@tooling/real-servers/free-port'
import { randomKey } from '@x/state-codec'
import { build } from 'esbuild'
import { expect } from 'vitest'
import { bundleScript } from './browser/site.ts'
import { processesOf } from './process-list.ts'

/** Loaded into a server, ends its process when the first call arrives while the file CALL_FILE exists. */
export const removeAtCall = programPath('remove-at-call.mjs')
const exampleFolder = new URL('../../../examples/host/', import.meta.url)

/** Bundles the programs of `examples/host` and the servers over HTTP into a new folder, and returns it. */
export async function bundleHost(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'host-example-')))
  await build({
    entryPoints: {
      host: examplePath('host.mjs'),
      'typed-host': fileURLToPath(new URL('../../examples/src/typed-host.ts', import.meta.url)),
      notes: examplePath('notes.mjs'),
      web: examplePath('web.mjs'),
      peer: programPath('host-peer.ts'),
    },
    bundle: true,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    platform: 'node',
    target: 'node20',
    nodePaths: [fileURLToPath(new URL('../node_modules', import.meta.url))],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
  return folder
}

/** The web host of the guide, in a folder of its own. */
export interface WebHost extends AsyncDisposable {
  readonly start: () => RunningHost
  readonly expectNoProcess: () => Promise<void>
}

/** Bundles the web host with its page. Its servers are `notes` of the guide, and those given. */
export async function createWebHost(servers: Readonly<Record<string, object>>): Promise<WebHost> {
  const folder = await bundleHost()
  await copyFile(examplePath('page.html'), join(folder, 'page.html'))
  await writeFile(join(folder, 'page.js'), await bundleScript(new URL('page.mjs', exampleFolder), 'esm'))
  const { mcpServers } = JSON.parse(await readFile(examplePath('web.json'), 'utf8'))
  const notes = { ...mcpServers.notes, command: process.execPath }
  await writeFile(join(folder, 'web.json'), JSON.stringify({ mcpServers: { notes, ...servers } }))
  const settings = { STATE_KEY: randomKey(), PORT: String(await findFreePort()) }
  return {
    start: () => startProgram(folder, [join(folder, 'web.mjs')], settings),
    expectNoProcess: () => expect.poll(() => processesOf(folder)).toEqual([]),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

function examplePath(name: string): string {
  return fileURLToPath(new URL(name, exampleFolder))
}

/** A host that runs, and the terminal of its user. Its disposal kills a host that a failed test left. */
export interface RunningHost extends Disposable {
  readonly child: ChildProcess
  /** Resolves with the exit code and the signal. */
  readonly ended: Promise<readonly unknown[]>
  readonly say: (line: string) => void
  /** Waits for a text that was not waited for yet. Resolves with its first group. */
  readonly waitFor: (pattern: RegExp) => Promise<string>
  /** Waits until the host asks for the next line, and forgets what it has shown. */
  readonly prompt: () => Promise<void>
}

/** Runs the host of the guide in TypeScript. */
export function startTypedHost(folder: string, args: readonly string[]): RunningHost {
  return startProgram(folder, [join(folder, 'typed-host.mjs'), ...args])
}

/** Runs the host of the guide in a terminal without a browser, so that it prints the address of a login. */
export function startHost(folder: string, file: string): RunningHost {
  return startProgram(folder, [programPath('report-open.mjs'), join(folder, 'host.mjs'), file])
}

function startProgram(folder: string, args: readonly string[], settings: NodeJS.ProcessEnv = {}): RunningHost {
  const env = { PATH: folder, HOME: folder, XDG_CONFIG_HOME: folder, ...settings }
  const child: ChildProcess = spawn(process.execPath, args, { cwd: folder, env, stdio: 'pipe' })
  let shown = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => void (shown += text))
  const ended = once(child, 'exit')
  const waitFor = async (pattern: RegExp): Promise<string> => {
    await expect.poll(() => shown).toMatch(pattern)
    const [found = '', group] = pattern.exec(shown) ?? []
    shown = shown.slice(shown.indexOf(found) + found.length)
    return group ?? found
  }
  const say = (line: string): void => void child.stdin?.write(`${line}\n`)
  const prompt = async (): Promise<void> => {
    // A line of the log may follow it.
    await waitFor(/^> /m)
    shown = ''
  }
  return { child, ended, say, waitFor, prompt, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

/** A server of `programs/host-peer.ts`, which starts again at its address when it was killed. */
export interface PeerProcess extends AsyncDisposable {
  readonly url: string
}

/** Starts a server over HTTP. The environment has its CALL_FILE. */
export async function startPeer(
  folder: string,
  { kind, port, issuer = '' }: { readonly kind: string; readonly port: number; readonly issuer?: string },
  env: NodeJS.ProcessEnv,
): Promise<PeerProcess> {
  const args = ['--import', removeAtCall, join(folder, 'peer.mjs'), kind, String(port), issuer]
  const start = (): ChildProcess => {
    const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    started.once('exit', (_, signal) => {
      if (signal === 'SIGKILL') child = start()
    })
    return started
  }
  let child = start()
  if (child.stdout !== null) await once(child.stdout, 'data')
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

function programPath(name: string): string {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url))
}

/** Kills the process of a program of this test: its command line has the folder of the test. */
export async function killIn(folder: string, program: string): Promise<void> {
  const own = await processesOf(folder)
  for (const id of await processesOf(program)) if (own.includes(id)) process.kill(id, 'SIGKILL')
}
