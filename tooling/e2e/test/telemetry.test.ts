import { metrics } from '@opentelemetry/api'
import { findFreePort } from '@tooling/real-servers/free-port'
import { createClient } from '@x/client'
import { tool } from '@x/server'
import pino from 'pino'
import { afterAll, expect, test, vi } from 'vitest'
import { createObservedServer, servePrometheus, writeLine } from './programs/telemetry-recipes.ts'

const canary = 'canary-of-prometheus'
const lines: string[] = []
const logger = pino({}, { write: (line: string) => void lines.push(line) })

afterAll(() => metrics.disable())

test('Prometheus reads the metrics of a server, and pino writes its failed calls', async () => {
  const port = await findFreePort()
  const exporter = servePrometheus(port)
  const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
  const failing = tool('failing', {
    description: 'Fails',
    run: () => {
      throw new Error('The database is unreachable')
    },
  })
  const server = createObservedServer({ name: 'demo', version: '1.0.0', tools: [greet, failing] }, logger)
  const client = createClient(server, { name: 'e2e', version: '1.0.0' })
  await client.callTool('greet')
  await client.callTool('failing')
  await client.callTool(canary).catch(() => {})
  const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text())
  await exporter.shutdown()
  expect(text).toMatch(/mcp_server_operation_duration_count\{[^}]*gen_ai_tool_name="greet"[^}]*\} 1/)
  expect(text).toMatch(/dev_x_server_runs_total\{[^}]*dev_x_run_end="failed"[^}]*\} 1/)
  expect(text).not.toContain(canary)
  const records = lines.map((line) => JSON.parse(line))
  expect(records).toMatchObject([
    { level: 50, method: 'tools/call', name: 'failing', err: { message: 'The database is unreachable' } },
  ])
  expect(records).toHaveLength(1)
})

test('a line of JSON has the stack and the causes of an error', () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  const err = new Error('The database is unreachable', { cause: new Error('ECONNREFUSED') })
  writeLine({ level: 'error', message: 'Failed', err })
  const [[line] = []] = print.mock.calls
  print.mockRestore()
  expect(JSON.parse(String(line))).toMatchObject({
    level: 'error',
    message: 'Failed',
    err: expect.stringMatching(/database is unreachable[^]*at [^]*ECONNREFUSED/),
  })
})
