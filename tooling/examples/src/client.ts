import { type Client, createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { server } from './server.ts'

export const local = createClient(server, { name: 'host', version: '1.0.0' })

export async function divideOne(divisor: number): Promise<number | undefined> {
  const { structuredContent } = await local.tools.divide({ dividend: 1, divisor })
  return structuredContent?.quotient
}

export async function listRemoteTools(url: string): Promise<readonly string[]> {
  await using connection = connectHttp(url, { headers: { Authorization: 'Bearer secret-of-ada' } })
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  const tools = await client.listTools()
  return tools.map(({ name }) => name)
}

// #region call
export async function copyFiles(client: Client, files: string[]): Promise<void> {
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
