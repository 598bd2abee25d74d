import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorkItemsProcess } from '@apps/ado-work-items/work-items-process'
import { startGatewayFleet } from './gateway-fleet.ts'
import type { Options } from './options.ts'
import { startOrdersApi } from './orders-api.ts'
import { everythingProgram } from './programs.ts'
import { servePage } from './serve-page.ts'
import { type WalkThroughOptions, walkThrough } from './walk-through.ts'

/** The part of its process that a run uses. */
export interface RunContext {
  /** Ends the run. */
  readonly stop: AbortController
  readonly print: (text: string) => void
}

/** Starts everything, walks through it, and serves until it is stopped. Resolves to the exit code. */
export async function run({ once: isOnce, port }: Options, { stop, print }: RunContext): Promise<number> {
  const { signal } = stop
  const stops: (() => Promise<void>)[] = []
  const log: InstanceLog = { lines: [], isKept: true }
  try {
    const started = await start(port, { stop, stops, log })
    const { url } = started.fleet
    print(`\nTwo instances of a gateway share ${url}, in front of three servers and an HTTP API.\n`)
    const isGood = await walkThrough(started, print)
    log.isKept = false
    if (!isOnce) {
      const page = await servePage(url, started.workItems, port)
      stops.push(page.close)
      print(`\nServing on ${url} until Ctrl-C. Connect a host of any revision to it.`)
      print(`Call its tools, and kill an upstream, at ${page.pageUrl}`)
      if (!signal.aborted) await once(signal, 'abort')
    }
    signal.throwIfAborted()
    return isGood ? 0 : 1
  } catch (error) {
    // A stop has a `DOMException` as its reason, and a failure of an instance has its error.
    if (signal.aborted && signal.reason instanceof DOMException) return 0
    throw signal.aborted ? signal.reason : error
  } finally {
    for (const end of stops.toReversed()) await end()
  }
}

/** The log of the instances, whose lines are kept for the steps of the walk-through, and written after it. */
interface InstanceLog {
  readonly lines: string[]
  isKept: boolean
}

/** Starts the upstream over HTTP and the instances. `stops` receives the functions that end them, in order. */
async function start(
  port: number,
  { stop, stops, log }: { stop: AbortController; stops: (() => Promise<void>)[]; log: InstanceLog },
): Promise<WalkThroughOptions> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'))
  stops.push(() => rm(folder, { recursive: true }))
  const [note, pinsFile] = [join(folder, 'note.txt'), join(folder, 'pins.json')]
  await writeFile(note, 'The release is on Thursday.\n')
  const workItems = await startWorkItemsProcess()
  stops.push(workItems.stop)
  const orders = await startOrdersApi()
  stops.push(orders.stop)
  const fleet = await startGatewayFleet({
    port,
    environment: {
      HOST: '127.0.0.1',
      STATE_KEYS_FILE: '',
      STATE_KEYS: randomBytes(32).toString('hex'),
      WORK_ITEMS_URL: workItems.url,
      EVERYTHING_PROGRAM: everythingProgram,
      FILES_FOLDER: folder,
      ORDERS_URL: orders.url,
      PINS_FILE: pinsFile,
    },
    onFailure: (error) => stop.abort(error),
    onLog: (line) => (log.isKept ? void log.lines.push(line) : console.error(line)),
  })
  stops.push(fleet.stop)
  return { workItems, fleet, orders, note, pinsFile, signal: stop.signal, takeLog: () => log.lines.splice(0) }
}
