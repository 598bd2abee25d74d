import { type Clock, platformRuntime } from '@x/core'
import { createClient } from '@x/client'
import { isRequest, type JsonObject, type RpcMessage, type RpcRequest, type RpcResponse } from '@x/schema'
import { createGate } from '@tooling/vitest/gate'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { LegacyError } from '../calls/legacy-error.ts'
import type { Port } from '../calls/port.ts'
import { legacyRevisions } from '../../translate/revisions.ts'
import { createSettings } from '../options.ts'
import { StatefulConnection } from './connection.ts'
import type { ServerProcess, Transport } from './transport.ts'

const host = { name: 'host', version: '1.0.0' }
const probeTimeoutMs = 7
const handshakeTimeoutMs = 30_000
const modernResult = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete' }
const initializeResult = { protocolVersion: '2025-11-25', capabilities: { tools: {} } }

/**
 * The answers of a server by method: a result, an error code, `undefined` for silence, or what a function makes of it.
 */
type Answers = Readonly<
  Record<string, (count: number) => JsonObject | number | Error | undefined | Promise<JsonObject>>
>

interface Script {
  readonly answers?: Answers
  readonly isProcess?: boolean
  /** Default: a clock on which only the limit of the probe passes. */
  readonly clock?: Clock
  readonly revision?: 'probe' | '2026-07-28' | 'older'
  readonly remembered?: string
  readonly sessionKeyOf?: (request: RpcRequest) => string
}

const olderServer: Answers = {
  'server/discover': () => -32_601,
  initialize: () => initializeResult,
  'tools/list': () => ({ tools: [] }),
}

/** Connects to a server that is a table of answers. `sent` has the methods that reached it, in order. */
function connect({ answers = olderServer, isProcess = false, revision = 'probe', ...script }: Script = {}) {
  const sent: string[] = []
  const counts = new Map<string, number>()
  const answer = async (request: RpcRequest): Promise<RpcResponse> => {
    const count = (counts.get(request.method) ?? 0) + 1
    counts.set(request.method, count)
    sent.push(request.method)
    const given = await answers[request.method]?.(count)
    if (given === undefined) return new Promise(() => {})
    if (given instanceof Error) throw given
    if (typeof given === 'number') return { jsonrpc: '2.0', id: request.id, error: { code: given, message: 'no' } }
    return { jsonrpc: '2.0', id: request.id, result: given }
  }
  const createPort = (): Port => ({
    send: answer,
    notify: async (message: RpcMessage) =>
      void (isRequest(message) || sent.push('method' in message ? message.method : '')),
    listen: async () => undefined,
    end: async () => void sent.push('end'),
    begin: () => void sent.push('begin'),
  })
  let endProcess = (): void => {}
  const process: ServerProcess = {
    view: { pid: 1, restartCount: 0, kill: () => {} },
    probeTimeoutMs,
    isExit: (error) => error instanceof Error && error.message === 'exited',
    replace: async () => void sent.push('replace'),
  }
  const transport: Transport = {
    exchange: answer,
    onStateChange: () => () => {},
    hasOpenLogin: () => false,
    notify: async ({ method }) => void sent.push(method),
    process: isProcess ? process : undefined,
    sessionKeyOf: async (request) => script.sessionKeyOf?.(request) ?? '',
    open: (_, negotiate) => negotiate(createPort()),
    createError: (code, message) => new Error(`${code}: ${message}`),
    isRefusal: (outcome) => typeof outcome === 'object' && outcome !== null && 'error' in outcome,
    close: async () => void sent.push('close'),
  }
  const detectedRevisions = new Map<string, string>(script.remembered ? [['server', script.remembered]] : [])
  let loads = 0
  // That of a handshake would be a race with the machine that runs the test. No timer is late, because the time stands
  // still: a late one gets another 50 ms, which do not pass here.
  const probeClock = {
    ...platformRuntime,
    monotonicNow: () => 0,
    setTimeout: (run: () => void, ms: number) =>
      ms <= probeTimeoutMs ? platformRuntime.setTimeout(run, 0) : undefined,
  }
  const connection = new StatefulConnection({
    url: 'test:server',
    serverKey: 'server',
    canMixPrincipals: false,
    revision,
    sessionRevisions: legacyRevisions,
    detectedRevisions,
    settings: createSettings({ log: () => {}, answerTimeoutMs: 600_000, handshakeTimeoutMs }),
    clock: script.clock ?? probeClock,
    loadTransport: async (onEnd) => {
      loads += 1
      endProcess = onEnd
      return transport
    },
  })
  const client = createClient(connection.exchange, { ...host, cache: false, maxResendMs: 0 })
  return { connection, client, sent, detectedRevisions, endProcess: () => endProcess(), loads: () => loads }
}

describe('a connection', () => {
  test('loads nothing before its first request, and nothing after its end', async () => {
    const { connection, client, loads } = connect()
    expect([connection.peer, connection.process, loads()]).toEqual([undefined, undefined, 0])
    await connection.close()
    await expect(client.listTools()).rejects.toThrow('the connection was closed here')
    expect(loads()).toBe(0)
  })

  test('detects the revision once, and begins one session for calls at once [VER-007 LEG-001]', async () => {
    const { connection, client, sent, detectedRevisions } = connect()
    await Promise.all([client.listTools(), client.listTools()])
    await client.listTools()
    expect(sent).toEqual([
      'server/discover',
      'initialize',
      'begin',
      'notifications/initialized',
      'tools/list',
      'tools/list',
      'tools/list',
    ])
    expect(connection.peer).toMatchObject({ revision: '2025-11-25' })
    expect(detectedRevisions.get('server')).toBe('2025-11-25')
    await connection.close()
    expect(sent.slice(-2)).toEqual(['end', 'close'])
  })

  test('to a server of 2026-07-28 sends requests as they are [VER-007]', async () => {
    const answers = { ...olderServer, 'server/discover': () => modernResult }
    const { connection, client, sent, detectedRevisions } = connect({ answers })
    await client.discover()
    await client.discover()
    expect(sent).toEqual(['server/discover', 'server/discover', 'server/discover'])
    expect([connection.peer, detectedRevisions.get('server')]).toEqual([{ revision: '2026-07-28' }, '2026-07-28'])
    await connection.close()
    expect(sent.at(-1)).toBe('close')
  })

  test('begins a session anew that the server forgot, once, and sends the request again [LEG-046]', async () => {
    const answers = { ...olderServer, 'tools/list': () => new LegacyError('session_ended', 'forgotten') }
    const { client, sent } = connect({ answers })
    await expect(client.listTools()).rejects.toThrow('forgotten')
    expect(sent.filter((method) => method === 'initialize')).toHaveLength(2)
    expect(sent.filter((method) => method === 'tools/list')).toHaveLength(2)
  })

  test('has a session for each principal [LDG-009]', async () => {
    let principal = 'ada'
    const { client, sent } = connect({ revision: 'older', sessionKeyOf: () => principal })
    await client.listTools()
    principal = 'grace'
    await client.listTools()
    principal = 'ada'
    await client.listTools()
    expect(sent.filter((method) => method === 'initialize')).toHaveLength(2)
  })

  test('asks again at the next call where the answer says nothing of the revision [LEG-084]', async () => {
    const answers: Answers = {
      ...olderServer,
      'server/discover': (count) => (count === 1 ? new Error('no connection') : -32_601),
    }
    const { connection, client } = connect({ answers })
    await expect(client.listTools()).rejects.toThrow('no connection')
    expect(connection.peer).toBeUndefined()
    await client.listTools()
    expect(connection.peer).toMatchObject({ revision: expect.stringMatching(/^202[45]-/) })
  })
})

describe('a remembered revision that is wrong', () => {
  test('of an older server is corrected when it refuses initialize [LEG-083]', async () => {
    const answers: Answers = { ...olderServer, 'server/discover': () => modernResult, initialize: () => -32_601 }
    const { client, sent, detectedRevisions } = connect({ answers, remembered: '2025-11-25' })
    await client.discover()
    expect(sent.slice(0, 2)).toEqual(['initialize', 'end'])
    expect(detectedRevisions.get('server')).toBe('2026-07-28')
  })

  test('of 2026-07-28 is corrected when a request is refused as older servers do [LEG-083]', async () => {
    const answers: Answers = { ...olderServer, 'tools/list': (count) => (count === 1 ? -32_000 : { tools: [] }) }
    const { client, sent, detectedRevisions } = connect({ answers, remembered: '2026-07-28' })
    expect(await client.listTools()).toEqual([])
    expect(sent.slice(0, 3)).toEqual(['tools/list', 'server/discover', 'initialize'])
    expect(detectedRevisions.get('server')).toBe('2025-11-25')
  })

  test.each(['2026-07-28', 'older'] as const)(
    'is not corrected where the host names the revision %s',
    async (revision) => {
      const answers: Answers = {
        ...olderServer,
        initialize: () => -32_602,
        'server/discover': () => modernResult,
        'tools/list': () => -32_000,
      }
      const { client, sent } = connect({ answers, revision })
      await expect(client.listTools()).rejects.toMatchObject({ code: 'rpc' })
      expect(sent).not.toContain('server/discover')
    },
  )
})

describe('a server that is a process', () => {
  test('is sent initialize as well when it is silent at the probe [LEG-085]', async () => {
    const answers = { ...olderServer, 'server/discover': () => undefined }
    const { connection, client, sent } = connect({ answers, isProcess: true })
    await client.listTools()
    expect(sent).not.toContain('replace')
    expect(connection.peer).toMatchObject({ revision: expect.stringMatching(/^202[45]-/) })
  })

  test('is of 2026-07-28 when it answers the probe late, although it refuses initialize [LEG-083]', async () => {
    let answerProbe = (): void => {}
    const answers: Answers = {
      ...olderServer,
      'server/discover': (count) =>
        count > 1
          ? modernResult
          : new Promise((resolve) => {
              answerProbe = () => resolve(modernResult)
            }),
      initialize: () => {
        setImmediate(() => answerProbe())
        return -32_601
      },
    }
    const { connection, client } = connect({ answers, isProcess: true })
    await client.discover()
    expect(connection.peer).toEqual({ revision: '2026-07-28' })
  })

  test('is replaced when it ends at the probe, and the next one is sent initialize first [LEG-085]', async () => {
    const answers = { ...olderServer, 'server/discover': () => new Error('exited') }
    const { client, sent } = connect({ answers, isProcess: true })
    await client.listTools()
    expect(sent.slice(0, 3)).toEqual(['server/discover', 'replace', 'initialize'])
  })

  test('that starts slowly is kept, for as long as a handshake may take', async () => {
    const clock = manualClock()
    const started = createGate()
    const answerLate = async (result: JsonObject): Promise<JsonObject> => {
      await started.opened
      return result
    }
    const answers: Answers = {
      ...olderServer,
      'server/discover': () => undefined,
      initialize: () => answerLate(initializeResult),
    }
    const { client, sent } = connect({ answers, isProcess: true, clock })
    const tools = client.listTools()
    await expect.poll(() => sent).toEqual(['server/discover'])
    clock.advance(probeTimeoutMs)
    await expect.poll(() => sent).toEqual(['server/discover', 'initialize'])
    clock.advance(handshakeTimeoutMs - 1)
    started.open()
    expect(await tools).toEqual([])
    expect(sent).not.toContain('replace')
  })

  test('is replaced when it answers neither the probe nor initialize [LEG-085]', async () => {
    const clock = manualClock()
    const answers: Answers = {
      ...olderServer,
      'server/discover': () => undefined,
      initialize: (count) => (count === 1 ? undefined : initializeResult),
    }
    const { client, sent } = connect({ answers, isProcess: true, clock })
    const tools = client.listTools()
    await expect.poll(() => sent).toEqual(['server/discover'])
    clock.advance(probeTimeoutMs)
    await expect.poll(() => sent).toEqual(['server/discover', 'initialize'])
    clock.advance(handshakeTimeoutMs)
    await tools
    expect(sent.slice(0, 4)).toEqual(['server/discover', 'initialize', 'replace', 'initialize'])
  })

  test('that ends again is an error [LEG-084]', async () => {
    const exited = (): Error => new Error('exited')
    const { connection, client, sent } = connect({
      answers: { 'server/discover': exited, initialize: exited },
      isProcess: true,
    })
    await expect(client.listTools()).rejects.toThrow('exited')
    expect(sent).toEqual(['server/discover', 'replace', 'initialize'])
    expect(connection.peer).toBeUndefined()
  })

  test('has a session for each run, without another probe', async () => {
    const { client, sent, endProcess } = connect({ isProcess: true })
    await client.listTools()
    endProcess()
    await client.listTools()
    expect(sent.filter((method) => method === 'initialize')).toHaveLength(2)
    expect(sent.filter((method) => method === 'server/discover')).toHaveLength(1)
  })

  test('of an older revision is refused where the host names 2026-07-28', async () => {
    const { client, sent } = connect({ isProcess: true, revision: '2026-07-28' })
    await expect(client.listTools()).rejects.toMatchObject({ code: 'unsupported_version' })
    expect(sent).toEqual(['server/discover'])
  })
})

test('the end of a connection rejects a negotiation that waits [LEG-051]', async () => {
  const { connection, client, sent } = connect({ answers: { 'server/discover': () => undefined } })
  const result = client.listTools()
  await expect.poll(() => sent).toEqual(['server/discover'])
  await Promise.all([expect(result).rejects.toThrow('the connection was closed here'), connection.close()])
})
