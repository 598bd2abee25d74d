import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { install, measureInstall } from '@tooling/e2e/dist/installed/install.js'
import { type PackedPackage, packPackages } from '@tooling/e2e/dist/installed/packed-packages.js'
import { runCommand } from '@tooling/e2e/dist/installed/run-command.js'
import * as z from 'zod'
import { measureRounds, rangeText, type Round, sharesOf } from './alternating.ts'
import { type Call, echoCall, olderEchoCall } from './calls.ts'
import { checkAnswer, measureTargets, startLoad, startTarget, type Target } from './load.ts'
import { pinning, startServer, type StartOptions } from './processes.ts'
import { type CpuMeasurement, print } from './ratios.ts'

/** A server with the echo tool, written as the documentation of its implementation shows. */
export interface Peer {
  readonly name: string
  /** The packages that a user installs for it. */
  readonly packages: readonly string[]
  /** The built program in the folder of the peers. */
  readonly file: string
  /** The call in the newest revision that it serves without a session; ours serves both. */
  readonly call: Call
}

const ours = ['@x/server', '@x/transport-http', 'zod']
const officialV1 = ['@modelcontextprotocol/sdk', 'zod']
const official = ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod']
const tmcp = ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-http', '@remix-run/node-fetch-server', 'zod']
const lite = ['mcp-lite', 'hono', '@hono/node-server', 'zod']

/** The servers of the comparison. The first is the floor, which imports no package. */
export const peers: readonly Peer[] = [
  { name: 'floor', packages: [], file: 'floor-server.js', call: echoCall },
  { name: 'ours', packages: ours, file: 'our-zod-server.js', call: echoCall },
  { name: 'ours, older', packages: [...ours, '@x/legacy'], file: 'our-older-server.js', call: olderEchoCall },
  { name: 'official v2', packages: official, file: 'official-v2-server.js', call: echoCall },
  { name: 'official v1', packages: officialV1, file: 'official-v1-server.js', call: olderEchoCall },
  { name: 'FastMCP', packages: ['fastmcp', 'zod'], file: 'fastmcp-server.js', call: olderEchoCall },
  { name: 'tmcp', packages: tmcp, file: 'tmcp-server.js', call: echoCall },
  { name: 'mcp-lite', packages: lite, file: 'mcp-lite-server.js', call: olderEchoCall },
]

/** The folder of the built programs. */
export const peersFolder = join(import.meta.dirname, 'peers')

/**
 * Compares other implementations with ours and with a bare `node:http` server: the size of an install, the CPU from the
 * start of a process to its first response, and the CPU of a call over 16 connections.
 *
 * Method: each is installed with npm into an empty folder, in the version of `package.json`. The servers alternate
 * within a round, and ratios to the floor are formed within a round. Under load they are on core 0; starts are not
 * pinned. CPU has all threads of a process. Checks differ: these packages and the official SDK check `Host` and
 * `Origin`, and validate every message. Not measured: sessions, calls a second, memory, other runtimes.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [starts, rounds] = quick ? [5, 3] : [7, 5]
  await inTemporaryFolder(async (root, packed) => {
    const installed = peers.map((peer) => ({ ...peer, folder: join(root, basename(peer.file, '.js')) }))
    for (const { folder, packages } of installed) await installServers(folder, packages, packed)
    const started = await measureStarts(installed, starts)
    const load = await startLoad()
    const targets: Target[] = []
    for (const { name, call, file, folder } of installed)
      targets.push(await startTarget(name, { name, call, load }, optionsOf(folder, file)))
    const called = await measureTargets(targets, { rounds, seconds: 1, users: 16, warmUp: quick ? 3 : 4 })
    print(`an HTTP server with one tool, Node ${process.version}; ${pinning}; CPU in multiples of the floor's`)
    print(`${starts} starts, and ${rounds} rounds of 1 s with 16 connections; medians, and the range`)
    print('| server | installed | CPU to the first answer | CPU of a call |\n| --- | --- | --- | --- |')
    for (const { name, packages, folder } of installed) {
      const share = (measured: readonly Round<CpuMeasurement>[]): string =>
        rangeText(sharesOf(measured, { name, base: 'floor', of: ({ cpu }) => cpu }))
      const size = packages.length === 0 ? { packages, bytes: 0 } : await measureInstall(folder)
      const text = `${size.packages.length} packages, ${(size.bytes / 1e6).toFixed(1)} MB`
      print(`| ${name} | ${text} | ${share(started)} | ${share(called)} |`)
    }
  })
}

/** Passes a new folder, and our packages as they are published. Removes the folder afterwards. */
export async function inTemporaryFolder(
  run: (folder: string, packed: readonly PackedPackage[]) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  try {
    await run(folder, await packPackages(join(folder, 'tarballs')))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) })

/**
 * Installs packages with npm into an empty folder, and copies the programs of the servers into it. Packages of others
 * have the versions of the manifest of this package.
 */
export async function installServers(
  folder: string,
  names: readonly string[],
  packed: readonly PackedPackage[],
): Promise<void> {
  await mkdir(folder)
  if (names.some((name) => name.startsWith('@x/'))) await install(folder, names, packed)
  else {
    const own = await readFile(new URL('../package.json', import.meta.url), 'utf8')
    const { dependencies } = manifest.parse(JSON.parse(own))
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    const versions = names.map((name) => `${name}@${dependencies[name]}`)
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
    await runCommand('npm', ['install', ...options, ...versions], folder)
  }
  await cp(peersFolder, folder, { recursive: true })
}

/** How the program of a server starts in a folder. */
function optionsOf(folder: string, file: string): StartOptions {
  return { folder, run: [file], environment: { NODE_OPTIONS: '' } }
}

/** A server in a folder that has its packages. */
interface ServerFile {
  readonly name: string
  readonly folder: string
  readonly file: string
  readonly call?: Call
}

/** Starts each server once in each round, and returns its CPU to the first right answer. */
export async function measureStarts(
  servers: readonly ServerFile[],
  starts: number,
): Promise<readonly Round<CpuMeasurement>[]> {
  const startOnce = async ({ name, folder, file, call = echoCall }: ServerFile) => {
    await using server = await startServer(name, { ...optionsOf(folder, file), core: undefined })
    await checkAnswer(server, call)
    return { cpu: await server.cpu() }
  }
  // The first round fills the file caches.
  return (await measureRounds(servers, starts + 1, startOnce)).slice(1)
}
