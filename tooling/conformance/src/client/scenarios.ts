import type { CallOptions, Client } from '@x/client'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/** The behaviour of the fixture client in one scenario. `context` is the suite's input for the scenario. */
export type Scenario = (client: Client, context: JsonObject) => Promise<unknown>

/** The behaviours by the names of the suite's scenarios. */
const scenarios: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  ['initialize', (client) => client.discover()],
  ['tools_call', addNumbers],
  ['elicitation-sep1034-client-defaults', callOnlyTool],
  ['sse-retry', callOnlyTool],
  ['request-metadata', (client) => client.discover()],
  ['http-standard-headers', useEverything],
  ['http-custom-headers', callRequestedTools],
  ['http-invalid-tool-headers', callListedTools],
  ['sep-2322-client-request-state', confirmEverything],
  ['json-schema-ref-no-deref', (client) => client.listTools()],
  ['json-schema-2020-12-preservation', echoSchema],
])

/** Returns the behaviour of a scenario. All authorization scenarios share one. */
export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.get(name) ?? (name.startsWith('auth/') ? callTestTool : undefined)
  if (scenario === undefined) throw new Error(`no behaviour for the scenario "${name}"`)
  return scenario
}

async function callTestTool(client: Client): Promise<void> {
  await client.listTools()
  await client.callTool('test-tool', {})
}

async function callOnlyTool(client: Client): Promise<void> {
  for (const { name } of await client.listTools()) await client.callTool(name, {})
}

async function addNumbers(client: Client): Promise<void> {
  await client.listTools()
  await client.callTool('add_numbers', { a: 5, b: 3 })
}

async function useEverything(client: Client): Promise<void> {
  for (const { name } of await client.listTools()) await client.callTool(name, {})
  for (const { uri } of await client.listResources()) await client.readResource(uri)
  for (const { name } of await client.listPrompts()) await client.getPrompt(name)
}

async function callRequestedTools(client: Client, context: JsonObject): Promise<void> {
  await client.listTools()
  for (const call of readToolCalls(context['toolCalls'])) await client.callTool(call.name, call.arguments)
}

async function callListedTools(client: Client): Promise<void> {
  for (const { name } of await client.listTools()) {
    // The suite checks only that the client sends the call. Its server may reject the call.
    await client.callTool(name, { region: 'us-west1' }).catch(() => undefined)
  }
}

async function confirmEverything(client: Client): Promise<void> {
  const options: CallOptions = { elicit: () => ({ action: 'accept', content: { confirmed: true } }) }
  const names = ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_unrelated', 'test_mrtr_no_result_type']
  for (const name of names) await client.callTool(name, {}, options)
}

async function echoSchema(client: Client): Promise<void> {
  const tools = await client.listTools()
  const described = tools.find(({ name }) => name === 'json_schema_2020_12_tool')
  if (described === undefined) throw new Error('the suite lists no json_schema_2020_12_tool')
  const schema: JsonObject = { ...described.inputSchema }
  await client.callTool('json_schema_echo', { schema })
}

function readToolCalls(value: JsonValue | undefined): readonly { name: string; arguments: JsonObject }[] {
  if (!Array.isArray(value)) throw new Error('the context has no toolCalls')
  return value.map((call: unknown) => {
    if (!isJsonObject(call) || typeof call['name'] !== 'string')
      throw new Error('a tool call of the context has no name')
    return { name: call['name'], arguments: isJsonObject(call['arguments']) ? call['arguments'] : {} }
  })
}
