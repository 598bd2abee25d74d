import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install } from '@tooling/e2e/dist/installed/install.js'
import { packPackages } from '@tooling/e2e/dist/installed/packed-packages.js'
import { build } from 'esbuild'
import { importTimes } from './cold/import-times.ts'
import { countLoaded, type Loaded } from './cold/loaded-files.ts'
import { importLines, loadedLines, type PartsOfStart, type Round, startLines } from './cold/report.ts'
import { type Program, type Start, startServer, stopServer } from './cold/start-server.ts'
import { installPeers } from './installed/peer-install.ts'

/** The server whose imports are timed. */
const ours = 'ours, zod'

const bundledFolder = 'bundled'

/** The servers: the name in the report, the folder of the install, and the program. */
const servers = [
  ['floor', 'ours', 'floor-server.js'],
  ['floor with zod', 'ours', 'zod-server.js'],
  ['ours, JSON Schema', 'ours', 'our-json-server.js'],
  [ours, 'ours', 'our-zod-server.js'],
  ['official, zod', 'official', 'peer-server.js'],
  ['ours, JSON Schema, bundled', 'ours', 'bundled/our-json-server.js'],
  ['ours, zod, bundled', 'ours', 'bundled/our-zod-server.js'],
  ['official, zod, bundled', 'official', 'bundled/peer-server.js'],
] as const

/**
 * Measures the cold start of an HTTP server with one tool: the time from the start of its process to its first right
 * response. It compares the server with a bare `node:http` server and with the official SDK.
 *
 * Method: the published packages are installed with npm into empty folders. A bundled server is the same program after
 * esbuild, with all of its packages. The servers start one after the other within a round, in reverse order in every
 * other round. One round before the measurement fills the file caches. Not measured: a cold disk.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const rounds = quick ? 5 : 21
  const folder = await mkdtemp(join(tmpdir(), 'cold-'))
  try {
    const programs = await installPrograms(folder)
    const loaded = new Map<string, ReadonlyMap<string, Loaded>>()
    for (const [name, program] of programs) loaded.set(name, await countLoaded(program))
    const packages = new Set(loaded.get(ours)?.keys())
    await startAll(programs, false)
    const measured: Round[] = []
    const parts: PartsOfStart[] = []
    for (let round = 0; round < rounds; round += 1) {
      const starts = await startAll(programs, round % 2 === 1)
      measured.push(starts)
      const whole = starts.get(ours)?.milliseconds ?? Number.NaN
      parts.push({ whole, times: await importTimes(join(folder, 'ours'), packages) })
    }
    print(`the first answer of an HTTP server with one tool, Node ${process.version}`)
    print(`${rounds} alternating rounds; medians, and the smallest to the largest; ratios within a round`)
    startLines(measured).forEach(print)
    for (const [name, files] of loaded) loadedLines(name, files).forEach(print)
    print(`where the time of "${ours}" goes`)
    importLines(parts).forEach(print)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Installs the published packages, and copies the programs into the same folders. Bundles those that have a row. */
async function installPrograms(folder: string): Promise<ReadonlyMap<string, Program>> {
  const packed = await packPackages(`${folder}/tarballs`)
  await install(join(folder, 'ours'), ['@x/server', '@x/transport-http', 'zod'], packed)
  await installPeers(join(folder, 'official'), ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod'])
  const built = fileURLToPath(new URL('./cold/', import.meta.url))
  const files = (await readdir(built)).filter((name) => name.endsWith('-server.js'))
  for (const place of ['ours', 'official']) {
    for (const name of files) await copyFile(join(built, name), join(folder, place, name))
  }
  for (const [, place, file] of servers) {
    if (dirname(file) === bundledFolder) await bundle(join(folder, place), basename(file))
  }
  await copyFile(new URL('./cold/import-probe.js', import.meta.url), join(folder, 'ours', 'import-probe.js'))
  return new Map(servers.map(([name, place, file]) => [name, { folder: join(folder, place), file }]))
}

/** Bundles a program with all of its packages into one file. */
async function bundle(folder: string, program: string): Promise<void> {
  await build({
    absWorkingDir: folder,
    entryPoints: [program],
    outdir: bundledFolder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
}

/** Starts each server once, one after the other. */
async function startAll(programs: ReadonlyMap<string, Program>, backwards: boolean): Promise<Round> {
  const starts = new Map<string, Start>()
  const order = backwards ? [...programs].toReversed() : [...programs]
  for (const [name, program] of order) {
    const { child, start } = await startServer(program)
    await stopServer(child)
    starts.set(name, start)
  }
  // The report has a fixed order, independent of the order of the round.
  return new Map([...programs.keys()].flatMap((name) => [...starts].filter(([started]) => started === name)))
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
