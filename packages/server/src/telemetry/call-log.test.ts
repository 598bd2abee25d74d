import type { LogRecord } from '@x/core'
import { createCall, taskAttemptKey, withContext } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createServer, tool } from '../index.ts'
import { type CallRecord, callLog } from '../log.ts'
import { callTool, errorOf, requestOf, sendRequest } from '../testing/ask.ts'

const canary = 'canary-of-the-log'
const failure = new Error('The database is away')

function serveLogged(slowMs?: number, end: () => void = () => {}) {
  const records: CallRecord[] = []
  const logged: LogRecord[] = []
  let time = 0
  const step = (key: string, ms: number, ctx: { step(key: string, work: () => void): Promise<unknown> }) =>
    ctx.step(key, () => void (time += ms))
  const work = tool('work', {
    description: 'Works',
    input: z.object({ secret: z.string().optional() }),
    run: async (_, ctx) => {
      await step('short', 10, ctx)
      await step('long', 30, ctx)
      return 'done'
    },
  })
  const failing = tool('failing', {
    description: 'Fails',
    run: () => {
      throw failure
    },
  })
  const ending = tool('ending', {
    description: 'Is ended while it works',
    run: () => {
      time += 50
      end()
      throw failure
    },
  })
  const asking = tool('asking', {
    description: 'Asks',
    run: async (_, ctx) => {
      await ctx.elicit('a', { message: 'Which?', schema: z.object({ b: z.string() }) })
      return 'done'
    },
  })
  const server = createServer({
    name: 'demo',
    version: '1.0.0',
    tools: [work, failing, ending, asking],
    strictReplay: false,
    runtime: { monotonicNow: () => time as never },
    log: (record) => void logged.push(record),
    extensions: [callLog({ log: (record) => void records.push(record), ...(slowMs !== undefined && { slowMs }) })],
  })
  return { server, records, logged }
}

describe('The log of calls', () => {
  test('has a record for a call that is slow, with its slowest step', async () => {
    const { server, records } = serveLogged(40)
    await callTool(server, 'work', { secret: canary }, { id: 7, principal: { subject: 'ada' } })
    expect(records).toEqual([
      {
        level: 'warn',
        message: 'tools/call "work" took 40 ms',
        code: 'slow',
        method: 'tools/call',
        name: 'work',
        requestId: 7,
        principal: 'ada',
        taskId: undefined,
        traceId: undefined,
        durationMs: 40,
        round: 0,
        steps: 2,
        handOffs: 0,
        slowestStep: { key: 'long', ms: 30 },
      },
    ])
  })

  test('has no error for a slow call that was cancelled, or released by an instance that stops', async () => {
    const controller = new AbortController()
    const { server, records } = serveLogged(40, () => controller.abort(new Error('released')))
    const call = createCall({ signal: controller.signal })
    await expect(server.exchange(requestOf('tools/call', { name: 'ending' }), call)).rejects.toThrow('released')
    expect(records).toMatchObject([{ code: 'slow', durationMs: 50 }])
    expect(records[0]).not.toHaveProperty('err')
  })

  test('has no record for the run of a task, however long it takes', async () => {
    const { server, records } = serveLogged(40)
    const { context } = withContext(createCall(), taskAttemptKey, { taskDigest: 'a1b2', attempt: 1 })
    await callTool(server, 'work', {}, { context })
    expect(records).toEqual([])
  })

  test('names the tool, the capability and the page for a client that cannot answer, without an error', async () => {
    const { server, records } = serveLogged()
    await errorOf(server, 'tools/call', { name: 'asking' })
    expect(records).toMatchObject([
      {
        level: 'warn',
        code: '-32021',
        message: expect.stringMatching(
          /^tools\/call "asking" needs elicitation\.form, which its client .*does not declare \(-32021\)$/,
        ),
      },
    ])
    expect(records[0]).not.toHaveProperty('err')
  })

  test('has no record for a call that is fast, and for a mistake of the caller', async () => {
    const { server, records } = serveLogged()
    await callTool(server, 'work')
    await errorOf(server, 'tools/call', { name: 'invented' })
    await errorOf(server, 'com.example/invented')
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' }
    expect(await errorOf(server, 'server/discover', {}, { meta })).toMatchObject({ code: -32022 })
    expect(records).toEqual([])
  })

  test('says of invalid arguments that they are, without quoting them', async () => {
    const { server, records } = serveLogged()
    await callTool(server, 'work', { secret: 7 })
    expect(records).toMatchObject([
      { level: 'warn', code: 'tool_error', message: 'tools/call "work" got invalid arguments' },
    ])
  })

  test('is not written for an error that the log of the server has, with the request, the task and the trace', async () => {
    const { server, records, logged } = serveLogged()
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const { context } = withContext(createCall(), taskAttemptKey, { taskDigest: 'a1b2', attempt: 2 })
    await callTool(
      server,
      'failing',
      {},
      { id: 'a', context, meta: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } },
    )
    const joined = { requestId: 'a', taskId: 'a1b2', traceId, method: 'tools/call', name: 'failing', err: failure }
    expect(logged).toMatchObject([{ level: 'error', ...joined }])
    // The record of the server has the stack, and there is no second line for the same failure.
    expect(records).toEqual([])
  })

  test('contains no argument, result or token [OPS-001]', async () => {
    const { server, records } = serveLogged(0)
    const principal = { subject: 'ada', claims: { token: canary } }
    await sendRequest(
      server,
      'tools/call',
      { name: 'work', arguments: { secret: canary } },
      { principal, meta: { secret: canary } },
    )
    await sendRequest(server, 'tools/call', { name: canary, arguments: {} }, { principal })
    expect(records).toHaveLength(2)
    expect(JSON.stringify(records)).not.toContain(canary)
  })

  test('that throws is reported, and the request keeps its response', async () => {
    const logged: LogRecord[] = []
    const log = () => {
      throw new Error('disk full')
    }
    const echo = tool('echo', { description: 'Repeats', run: () => 'done' })
    const extensions = [callLog({ log, slowMs: 0 })]
    const logRecord = (record: LogRecord) => void logged.push(record)
    const server = createServer({ name: 'demo', version: '1.0.0', tools: [echo], log: logRecord, extensions })
    expect(await callTool(server, 'echo')).toMatchObject({ content: [{ text: 'done' }] })
    expect(logged).toMatchObject([{ method: 'callLog', err: { message: 'disk full' } }])
  })
})
