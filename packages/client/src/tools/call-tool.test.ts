import type { LogRecord } from '@x/core'
import { headerParamsKey } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { describe, expect, test, vi } from 'vitest'
import { createClient } from '../create-client.ts'
import {
  createMinimalTool,
  hostInfo,
  createTextResult,
  createScriptedExchange,
  type ScriptedExchange,
  createToolsPage,
} from '../testing/scripted-exchange.ts'

const region = { type: 'string', 'x-mcp-header': 'Region' }
const withInput = (name: string, properties: JsonObject): JsonObject => ({
  name,
  inputSchema: { type: 'object', properties },
})

const serving = (
  tools: () => readonly JsonObject[],
  answer: () => JsonObject = () => createTextResult('hi'),
): ScriptedExchange =>
  createScriptedExchange(({ request }) => (request.method === 'tools/list' ? createToolsPage(tools()) : answer()))

describe('A tool whose header annotations break the rules', () => {
  test('is written to the console when there is no log', async () => {
    using printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const exchange = serving(() => [withInput('bad', { a: { type: 'string', 'x-mcp-header': '' } })])
    await createClient(exchange, hostInfo).listTools()
    expect(printed.mock.calls.flat()).toEqual([
      expect.stringMatching(/^@x\/client: tools\/list "bad": the tool is left out: .+/),
    ])
  })

  test.each<[string, JsonObject]>([
    ['an empty name', { a: { type: 'string', 'x-mcp-header': '' } }],
    ['a name that is no token', { a: { type: 'string', 'x-mcp-header': 'a\r\nb' } }],
    ['a name used twice', { a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } }],
    ['a number', { a: { type: 'number', 'x-mcp-header': 'A' } }],
    ['a place that cannot be reached', { a: { type: 'array', items: region } }],
  ])(
    'is left out of the list with a warning, for %s [SHT-047 SHT-048 SHT-049 TOL-025 TOL-026]',
    async (_title, properties) => {
      const warnings: LogRecord[] = []
      const exchange = serving(() => [
        createMinimalTool('good'),
        withInput('bad', properties),
        createMinimalTool('fine'),
      ])
      const client = createClient(exchange, { ...hostInfo, log: (record) => void warnings.push(record) })
      expect((await client.listTools()).map(({ name }) => name)).toEqual(['good', 'fine'])
      expect((await client.listTools()).map(({ name }) => name)).toEqual(['good', 'fine'])
      expect(warnings).toMatchObject([{ level: 'warn', code: 'tool_refused', name: 'bad' }])
    },
  )
})

describe('Arguments that headers repeat', () => {
  const headerParamsOf = ({ received }: ScriptedExchange): (object | undefined)[] =>
    received
      .filter(({ request }) => request.method === 'tools/call')
      .map(({ call }) => {
        const values: Record<string, string> = {}
        call.context.get(headerParamsKey)?.forEach((value, name) => void (values[name] = value))
        return call.context.get(headerParamsKey) && values
      })

  test('go with the call of a tool that was listed', async () => {
    const exchange = serving(() => [withInput('sql', { region })])
    const client = createClient(exchange, hostInfo)
    await client.callTool('sql', { region: 'eu' })
    await client.listTools()
    await client.callTool('sql', { region: 'eu' })
    await client.callTool('sql', { region: null })
    expect(headerParamsOf(exchange)).toEqual([undefined, { Region: 'eu' }, {}])
  })

  test('that no header can carry are refused on this side, and nothing is sent [SHT-043 BAS-023]', async () => {
    const exchange = serving(() => [withInput('sql', { count: { type: 'integer', 'x-mcp-header': 'Count' } })])
    const client = createClient(exchange, hostInfo)
    await client.listTools()
    const failure = client.callTool('sql', { count: 2 ** 53 })
    await expect(failure).rejects.toMatchObject({ name: 'ClientError', code: 'invalid_arguments', rpc: undefined })
    expect(exchange.received).toHaveLength(1)
  })

  test('are found anew when the server refuses them, once [SHT-060]', async () => {
    let isNew = false
    const exchange = createScriptedExchange(({ request, call }) => {
      if (request.method === 'tools/list') return createToolsPage([withInput('sql', isNew ? { region } : {})])
      if (isNew && call.context.get(headerParamsKey)?.get('Region') === undefined)
        return { error: { code: -32020, message: 'Header mismatch' } }
      return createTextResult('hi')
    })
    const client = createClient(exchange, hostInfo)
    await client.listTools()
    isNew = true
    expect(await client.callTool('sql', { region: 'eu' })).toEqual(createTextResult('hi'))
    expect(headerParamsOf(exchange)).toEqual([undefined, { Region: 'eu' }])
    await expect(client.callTool('other', { region: 'eu' })).rejects.toMatchObject({ rpc: { code: -32020 } })
    expect(headerParamsOf(exchange)).toHaveLength(4)
  })
})

describe('Structured results', () => {
  const outputSchema = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] }
  const weather = createMinimalTool('weather', { outputSchema })
  const checking = (structured: JsonObject, tool: JsonObject = weather): ReturnType<typeof createClient> => {
    const exchange = serving(
      () => [tool],
      () => ({ ...createTextResult('x'), ...structured }),
    )
    return createClient(exchange, { ...hostInfo, outputSchemaCompiler: compileJsonSchema })
  }

  test('that match the output schema are given, also of a tool that was not listed before [TOL-031]', async () => {
    const client = checking({ structuredContent: { celsius: 20 } })
    expect(await client.callTool('weather')).toMatchObject({ structuredContent: { celsius: 20 } })
  })

  test.each<[string, JsonObject]>([
    ['do not match', { structuredContent: { celsius: 'warm' } }],
    ['are missing', {}],
  ])('that %s are an error on this side [TOL-031 TOL-041]', async (_title, structured) => {
    const failure = checking(structured).callTool('weather')
    await expect(failure).rejects.toMatchObject({ code: 'invalid_output', target: 'weather', rpc: undefined })
  })

  test('are not asked of a call that failed', async () => {
    expect(await checking({ isError: true }).callTool('weather')).toMatchObject({ isError: true })
  })

  test.each<[string, JsonObject]>([
    ['a network reference', { $ref: 'https://evil.test/schema.json' }],
    ['a file reference', { $ref: 'file:///etc/passwd' }],
    ['an unknown dialect', { $schema: 'https://evil.test/dialect', type: 'object' }],
  ])(
    'of a tool whose schema has %s are never waited for: nothing is sent [BAS-041 BAS-044 TOL-042]',
    async (_title, schema) => {
      const warnings: LogRecord[] = []
      const exchange = serving(() => [createMinimalTool('odd', { outputSchema: schema })])
      const log = (record: LogRecord): void => void warnings.push(record)
      const client = createClient(exchange, { ...hostInfo, log, outputSchemaCompiler: compileJsonSchema })
      await expect(client.callTool('odd')).rejects.toMatchObject({ code: 'schema_refused' })
      await expect(client.callTool('odd')).rejects.toMatchObject({ code: 'schema_refused' })
      expect(warnings).toMatchObject([{ level: 'warn', code: 'schema_refused', name: 'odd' }])
      expect(exchange.received.map(({ request }) => request.method)).toEqual(['tools/list'])
    },
  )

  test.each<[string, JsonObject]>([
    ['pattern', { properties: { text: { type: 'string', pattern: '^(a+)+$' } } }],
    ['patternProperties', { patternProperties: { '^(a+)+$': {} } }],
  ])('are not matched with a %s of the server, whose time has no bound [BAS-045]', async (_title, schema) => {
    const text = `${'a'.repeat(60)}!`
    const tool = createMinimalTool('odd', { outputSchema: { type: 'object', ...schema } })
    const structuredContent = { text, [text]: 1 }
    expect(await checking({ structuredContent }, tool).callTool('odd')).toMatchObject({ structuredContent })
  })

  test('of a tool that no list has cost one look at the list', async () => {
    const exchange = serving(() => [])
    const client = createClient(exchange, { ...hostInfo, cache: false, outputSchemaCompiler: compileJsonSchema })
    for (let round = 0; round < 3; round += 1) await client.callTool('hidden')
    const methods = exchange.received.map(({ request }) => request.method)
    expect(methods).toEqual(['tools/list', 'tools/call', 'tools/call', 'tools/call'])
  })

  test('are checked with a schema that is compiled once', async () => {
    let compiled = 0
    const exchange = serving(
      () => [weather],
      () => ({ ...createTextResult('x'), structuredContent: { celsius: 1 } }),
    )
    const outputSchemaCompiler: typeof compileJsonSchema = (schema) => {
      compiled += 1
      return compileJsonSchema(schema)
    }
    const client = createClient(exchange, { ...hostInfo, outputSchemaCompiler })
    for (let round = 0; round < 3; round += 1) await client.callTool('weather')
    expect(compiled).toBe(1)
  })
})
