import { recordTelemetry } from '@tooling/vitest/telemetry-recorder'
import type { Call } from '@x/exchange'
import { type JsonObject, metaKeys, projectMetaKeys } from '@x/schema'
import { telemetry } from '@x/server/otel'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { send } from './raw-request.ts'
import {
  ada,
  answer,
  callTool,
  compareWays,
  direct,
  type Rule,
  Seen,
  serve,
  through,
  type Way,
} from './searched-server.ts'
import { effects, plain } from './searched-tools.ts'

const once =
  (name: string, args?: JsonObject, more: { meta?: JsonObject; principal?: Call['principal'] } = { principal: ada }) =>
  async (way: Way, seen: Seen): Promise<void> =>
    void (await callTool(serve(seen).exchange, way(name, args), { seen, ...more }))

const rules: readonly Rule[] = [
  ['structured output', '"structuredContent":{"text":"Hello, Ada!"}', once('greet', { name: 'Ada' })],
  ['validation of arguments', 'Invalid arguments', once('greet', { name: 7 })],
  ['an error of a tool', 'It failed', once('fail')],
  ['an error that only the log has', 'secret', once('break')],
  ['visibleTo, for a caller who may not see', 'Unknown tool', once('hidden')],
  ['visibleTo, for a caller who may', 'seen', once('hidden', undefined, { principal: { subject: 'root' } })],
  ['an unknown tool', 'Unknown tool', once('nothing')],
  ['requireScopes, without the scope', 'insufficient_scope', once('guarded')],
  ['requireScopes, with it', 'ran', once('guarded', {}, { principal: { ...ada, scopes: ['admin'] } })],
  ['a task', '"resultType":"task"', once('ship')],
  [
    'progress and logs',
    'half',
    once('copy', {}, { meta: { progressToken: 'p', [metaKeys.logLevel]: 'info' }, principal: ada }),
  ],
  ['a tool with a page', 'drawn', once('chart')],
  [
    'a question, answered at another instance',
    'Hello, Ada!',
    async (way, seen) => {
      const asked = await callTool(serve(seen).exchange, way('ask'), { seen, principal: ada })
      await callTool(
        serve(seen).exchange,
        { ...way('ask'), ...answer(asked, { name: 'Ada' }) },
        { seen, principal: ada },
      )
    },
  ],
  [
    'a question, answered in the other way',
    'Hello, Ada!',
    async (way, seen) => {
      const asked = await callTool(serve(seen).exchange, way('ask'), { seen, principal: ada })
      const other = way === direct ? through : direct
      await callTool(
        serve(seen).exchange,
        { ...other('ask'), ...answer(asked, { name: 'Ada' }) },
        { seen, principal: ada },
      )
    },
  ],
  [
    'elicitUrl',
    'visited',
    async (way, seen) => {
      const asked = await callTool(serve(seen).exchange, way('visit'), { seen, principal: ada })
      await callTool(serve(seen).exchange, { ...way('visit'), ...answer(asked) }, { seen, principal: ada })
    },
  ],
  [
    'keyed effects over HTTP',
    'receipt 1',
    async (way, seen) => {
      effects.paid = 0
      await using http = await serveHttp(serve(seen), { auth: () => ada })
      await using connection = connectHttp(http.url)
      const meta = { [projectMetaKeys.idempotencyKey]: 'AAAAAAAAAAAAAAAAAAAAAA' }
      for (const _ of [1, 2]) await callTool(connection.exchange, way('pay'), { seen, meta })
      expect(effects.paid).toBe(1)
    },
  ],
  [
    'cancellation',
    'the user left',
    async (way, seen) => {
      const controller = new AbortController()
      const isRunning = new Promise<void>((resolve) => (effects.started = resolve))
      const call = { signal: controller.signal, principal: ada }
      const running = send(serve(seen).exchange, { method: 'tools/call', params: way('wait') }, call)
      await isRunning
      controller.abort('the user left')
      await running.catch(seen.note)
    },
  ],
]

describe('a call through the search is for every rule a direct call [TSR-001]', () => {
  test.each(rules)('%s', (...rule) => compareWays(rule))

  test('telemetry', async () => {
    const spans = []
    for (const way of [direct, through]) {
      using recorder = recordTelemetry()
      const seen = new Seen()
      await callTool(serve(seen, { extensions: [...plain(), telemetry()] }).exchange, way('greet', { name: 'Ada' }), {
        seen,
      })
      spans.push(recorder.spans().map(({ name, attributes, events }) => ({ name, attributes, events })))
    }
    expect(spans[0]).toMatchObject([{ name: 'tools/call greet' }])
    expect(spans[1]).toEqual(spans[0])
  })
})
