import { createHash } from 'node:crypto'
import { recordTelemetry } from '@tooling/vitest/telemetry-recorder'
import { createClient } from '@x/client'
import { telemetry as clientTelemetry } from '@x/client/otel'
import { createServer, tool } from '@x/server'
import { callLog } from '@x/server/log'
import { telemetry } from '@x/server/otel'
import { tasksClient } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { expect, test } from 'vitest'

const info = { name: 'demo', version: '1.0.0' }
const failing = tool('failing', {
  description: 'Fails in the background',
  task: 'required',
  run: () => {
    throw new Error('The database is unreachable')
  },
})

test('no span, metric or log has the id of a task, and the digest joins them [ROB-015]', async () => {
  using recorder = recordTelemetry()
  const records: { readonly err?: unknown }[] = []
  const log = (record: { readonly err?: unknown }): void => void records.push(record)
  const extensions = [telemetry(), callLog({ log }), tasks({ store: memoryEngine() })]
  await using server = createServer({ ...info, tools: [failing], log, extensions })
  const ids: string[] = []
  const follow = tasksClient({ polling: { defaultMs: 20, minMs: 5 }, onTask: ({ taskId }) => void ids.push(taskId) })
  const client = createClient(server, { ...info, extensions: [clientTelemetry(), follow] })
  expect(await client.callTool('failing')).toMatchObject({ isError: true })
  const spans = recorder
    .spans()
    .map(({ name, attributes, events, links, status }) => ({ name, attributes, events, links, status }))
  const text = JSON.stringify([spans, await recorder.points(), records, records.map(({ err }) => String(err))])
  const [id = 'no task'] = ids
  expect(ids).toHaveLength(1)
  expect(text).not.toContain(id)
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16)
  expect(records.filter(({ err }) => err !== undefined)).toMatchObject([
    { level: 'error', taskId: digest, requestId: digest },
  ])
  expect(spans.filter(({ attributes }) => attributes['jsonrpc.request.id'] === digest)).toHaveLength(1)
})
