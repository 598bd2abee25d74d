import { connectAny, type ServerTarget } from '@x/legacy/client'
import { legacy } from '@x/legacy'
import { proxy } from '@x/gateway'
import { sealedState } from '@x/state-codec'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys } from './asking.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { type Check, checks, createHost } from '../src/hop/checks.ts'
import { createFeatures } from '../src/hop/features.ts'

type Revision = '2026-07-28' | 'older'
type Transport = 'http' | 'stdio'
interface End {
  readonly revision: Revision
  readonly transport: Transport
}

const ends: readonly End[] = (['2026-07-28', 'older'] as const).flatMap((revision) =>
  (['http', 'stdio'] as const).map((transport) => ({ revision, transport })),
)
const combinations = ends.flatMap((host) => ends.map((upstream) => ({ host, upstream })))

/** Checks that fail if one end is of an older revision, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'caching hints': 'revisions before 2026-07-28 have no ttlMs',
}

const table: string[] = []
let features: ChildProgram
let hop: ChildProgram

beforeAll(async () => {
  ;[features, hop] = await Promise.all([
    bundleProgram(new URL('programs/features.ts', import.meta.url)),
    bundleProgram(new URL('programs/hop.ts', import.meta.url)),
  ])
})

afterAll(async () => {
  await features[Symbol.asyncDispose]()
  await hop[Symbol.asyncDispose]()
  const reasons = Object.entries(exceptions).map(
    ([name, reason]) => `skipped if one end is older: ${name}, because ${reason}`,
  )
  process.stdout.write(`${['host -> upstream: checks that passed', ...table, ...reasons].join('\n')}\n`)
})

const describeEnd = ({ revision, transport }: End): string =>
  `${revision === 'older' ? '2025-11-25' : revision} over ${transport}`

function expectedNames(host: End, upstream: End): readonly string[] {
  const isModern = host.revision === '2026-07-28' && upstream.revision === '2026-07-28'
  return Object.keys(checks).filter((name) => isModern || exceptions[name] === undefined)
}

async function serveUpstream({ transport }: End): Promise<{ target: ServerTarget; close: () => Promise<void> }> {
  if (transport === 'stdio')
    return { target: { command: process.execPath, args: [features.path] }, close: () => Promise.resolve() }
  const http = await serveHttp(createFeatures())
  return { target: http.url, close: () => http.close() }
}

async function serveHop(
  host: End,
  upstream: End,
  target: ServerTarget,
): Promise<{ target: ServerTarget; close: () => Promise<void> }> {
  if (host.transport === 'stdio') {
    const args = [hop.path, JSON.stringify({ target, revision: upstream.revision })]
    return { target: { command: process.execPath, args }, close: () => Promise.resolve() }
  }
  const connect = () => connectAny(target, { revision: upstream.revision })
  const state = sealedState({ keys: [keys.first] })
  const http = await serveHttp(
    proxy({ connect }, { name: 'features', version: '1.0.0', state, extensions: [legacy()] }),
  )
  return { target: http.url, close: () => http.close() }
}

async function runCheck(check: Check, host: Parameters<Check>[0]): Promise<true | unknown> {
  try {
    await check(host)
    return true
  } catch (error) {
    return error
  }
}

describe('every feature of both revisions crosses a hop [GWY-010]', () => {
  test.each(
    combinations.map(({ host, upstream }) => [describeEnd(host), describeEnd(upstream), host, upstream] as const),
  )(
    'from a host of %s to a server of %s',
    async (hostName, upstreamName, host, upstream) => {
      const server = await serveUpstream(upstream)
      const served = await serveHop(host, upstream, server.target)
      const connection = connectAny(served.target, { revision: host.revision })
      try {
        const hostOfHop = createHost(connection)
        const outcomes: [string, unknown][] = []
        for (const [name, check] of Object.entries(checks)) outcomes.push([name, await runCheck(check, hostOfHop)])
        const passed = outcomes.filter(([, outcome]) => outcome === true).map(([name]) => name)
        table.push(`${hostName} -> ${upstreamName}: ${passed.length} of ${outcomes.length}`)
        const failures = outcomes.filter(([name, outcome]) => outcome !== true && exceptions[name] === undefined)
        expect(failures).toEqual([])
        expect(passed).toEqual(expectedNames(host, upstream))
      } finally {
        await connection.close()
        await served.close()
        await server.close()
      }
    },
    120_000,
  )
})
