import { readFileSync } from 'node:fs'
import { isNight } from '@tooling/vitest/needs'
import { connectAny } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Check, checks, createHost } from '../src/hop/checks.ts'
import { checkOrdinaryCall, checkRefusedMethod, extensionChecks } from '../src/hop/extension-checks.ts'
import { createFeatures } from '../src/hop/features.ts'
import { type End, type HopKind, type StartedHops, startHops, upstreamName } from './started-hops.ts'

const ends: readonly End[] = (['2026-07-28', 'older'] as const).flatMap((revision) =>
  (['http', 'stdio'] as const).map((transport) => ({ revision, transport })),
)
const describeEnd = ({ revision, transport }: End): string =>
  `${revision === 'older' ? '2025-11-25' : revision} over ${transport}`
const cells = (['proxy', 'gateway'] as const).flatMap((kind) =>
  ends.flatMap((host) =>
    ends.map((upstream) => ({ kind, host, upstream, from: describeEnd(host), to: describeEnd(upstream) })),
  ),
)
/**
 * Nothing of a hop depends on both transports. So for each change the two differ, which has each end with both revisions
 * of the other.
 */
const testedCells = isNight ? cells : cells.filter(({ host, upstream }) => host.transport !== upstream.transport)
type Cell = (typeof cells)[number]

/** A feature that does not pass in some cells: the sentence of a guide that says so, and a check that it is true. */
interface Exception {
  readonly feature: string
  readonly isIn: (cell: Cell) => boolean
  readonly guide: string
  readonly sentence: string
  readonly check?: Check
}

const exceptions: readonly Exception[] = [
  {
    feature: 'caching hints',
    isIn: ({ host }) => host.revision === 'older',
    guide: 'proxy.md',
    sentence: 'an older host receives none',
  },
  {
    feature: 'caching hints',
    isIn: ({ upstream }) => upstream.revision === 'older',
    guide: 'proxy.md',
    sentence: "From an older server, a host of 2026-07-28 receives `ttlMs: 0` and `cacheScope: 'private'`",
  },
  {
    feature: 'Tasks',
    isIn: ({ host }) => host.revision === 'older',
    guide: 'older-clients.md',
    sentence: "run as ordinary calls, also if the tool says `task: 'required'`",
    check: checkOrdinaryCall,
  },
  {
    feature: 'Tasks',
    isIn: ({ upstream }) => upstream.revision === 'older',
    guide: 'older-servers.md',
    sentence:
      '**Calls never become tasks**, also with `tasksClient()`: `callTool` returns the result, and `tasks.start` a call that is complete.',
    check: checkOrdinaryCall,
  },
  {
    feature: 'methods and notifications of extensions',
    isIn: ({ kind }) => kind === 'gateway',
    guide: 'gateway.md',
    sentence:
      'It does not pass on methods of extensions other than [tasks](tasks.md), [pages](apps.md) and [skills](skills.md).',
    check: checkRefusedMethod,
  },
]

const featureNames = (kind: HopKind): Readonly<Record<string, Check>> =>
  kind === 'proxy' ? { ...checks, ...extensionChecks } : extensionChecks

let hops: StartedHops
const outcomes: string[] = []

beforeAll(async () => {
  hops = await startHops()
})

afterAll(async () => {
  await hops[Symbol.asyncDispose]()
  process.stdout.write(`${outcomes.join('\n')}\n`)
})

/** Returns `passes`, or the error. Where a feature should not pass, returns the sentence if the guide has it. */
async function runFeature(feature: string, host: Parameters<Check>[0], cell: Cell): Promise<unknown> {
  const exception = exceptions.find((each) => each.feature === feature && each.isIn(cell))
  try {
    await featureNames(cell.kind)[feature]?.(host)
  } catch (error) {
    if (exception === undefined) return error
    await exception.check?.(host)
    return exception.sentence
  }
  return 'passes'
}

const expectedOutcome = (feature: string, cell: Cell): string =>
  exceptions.find((each) => each.feature === feature && each.isIn(cell))?.sentence ?? 'passes'

describe('every feature of both revisions crosses a hop, or a guide says why not [GWY-010]', () => {
  test.each(testedCells)(
    'from a host of $from through a $kind to a server of $to',
    { timeout: 120_000 },
    async (cell) => {
      const { targets } = await hops.get(cell.kind, cell.upstream)
      await using connection = connectAny(targets[cell.host.transport], { revision: cell.host.revision })
      const host = createHost(connection, { upstream: cell.kind === 'gateway' ? upstreamName : '' })
      const names = Object.keys(featureNames(cell.kind))
      const found: Record<string, unknown> = {}
      for (const name of names) found[name] = await runFeature(name, host, cell)
      const passed = names.filter((name) => found[name] === 'passes').length
      outcomes.push(`${cell.from} -> ${cell.kind} -> ${cell.to}: ${passed} of ${names.length}`)
      expect(found).toEqual(Object.fromEntries(names.map((name) => [name, expectedOutcome(name, cell)])))
    },
  )

  // A server that is stopping refuses a request on an open connection before it reads the id.
  test.each(
    cells.filter(
      ({ kind, host, upstream }) => kind === 'proxy' && host.transport === 'stdio' && upstream.transport === 'http',
    ),
  )(
    'a call of a host of $from through a $kind to a server of $to that is stopping gets an error [BAS-006]',
    async ({ kind, host, upstream }) => {
      const http = await serveHttp(createFeatures())
      const hop = await hops.start(kind, upstream, http.url)
      await using connection = connectAny(hop.targets.stdio, { revision: host.revision })
      await using busy = connectAny(http.url)
      const { client } = createHost(connection)
      await client.callTool('sum', { a: 1, b: 2 })
      const controller = new AbortController()
      let running: Promise<unknown> = Promise.resolve()
      await new Promise<void>((resolve) => {
        const options = { signal: controller.signal, onProgress: () => resolve() }
        running = createHost(busy).client.callTool('wait', {}, options)
      })
      const closing = http.close({ graceMs: 60_000 })
      const once = { maxResendMs: 0 }
      await expect(client.callTool('sum', { a: 1, b: 2 }, once)).rejects.toThrow(
        /is stopping|gave no answer.*: the request/,
      )
      controller.abort()
      await expect(running).rejects.toThrow('abort')
      await Promise.all([closing, hop.close()])
    },
  )

  test.each(exceptions)('the guide $guide says: $sentence', ({ guide, sentence }) => {
    const text = readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8')
    expect(text.replaceAll(/\s+/g, ' ')).toContain(sentence)
  })
})
