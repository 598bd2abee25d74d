import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { reportLines } from './alternating.ts'
import { inTemporaryFolder, installServers, measureStarts } from './peers.ts'
import { cpuColumn, print } from './ratios.ts'

const servers = [
  { name: 'floor', place: 'ours', file: 'floor-server.js' },
  { name: 'floor with zod', place: 'ours', file: 'floor-zod-server.js' },
  { name: 'ours, JSON Schema', place: 'ours', file: 'our-json-server.js' },
  { name: 'ours, zod', place: 'ours', file: 'our-zod-server.js' },
  { name: 'official v2, zod', place: 'official', file: 'official-v2-server.js' },
  { name: 'ours, JSON Schema, bundled', place: 'ours', file: 'bundled/our-json-server.js' },
  { name: 'ours, zod, bundled', place: 'ours', file: 'bundled/our-zod-server.js' },
  { name: 'official v2, zod, bundled', place: 'official', file: 'bundled/official-v2-server.js' },
] as const

/**
 * Measures the cold start of an HTTP server with one tool: the CPU of all threads from the start of its process to its
 * first right response, of that of a bare `node:http` server. Wanted: at most 1.6 with JSON Schema, and 1.9 with zod.
 *
 * Method: the published packages are installed with npm into empty folders. A bundled server is the same program after
 * esbuild, with all of its packages. The floor with zod imports it, as any server does whose tools are written in zod.
 * The servers start one after the other within a round, in reverse order in every other round. One round before the
 * measurement fills the file caches. Not measured: a cold disk, and containers.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const rounds = quick ? 5 : 21
  await inTemporaryFolder(async (folder, packed) => {
    await installServers(join(folder, 'ours'), ['@x/server', '@x/transport-http', 'zod'], packed)
    const official = ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'zod']
    await installServers(join(folder, 'official'), official, packed)
    for (const { place, file } of servers.filter((server) => server.file.startsWith('bundled/'))) {
      await build({
        absWorkingDir: join(folder, place),
        entryPoints: [basename(file)],
        outdir: 'bundled',
        bundle: true,
        platform: 'node',
        format: 'esm',
        logLevel: 'error',
      })
    }
    const programs = servers.map(({ place, ...server }) => ({ ...server, folder: join(folder, place) }))
    const measured = await measureStarts(programs, rounds)
    print(`the first answer of an HTTP server with one tool, Node ${process.version}; medians of ${rounds} starts`)
    for (const line of reportLines(measured, 'floor', [cpuColumn])) print(line)
  })
}
