import { createClient } from '@x/client'
import { isJsonObject, type JsonObject } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'
import { scenarios } from './scenarios.ts'

// The suite ends only the shell that it started, so this program sees to its own end.
const lifeMilliseconds = 25_000

setTimeout(() => {
  process.stderr.write(`gave up after ${lifeMilliseconds} ms\n`)
  process.exit(1)
}, lifeMilliseconds).unref()

const name = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const url = process.argv.at(-1) ?? ''
const scenario = scenarios.get(name)
if (scenario === undefined) throw new Error(`no program for the scenario "${name}"`)

const connection = connectHttp(url)
try {
  const client = createClient(connection, {
    name: 'conformance-client',
    version: '1.0.0',
    capabilities: { roots: {}, sampling: {}, elicitation: {} },
    onWarning: (warning: unknown) => process.stderr.write(`${String(warning)}\n`),
  })
  await scenario(client, readContext(process.env['MCP_CONFORMANCE_CONTEXT']))
} finally {
  await connection.close()
}

function readContext(text: string | undefined): JsonObject {
  const context: unknown = text === undefined ? {} : JSON.parse(text)
  if (!isJsonObject(context)) throw new Error('MCP_CONFORMANCE_CONTEXT holds no JSON object')
  return context
}
