import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install } from '@tooling/e2e/dist/installed/install.js'
import { packPackages } from '@tooling/e2e/dist/installed/packed-packages.js'
import { importTimes } from './cold/import-times.ts'
import { countLoaded, type Loaded } from './cold/loaded-files.ts'
import { importLines, loadedLines, type PartsOfStart, type Round, startLines } from './cold/report.ts'
import { type Program, type Start, startServer, stopServer } from './cold/start-server.ts'
import { installPeers } from './installed/peer-install.ts'

/** The server whose parts are looked at. */
const ours = 'ours, zod'

/** Servers by the name in the report, with their install and their program. */
const servers = [
  ['floor', 'ours', 'floor-server.js'],
  ['floor with zod', 'ours', 'zod-server.js'],
  ['ours, JSON Schema', 'ours', 'our-json-server.js'],
  [ours, 'ours', 'our-zod-server.js'],
  ['official, zod', 'official', 'peer-server.js'],
] as const

/**
 * Cold start: the time from starting the process of an HTTP server with one tool to its first right answer, against a
 * bare `node:http` server, and beside the official SDK.
 *
 * Method: what is published is installed with npm into empty folders; the servers start one after the other within a
 * round, every other round backwards, after one round that fills the caches of files. Not measured: a disk that is cold
 * as well.
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
    print(`${rounds} alternating rounds; medians, and the least to the most; ratios within a round`)
    startLines(measured).forEach(print)
    for (const [name, files] of loaded) loadedLines(name, files).forEach(print)
    print(`where the time of "${ours}" goes`)
    importLines(parts).forEach(print)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Installs what is published, and puts the programs beside it. */
async function installPrograms(folder: string): Promise<ReadonlyMap<string, Program>> {
  const packed = await packPackages(`${folder}/tarballs`)
  await install(join(folder, 'ours'), ['@x/server', '@x/transport-http', 'zod'], packed)
  await installPeers(join(folder, 'official'), ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod'])
  const built = fileURLToPath(new URL('./cold/', import.meta.url))
  const files = (await readdir(built)).filter((name) => name.endsWith('-server.js'))
  for (const place of ['ours', 'official']) {
    for (const name of files) await copyFile(join(built, name), join(folder, place, name))
  }
  await copyFile(new URL('./cold/import-probe.js', import.meta.url), join(folder, 'ours', 'import-probe.js'))
  return new Map(servers.map(([name, place, file]) => [name, { folder: join(folder, place), file }]))
}

/** One start of each server, one after the other. */
async function startAll(programs: ReadonlyMap<string, Program>, backwards: boolean): Promise<Round> {
  const starts = new Map<string, Start>()
  const order = backwards ? [...programs].toReversed() : [...programs]
  for (const [name, program] of order) {
    const { child, start } = await startServer(program)
    await stopServer(child)
    starts.set(name, start)
  }
  // In the order of the report, whatever the order of the round.
  return new Map([...programs.keys()].flatMap((name) => [...starts].filter(([started]) => started === name)))
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
