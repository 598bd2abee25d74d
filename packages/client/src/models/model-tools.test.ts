import type { JsonObject, Tool } from '@x/schema'
import { createServer, tool } from '@x/server'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type CallOptions, ClientError, createClient } from '../index.ts'
import { anthropicTools, openaiTools, type ToolSource } from './index.ts'

const empty = { type: 'object' } as const

/** Lists tools with these definitions, and records the calls. */
function sourceOf(tools: readonly Tool[]): ToolSource & { calls: unknown[] } {
  const calls: unknown[] = []
  return {
    calls,
    listTools: async () => tools,
    callTool: async (name, args) => {
      calls.push([name, args])
      return { resultType: 'complete', content: [] }
    },
  }
}

describe('names', () => {
  test('are those that model APIs accept, each once, and calls have the names of the server', async () => {
    const names = ['a.b', 'a_b', 'a/b', 'é'.repeat(70), 'é'.repeat(71), '']
    const source = sourceOf(names.map((name) => ({ name, inputSchema: empty })))
    const { definitions, run } = await openaiTools(source)
    const long = '_'.repeat(64)
    expect(definitions.map(({ name }) => name)).toEqual(['a_b_2', 'a_b', 'a_b_3', long, `${'_'.repeat(56)}_2`, '_'])
    await run(definitions.map(({ name }) => ({ type: 'function_call', call_id: name, name, arguments: '{}' })))
    expect(source.calls).toEqual(names.map((name) => [name, {}]))
  })

  test('that a server lists twice are those of its first tool', async () => {
    const tools = ['first', 'second'].map((description) => ({ name: 'a', description, inputSchema: empty }))
    const { definitions } = await anthropicTools(sourceOf(tools))
    expect(definitions).toMatchObject([{ name: 'a', description: 'first' }])
  })

  test('of tools for pages alone are left out [APP-006]', async () => {
    const visibilities = [undefined, ['model'], ['model', 'app'], ['app']]
    const source = sourceOf(
      visibilities.map((visibility, index) => ({
        name: `t${index}`,
        inputSchema: empty,
        _meta: { ui: { visibility } },
      })),
    )
    const { definitions } = await anthropicTools(source)
    expect(definitions.map(({ name }) => name)).toEqual(['t0', 't1', 't2'])
  })

  test('of properties are restored in every part of the arguments', async () => {
    const inner = { type: 'object', properties: { größe: { type: 'number' } }, required: ['größe'] }
    const long = 'ä'.repeat(30)
    const properties = { $top: true, [long]: {}, rows: { type: 'array', items: { $ref: '#/$defs/row' } } }
    const source = sourceOf([{ name: 't', inputSchema: { type: 'object', properties, $defs: { row: inner } } }])
    const { definitions, run } = await anthropicTools(source)
    const [listed] = definitions
    const names = Object.keys(listed?.input_schema['properties'] ?? {})
    expect(names).toEqual(['_x0024_top', expect.stringMatching(/^(?:_x00E4_){6}\w{1,22}$/), 'rows'])
    expect(listed?.input_schema['$defs']).toMatchObject({ row: { required: ['gr_x00F6__x00DF_e'] } })
    const input = { _x0024_top: 1, [names[1] ?? '']: 2, rows: [{ gr_x00F6__x00DF_e: 3 }] }
    await run([{ type: 'tool_use', id: 'a', name: 't', input }])
    expect(source.calls).toEqual([['t', { $top: 1, [long]: 2, rows: [{ größe: 3 }] }]])
  })
})

test('no model API gets half of a character, which it would refuse', async () => {
  const half = 'a\ud83d'
  const schema = { type: 'object', properties: { p: { description: half, enum: [half] } } } as const
  const { definitions, run } = await anthropicTools({
    listTools: async () => [{ name: 't', description: half, inputSchema: schema }],
    callTool: async () => ({
      resultType: 'complete',
      content: [
        { type: 'text', text: half },
        { type: 'resource', resource: { uri: `file:///${half}`, blob: '', mimeType: 'application/pdf' } },
      ],
      structuredContent: { half },
    }),
  })
  const results = await run([{ type: 'tool_use', id: 'i', name: 't', input: {} }])
  const sent = JSON.stringify([definitions, results])
  expect(sent).not.toMatch(/\\ud/)
  expect(sent.match(/a\uFFFD/g)).toHaveLength(6)
})

describe('a failed call', () => {
  const context = { method: 'tools/call', target: 't' }
  const rpc = (code: number, data?: JsonObject) => ({ ...context, rpc: { code, message: 'No', ...(data && { data }) } })
  test.each<[string, ClientError, RegExp]>([
    [
      'of the transport may have run',
      new ClientError('transport', 'it broke', context),
      /^tools\/call "t": it broke\nThe tool may have run\./,
    ],
    ['that took too long may have run', new ClientError('timeout', 'no answer', context), /may have run/],
    ['with wrong arguments asks for others', new ClientError('rpc', 'No', rpc(-32602)), /Correct the arguments/],
    [
      'with an argument that no header can have asks for others',
      new ClientError('invalid_arguments', 'No', context),
      /Correct the arguments/,
    ],
    [
      'of a tool that the server does not have points to the list, and does not blame the arguments',
      new ClientError('rpc', 'No', { ...context, rpc: { code: -32602, message: 'Unknown tool "t"' } }),
      /Take a name from the list of tools/,
    ],
    [
      'of a tool whose output schema cannot be used is not repeated',
      new ClientError('schema_refused', 'No', context),
      /Do not try again/,
    ],
    [
      'whose question was lost in a restart does not blame the arguments',
      new ClientError('rpc', 'No', rpc(-32602, { reason: 'requestState' })),
      /The arguments were right\./,
    ],
    ['that is not accepted is not repeated', new ClientError('rpc', 'No', rpc(-32601)), /Do not try again/],
    ['can be repeated', new ClientError('rpc', 'No', rpc(-32603)), /You can try again/],
    [
      'at a busy server is repeated later',
      new ClientError('rpc', 'No', rpc(-32000, { retryAfterMs: 1500 })),
      /after 2 seconds/,
    ],
    [
      'is repeated after a second at least',
      new ClientError('rpc', 'No', rpc(-32000, { retryAfterMs: 100 })),
      /after 1 second\./,
    ],
  ])('%s', async (_, error, text) => {
    const callTool = vi.fn().mockRejectedValue(error)
    const { run } = await openaiTools({ listTools: async () => [{ name: 't', inputSchema: empty }], callTool })
    const [result] = await run([callOf('t', '{}')])
    expect(result?.output).toMatch(/^The call failed:\n\n/)
    expect(String(result?.output).slice('The call failed:\n\n'.length)).toMatch(text)
  })

  test.each([
    ['of a tool that the model invented', callOf('u', '{}'), 'There is no tool "u".'],
    ['whose arguments are no JSON', callOf('t', '{'), 'The arguments are not a JSON object.'],
    ['whose arguments are a list', callOf('t', '[]'), 'The arguments are not a JSON object.'],
  ])('%s has a result, and nothing is sent', async (_, call, text) => {
    const source = sourceOf([{ name: 't', inputSchema: empty }])
    const { run } = await openaiTools(source)
    const [result] = await run([call])
    expect(result?.output).toContain(text)
    expect(source.calls).toEqual([])
  })

  test('of a tool that was listed before says that it is not available now', async () => {
    const listTools = vi.fn()
    const source = { listTools, callTool: vi.fn() }
    for (const names of [['t'], ['u']]) {
      listTools.mockResolvedValueOnce(names.map((name) => ({ name, inputSchema: empty })))
      await openaiTools(source)
    }
    listTools.mockResolvedValueOnce([])
    const { run } = await openaiTools(source)
    const results = await run([callOf('t', '{}'), callOf('u', '{}'), callOf('v', '{}')])
    expect(results.map(({ output }) => String(output))).toEqual([
      expect.stringContaining('The tool "t" is not available now'),
      expect.stringContaining('The tool "u" is not available now'),
      expect.stringContaining('There is no tool "v"'),
    ])
    expect(source.callTool).not.toHaveBeenCalled()
  })

  test('rejects if the caller cancelled it, or a function of the caller threw', async () => {
    const ask = tool('ask', {
      description: 'Asks',
      run: async (_, ctx) =>
        JSON.stringify(await ctx.elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) })),
    })
    const wait = tool('wait', { description: 'Waits', run: () => new Promise<string>(() => {}) })
    const server = createServer({ name: 'demo', version: '1.0.0', tools: [ask, wait] })
    const { run } = await anthropicTools(createClient(server, { name: 'host', version: '1.0.0' }))
    const callNamed = (name: string, options: CallOptions) =>
      run([{ type: 'tool_use', id: name, name, input: {} }], options)
    const cancelled = new Error('cancelled')
    await expect(callNamed('wait', { signal: AbortSignal.abort(cancelled) })).rejects.toBe(cancelled)
    const broken = new Error('broken')
    const elicit = () => Promise.reject(broken)
    await expect(callNamed('ask', { elicit })).rejects.toBe(broken)
  })
})

function callOf(name: string, args: string): { type: string } {
  return Object.assign({ type: 'function_call' }, { call_id: name, name, arguments: args })
}
