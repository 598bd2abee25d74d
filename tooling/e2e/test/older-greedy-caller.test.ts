import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { bundleProgram } from './child-program.ts'

/** Connects a client of 2025-11-25 with an address in the header `x-caller`. */
async function connect(url: string, caller: string) {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-caller': caller,
  }
  const post = (body: object, session?: string, signal?: AbortSignal): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      headers: { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) },
      ...(signal && { signal }),
    })
  const clientInfo = { name: 'caller', version: '1.0.0' }
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo }
  const session = (await post({ id: 0, method: 'initialize', params })).headers.get('mcp-session-id') ?? ''
  const call = (id: number, text: string, signal?: AbortSignal): Promise<Response> =>
    post({ id, method: 'tools/call', params: { name: 'ask', arguments: { text } } }, session, signal)
  return { call, answer: (id: string) => post({ id, result: { action: 'accept', content: { name: 'Ada' } } }, session) }
}

/** Reads a stream until its text matches a pattern. */
async function readUntil({ body }: Response, pattern: RegExp): Promise<RegExpExecArray> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const match = pattern.exec(text)
    if (match !== null) return match
  }
  throw new Error(`The stream has ended: ${text}`)
}

test('a process with a small heap survives 120 abandoned calls of a megabyte and serves an honest client [LDG-002 LDG-006]', {
  timeout: 120_000,
}, async () => {
  await using program = await bundleProgram(new URL('./programs/greedy-target.ts', import.meta.url))
  const child = spawn(process.execPath, ['--max-old-space-size=128', program.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const url = `http://127.0.0.1:${port}/mcp`
    const greedy = await connect(url, '192.0.2.66')
    const text = 'x'.repeat(1_048_576)
    const statuses = new Map<number, number>()
    for (let id = 1; id <= 120; id += 1) {
      const controller = new AbortController()
      const response = await greedy.call(id, text, controller.signal)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      controller.abort()
      await response.body?.cancel().catch(() => {})
    }
    expect([...statuses.keys()].toSorted()).toEqual([200, 429])
    const honest = await connect(url, '192.0.2.1')
    const stream = await honest.call(1, 'short')
    const [, question = ''] = await readUntil(stream, /"id":"([^"]+)","method":"elicitation\/create"/)
    expect((await honest.answer(question)).status).toBe(202)
    expect(child.exitCode).toBeNull()
  } finally {
    child.kill('SIGKILL')
  }
})
