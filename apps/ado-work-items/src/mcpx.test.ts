import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isJsonObject, type JsonObject } from '@x/schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveOrganization } from './testing/organization.ts'
import { checkBuilt, command, endStarted, start } from './testing/start-app.ts'

const mcpx = fileURLToPath(new URL('../dist/mcpx.js', import.meta.resolve('@x/cli/terminal')))

beforeAll(checkBuilt)
afterAll(endStarted)

/** Runs the built `mcpx` with `--json`. */
function run(...args: readonly string[]): Promise<{ readonly code: number | null; readonly json: JsonObject }> {
  return new Promise((resolve) => {
    const parameters = ['--conditions=dist', mcpx, ...args, '--json']
    const child = execFile(process.execPath, parameters, { env: command([]).env })
    let output = ''
    child.stdout?.on('data', (text: string) => (output += text))
    child.once('close', (code) => {
      const json: unknown = JSON.parse(output)
      resolve({ code, json: isJsonObject(json) ? json : {} })
    })
  })
}

test('mcpx lists and calls the application over stdio', async () => {
  const { command: program, args } = command(['--stdio'])
  const target = [program, ...args].map((word) => `"${word}"`).join(' ')
  const { json } = await run('list', target)
  expect(json['tools']).toContainEqual(expect.objectContaining({ name: 'get_work_item' }))
  const called = await run('call', target, 'get_work_item', '--args', '{"workItemId":4522}')
  expect([called.code, called.json['structuredContent']]).toEqual([0, expect.objectContaining({ id: 4522 })])
})

// The balancer sends each connection to the next instance, so that a walk-through shows all of them.
test('mcpx finds that the balancer closes connections, and no other fault: the instances share their keys', async () => {
  await using service = await serveOrganization()
  const url = await start(['--port', '0'], service.environment).url
  const called = await run('call', url, 'get_work_item', '--args', '{"workItemId":4522}')
  expect([called.code, called.json['structuredContent']]).toEqual([0, expect.objectContaining({ id: 4522 })])
  const asking = { workItemId: 4301, fields: { 'System.State': 'Resolved' } }
  const { code, json } = await run('doctor', url, '--tool', 'update_work_item', '--args', JSON.stringify(asking))
  const checks = Array.isArray(json['checks']) ? json['checks'].filter(isJsonObject) : []
  const wrong = checks.filter(({ status }) => status === 'wrong').map(({ id }) => id)
  expect([code, wrong]).toEqual([1, ['keep-alive']])
  expect(checks).toContainEqual(expect.objectContaining({ id: 'rounds', status: 'ok' }))
})
