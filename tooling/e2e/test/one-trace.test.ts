import { readFile } from 'node:fs/promises'
import { context, metrics, SpanKind, trace } from '@opentelemetry/api'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { createClient } from '@x/client'
import { telemetry } from '@x/client/otel'
import { tasksClient } from '@x/tasks/client'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Instance, startInstance, stopInstances } from './balanced-processes.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { type ReceivedSpan, startCollector } from './collector.ts'
import { exportOtlp } from './programs/telemetry-recipes.ts'

let database: RealPostgres
let program: ChildProgram

beforeAll(async () => {
  database = await startPostgres()
  program = await bundleProgram(new URL('./programs/traced-instance.ts', import.meta.url))
})

afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
  await database?.close()
})

test('a call that asks, is handed off, becomes a task and ends at a third process is one trace [OPS-003]', async () => {
  await using collector = await startCollector()
  const endExport = exportOtlp(collector.urlOf('client'))
  const start = (NAME: string, settings: NodeJS.ProcessEnv = {}): Promise<Instance> =>
    startInstance(program.path, { DATABASE_URL: database.url, COLLECTOR: collector.urlOf(NAME), NAME, ...settings })
  const first = await start('first', { HANDS_OFF: 'yes' })
  const second = await start('second')
  const third = await start('third', { RUNS_TASKS: 'yes' })
  const callPorts = [first.port, first.port, second.port]
  await using connection = connectHttp('http://127.0.0.1:1/mcp', {
    // The first process receives the call and its answer. The second process receives the call after the hand-off.
    fetch: (_, init) => {
      const isCall = new Headers(init?.headers).get('mcp-method') === 'tools/call'
      return fetch(`http://127.0.0.1:${(isCall && callPorts.shift()) || third.port}/mcp`, init)
    },
  })
  const client = createClient(connection, {
    name: 'e2e-client',
    version: '1.0.0',
    elicit: () => ({ action: 'accept', content: { site: 'docs' } }),
    extensions: [telemetry(), tasksClient()],
  })
  const { content } = await client.callTool('publish')
  expect(content).toEqual([{ type: 'text', text: 'Published docs' }])
  await stopInstances([first, second, third])

  await endExport()
  for (const api of [trace, metrics, context]) api.disable()

  // A process sends its spans in batches, so they arrive in no order.
  const spans = collector.spans.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect([...collector.metrics]).toEqual(
    expect.arrayContaining([
      'mcp.client.operation.duration',
      'mcp.server.operation.duration',
      'dev.x.tasks.attempt.duration',
    ]),
  )
  const call = spans.find(({ parentId }) => parentId === undefined)
  // The number of polls depends on the duration of the task. Each poll is a request of the call.
  const polls = spans.filter(({ name, kind }) => name === 'tasks/get' && kind === SpanKind.CLIENT)
  expect(new Set(polls.map(({ parentId }) => parentId))).toEqual(new Set([call?.spanId]))
  const drawn = await readFile(new URL('./programs/span-tree.txt', import.meta.url), 'utf8')
  expect(formatTree(spans.filter(({ name }) => name !== 'tasks/get')).join('\n')).toBe(drawn.trimEnd())
})

/**
 * Returns a line for each span below its parent, in their order. A span with an unknown parent fails the
 * test.
 */
function formatTree(spans: readonly ReceivedSpan[]): readonly string[] {
  const childrenOf = (parentId: string | undefined, indent: string): readonly string[] =>
    spans
      .filter((span) => span.parentId === parentId)
      .flatMap((span) => [`${indent}${formatSpan(span, spans)}`, ...childrenOf(span.spanId, `${indent}  `)])
  const lines = childrenOf(undefined, '')
  expect(lines).toHaveLength(spans.length)
  return lines
}

function formatSpan(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string {
  const { process, kind, name, attributes, linkedIds } = span
  const attempt = attributes['dev.x.task.attempt']
  const links = linkedIds.flatMap((id) => spans.filter(({ spanId }) => spanId === id))
  expect(links).toHaveLength(linkedIds.length)
  return [
    `${process} ${SpanKind[kind]} ${name}${detailOf(span)}`,
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...links.map((linked) => `linked to ${linked.process}${detailOf(linked)}`),
  ].join(', ')
}

function detailOf({ attributes }: ReceivedSpan): string {
  const detail = attributes['dev.x.run.end'] ?? attributes['dev.x.step.key']
  return detail === undefined ? '' : `: ${detail}`
}
