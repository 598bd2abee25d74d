import type { IncomingMessage } from 'node:http'
import type { RequestView } from '@x/transport-http/node'
import { expect, test, vi } from 'vitest'
import type { LogRecord } from '@x/core'
import { createGateway, resultOf } from '../testing/gateway-kit.ts'
import { createUpstream } from './create-upstream.ts'
import { describeIssues, gatewayFile } from './file-schema.ts'
import { createOperation, readPort } from './operation.ts'
import { SecretReader } from './secret-reader.ts'

const minimal = {
  name: 'company',
  state: { keys: { env: 'KEYS' } },
  upstreams: { crm: { url: 'https://crm.example' } },
}

test('a file has the times of a stop, and the header with the address of clients', () => {
  const listen = { noticeMs: 3000, graceMs: 1500, clientAddress: 'x-forwarded-for' }
  const { http, log } = createOperation(gatewayFile.parse({ ...minimal, listen }))
  expect([http.stopOnSignals, log]).toEqual([{ noticeMs: 3000, graceMs: 1500 }, undefined])
  const addressOf = (value: string | undefined): string | undefined =>
    http.clientAddress?.({ header: () => value } as unknown as RequestView<IncomingMessage>)
  expect(['invented, 203.0.113.7', undefined].map(addressOf)).toEqual(['203.0.113.7', undefined])
})

test('a log of JSON has a line with time and level for each record', () => {
  const { log } = createOperation(gatewayFile.parse({ ...minimal, log: 'json' }))
  const write = vi.spyOn(console, 'error').mockImplementation(() => {})
  const err = new Error('no\nconnection', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
  log?.({ level: 'error', message: 'Error: no', name: 'crm', err })
  log?.({ level: 'warn', message: 'withheld', code: 'tool_withheld', err: 'text' })
  const lines = write.mock.calls.map(([line]) => String(line))
  write.mockRestore()
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { time: expect.any(String), level: 'error', name: 'crm', err: { type: 'Error', cause: { code: 'ECONNREFUSED' } } },
    { level: 'warn', code: 'tool_withheld', err: { message: 'text' } },
  ])
  expect(lines.join('')).not.toContain('\n')
})

test('what a program writes to stderr becomes records of a log of JSON', async () => {
  const records: LogRecord[] = []
  const source = {
    folder: '.',
    secrets: new SecretReader('.', {}),
    log: (record: LogRecord) => void records.push(record),
  }
  const program = { command: process.execPath, args: ['-e', 'console.error("hello")'] }
  const server = createGateway({ own: await createUpstream('own', program, source) })
  await resultOf(server, 'tools/list')
  const hello = { level: 'info', name: 'own', code: 'upstream_stderr', message: 'hello' }
  await expect.poll(() => records).toContainEqual(hello)
  await server.close()
})

test('the port may be in a variable', async () => {
  const { listen } = gatewayFile.parse({ ...minimal, listen: { port: { env: 'PORT' } } })
  expect(await readPort(listen, new SecretReader('.', { PORT: '8080' }))).toBe(8080)
})

test.each(['70000', '1e3', '-1', '3000.5'])('a variable with the port %s is a problem of the file', async (PORT) => {
  const secrets = new SecretReader('.', { PORT })
  await readPort({ port: { env: 'PORT' } }, secrets)
  expect(secrets.problems).toEqual(['listen.port: the variable PORT must be a number from 0 to 65535'])
})

test.each([
  [{ listen: { noticeMs: '3s' } }, 'listen.noticeMs: must be a whole number of milliseconds, such as 60000'],
  [{ listen: { grace: 3000 } }, 'Unrecognized key: "grace" (did you mean "graceMs"?)'],
  [{ listen: { clientAddress: 'x forwarded' } }, 'listen.clientAddress: must be the name of a header'],
  [{ listen: { port: '3000' } }, 'listen.port: must be a number from 0 to 65535, or { "env": NAME }'],
  [{ log: 'yaml' }, 'log: must be "json", or left out for lines of text'],
])('%j is a problem of the file', (more, problem) => {
  const { error } = gatewayFile.safeParse({ ...minimal, ...more })
  expect(error && describeIssues(error)).toEqual([expect.stringContaining(problem)])
})
