import { type Client, ClientError, createClient } from '@x/client'
import { compileJsonSchema } from '@x/schema/json-schema'
import { connectHttp } from '@x/transport-http/client'
import { server } from './server.ts'

// #region memory
export const local = createClient(server, { name: 'host', version: '1.0.0' })
// #endregion

// #region http
export async function listRemoteTools(url: string): Promise<readonly string[]> {
  await using connection = connectHttp(url, { headers: { Authorization: 'Bearer secret-of-ada' } })
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  const tools = await client.listTools()
  return tools.map(({ name }) => name)
}
// #endregion

// #region call
export async function copyFiles(client: Client, files: readonly string[]): Promise<void> {
  await client.callTool(
    'copy',
    { files },
    {
      signal: AbortSignal.timeout(30_000),
      onProgress: ({ progress, total }) => process.stdout.write(`${progress} of ${total ?? '?'}\n`),
    },
  )
}
// #endregion

// #region errors
export async function callOrExplain(client: Client, name: string): Promise<string> {
  try {
    const result = await client.callTool(name, {})
    return result.isError === true ? 'the tool failed, and the content says why' : 'it worked'
  } catch (error) {
    if (error instanceof ClientError && error.rpc !== undefined) return `the server refused: ${error.rpc.message}`
    throw error
  }
}
// #endregion

// #region validate
export const careful = createClient(server, {
  name: 'host',
  version: '1.0.0',
  validateOutput: compileJsonSchema,
  cache: false,
  onWarning: ({ tool, reason }) => process.stderr.write(`${tool} was left out: ${reason}\n`),
})
// #endregion
