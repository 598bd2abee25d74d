import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { type Program, startServer, stopServer } from './start-server.ts'

/** The number and the bytes of the loaded files of a package. */
export interface Loaded {
  readonly files: number
  readonly bytes: number
}

const coverage = z.object({ result: z.array(z.object({ url: z.string() })) })

// Node writes the coverage, which lists the loaded files, only when a process exits by itself and not by a signal.
const endBySignal = "data:text/javascript,process.once('SIGTERM',()=>process.exit())"

/**
 * Counts the files that a server loads until its first response, for each package. The start is slower than a start
 * without coverage.
 */
export async function countLoaded(program: Program): Promise<ReadonlyMap<string, Loaded>> {
  const folder = await mkdtemp(join(tmpdir(), 'loaded-'))
  try {
    const environment = { NODE_V8_COVERAGE: folder }
    const { child } = await startServer({ ...program, arguments: ['--import', endBySignal], environment })
    await stopServer(child, 'SIGTERM')
    return await readLoaded(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function readLoaded(folder: string): Promise<ReadonlyMap<string, Loaded>> {
  const [file = 'nothing'] = await readdir(folder)
  const { result } = coverage.parse(JSON.parse(await readFile(join(folder, file), 'utf8')))
  const loaded = new Map<string, Loaded>()
  for (const { url } of result) {
    if (!url.startsWith('file:')) continue
    const { size } = await stat(fileURLToPath(url))
    const owner = packageOf(url)
    const { files, bytes } = loaded.get(owner) ?? { files: 0, bytes: 0 }
    loaded.set(owner, { files: files + 1, bytes: bytes + size })
  }
  return loaded
}

function packageOf(url: string): string {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? 'the program'
}
