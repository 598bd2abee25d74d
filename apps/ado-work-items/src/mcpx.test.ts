import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isJsonObject, type JsonObject } from '@x/schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBuilt, command, endStarted } from './testing/start-app.ts'

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
