import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { readFile } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { bundleProgram } from './child-program.ts'

// A client on a busy machine may still read both in one chunk, so one call with all progress is enough.
test('the official client receives progress that a tool reports just before its result over stdio', async () => {
  await using program = await bundleProgram(new URL('./programs/progress-at-end.ts', import.meta.url))
  const client = new Client({ name: 'v1', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program.path] }))
  const received: number[] = []
  for (let call = 0; call < 10; call += 1) {
    let count = 0
    const onprogress = (): void => void (count += 1)
    await client.callTool({ name: 'report', arguments: {} }, undefined, { onprogress })
    received.push(count)
  }
  await client.close()
  expect(received).toContain(3)
})

test('the official client of the guide answers the question of a tool', async () => {
  const print = vi.spyOn(console, 'log').mockReturnValue(undefined)
  const program = './programs/sdk-client.mjs'
  await import(program)
  const output = await readFile(new URL('./programs/sdk-client.txt', import.meta.url), 'utf8')
  expect(print.mock.calls.join('\n')).toBe(output.trimEnd())
})
