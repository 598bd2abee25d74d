import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { isJsonObject, type JsonObject } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'
import { authorizerFor } from './login.ts'
import { scenarioOf } from './scenarios.ts'

// The suite kills only its shell on a timeout, so this program limits its own lifetime.
const timeoutMilliseconds = 25_000

setTimeout(() => {
  process.stderr.write(`timed out after ${timeoutMilliseconds} ms\n`)
  process.exit(1)
}, timeoutMilliseconds).unref()

const name = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const url = process.argv.at(-1) ?? ''
const scenario = scenarioOf(name)
const context = readContext(process.env['MCP_CONFORMANCE_CONTEXT'])

const auth = await authorizerFor(name, url, context)
const isOlder = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] !== '2026-07-28'
const connection = isOlder ? connectAny(url, { http: { auth } }) : connectHttp(url, { auth })
try {
  const client = createClient(connection, {
    name: 'conformance-client',
    version: '1.0.0',
    capabilities: { roots: {}, sampling: {}, elicitation: {}, ...auth?.capabilities },
    ...(name.startsWith('elicitation-') && { elicit: () => ({ action: 'accept', content: {} }) as const }),
  })
  await scenario(client, context)
} finally {
  await connection.close()
}

function readContext(text: string | undefined): JsonObject {
  const context: unknown = text === undefined ? {} : JSON.parse(text)
  if (!isJsonObject(context)) throw new Error('MCP_CONFORMANCE_CONTEXT is not a JSON object')
  return context
}
