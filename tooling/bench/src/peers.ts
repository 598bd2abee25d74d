import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { install, type InstalledSize, measureInstall } from '@tooling/e2e/dist/installed/install.js'
import { packPackages } from '@tooling/e2e/dist/installed/packed-packages.js'
import { runCommand } from '@tooling/e2e/dist/installed/run-command.js'
import * as z from 'zod'
import { measureRounds, rangeText, type Round, sharesOf } from './alternating.ts'
import { type Call, echoCall, olderEchoCall } from './calls.ts'
import { checkAnswer, type Load, measureCalls } from './load.ts'
import { pinning, type PrintingProgram, type RunningServer, startPrinting, startProgram } from './processes.ts'
import { print } from './ratios.ts'

/** A server with the echo tool, written as the documentation of its implementation shows. It prints its port. */
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
const official = ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod']
const tmcp = ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-http', '@remix-run/node-fetch-server', 'zod']
const lite = ['mcp-lite', 'hono', '@hono/node-server', 'zod']

/** The servers of the comparison. The first is the floor, and imports nothing. */
export const peers: readonly Peer[] = [
  { name: 'floor', packages: [], file: 'floor-server.js', call: echoCall },
  { name: 'ours', packages: ours, file: 'our-zod-server.js', call: echoCall },
  { name: 'ours, older', packages: [...ours, '@x/legacy'], file: 'our-older-server.js', call: olderEchoCall },
  { name: 'official v2', packages: official, file: 'official-v2-server.js', call: echoCall },
  {
    name: 'official v1',
    packages: ['@modelcontextprotocol/sdk', 'zod'],
    file: 'official-v1-server.js',
    call: olderEchoCall,
  },
  { name: 'FastMCP', packages: ['fastmcp', 'zod'], file: 'fastmcp-server.js', call: olderEchoCall },
  { name: 'tmcp', packages: tmcp, file: 'tmcp-server.js', call: echoCall },
  { name: 'mcp-lite', packages: lite, file: 'mcp-lite-server.js', call: olderEchoCall },
]

/** The folder of the built programs. */
export const peersFolder = new URL('./peers/', import.meta.url)

/** A server in the folder of an install. */
export interface InstalledPeer extends Peer, PrintingProgram {
  readonly size: InstalledSize
}

/**
 * Compares other implementations with ours and with a bare `node:http` server: the size of an install, the CPU from the
 * start of a process to its first response, and the CPU of a call over 16 connections.
 *
 * Method: each is installed with npm into an empty folder, in the version of `package.json`. The servers alternate
 * within a round, and ratios to the floor are formed within a round. Under load they are on core 0; starts are not
 * pinned. CPU is what Linux counts for all threads. Checks differ: these packages and the official SDK check `Host` and
 * `Origin`, and validate every message. Not measured: sessions, calls a second, memory, other runtimes.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [starts, rounds] = quick ? [5, 3] : [7, 5]
  const folder = await mkdtemp(join(tmpdir(), 'peers-'))
  try {
    const installed = await installAll(folder)
    const started = await measureStarts(installed, starts)
    const called = await measureLoads(installed, { rounds, warmUp: quick ? 3 : 4 })
    print(`an HTTP server with one tool, Node ${process.version}; ${pinning}; CPU in multiples of the floor's`)
    print(`${starts} starts, and ${rounds} rounds of 1 s with 16 connections; medians, and the range`)
    print('| server | installed | CPU to the first answer | CPU of a call |\n| --- | --- | --- | --- |')
    for (const { name, size } of installed) {
      const share = (measured: readonly Round<number>[]): string =>
        rangeText(sharesOf(measured, { name, base: 'floor', of: (cpu) => cpu }))
      const install = `${size.packages.length} packages, ${(size.bytes / 1e6).toFixed(1)} MB`
      print(`| ${name} | ${install} | ${share(started)} | ${share(called)} |`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function installAll(root: string): Promise<readonly InstalledPeer[]> {
  const packed = await packPackages(join(root, 'tarballs'))
  const installed: InstalledPeer[] = []
  for (const peer of peers) {
    const folder = join(root, basename(peer.file, '.js'))
    await mkdir(folder)
    const { packages, file } = peer
    if (packages.some((name) => name.startsWith('@x/'))) await install(folder, packages, packed)
    else await installPeers(folder, packages)
    await copyFile(new URL(file, peersFolder), join(folder, file))
    const size = packages.length === 0 ? { packages: [], bytes: 0 } : await measureInstall(folder)
    installed.push({ ...peer, folder, size })
  }
  return installed
}

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) })

/** Installs third-party packages with npm into an empty folder, in the versions of the manifest of this package. */
export async function installPeers(folder: string, names: readonly string[]): Promise<void> {
  const own = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  const versions = new Map(Object.entries(manifest.parse(JSON.parse(own)).dependencies))
  const dependencies = Object.fromEntries(names.map((name) => [name, versions.get(name) ?? '*']))
  await mkdir(folder, { recursive: true })
  const user = { name: 'a-user', version: '1.0.0', private: true, type: 'module', dependencies }
  await writeFile(`${folder}/package.json`, JSON.stringify(user))
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], folder)
}

/** Starts each server once in each round, and returns its CPU to the first right answer. */
export async function measureStarts<Program extends PrintingProgram & { readonly name: string; readonly call?: Call }>(
  programs: readonly Program[],
  starts: number,
): Promise<readonly Round<number>[]> {
  const startOnce = async (program: Program): Promise<number> => {
    const server = await startPrinting(program)
    try {
      await checkAnswer(server, program.call ?? echoCall)
      return await server.cpu()
    } finally {
      await server.stop()
    }
  }
  // The first round fills the file caches.
  return (await measureRounds(programs, starts + 1, startOnce)).slice(1)
}

async function measureLoads(
  installed: readonly InstalledPeer[],
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<readonly Round<number>[]> {
  const load: Load = await startProgram('load/autocannon', 1)
  const running: { readonly name: string; readonly call: Call; readonly server: RunningServer }[] = []
  const measure = async ({ server, call }: (typeof running)[number], seconds: number): Promise<number> =>
    (await measureCalls(load, server, { call, connections: 16, seconds })).cpu
  try {
    for (const { name, call, folder, file } of installed)
      running.push({ name, call, server: await startPrinting({ folder, file, core: 0 }) })
    for (const one of running) await measure(one, warmUp)
    return await measureRounds(running, rounds, (one) => measure(one, 1))
  } finally {
    await Promise.all([load, ...running.map(({ server }) => server)].map((child) => child.stop()))
  }
}
